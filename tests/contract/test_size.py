"""The house stays small: how much there is to read, and how far a fit goes through it.

``python tests/contract/test_size.py`` prints every number beside its limit.
"""

import ast
import importlib
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pinsker
from pinsker import FeatureSelector
from pinsker.engine import Backward, Forward

PACKAGE = Path(pinsker.__file__).parent
SOURCE = PACKAGE.parent
#: At most this many of each. The limits are never raised: what grows beyond them is made smaller.
#: Lines: 32 000 for the core, and 4 000 for what came with stronger references and certificates.
LIMITS = {
    "lines of src": 36_000,
    "files of src": 120,
    "Any in src": 400,
    "getattr and hasattr by name": 10,
    "public names": 80,
    "private members of FeatureSelector": 14,
    "bases of FeatureSelector": 2,
    "files passed by a fit": 40,
    "frames to the first score": 8,
    "crossings between packages": 2000,
}
#: Modules whose names users may import, besides `exceptions`.
PUBLIC = ("pinsker", "pinsker.bounds", "pinsker.datasets")
#: Attributes that abc and scikit-learn give to every class.
GENERATED = {"_abc_impl", "_sklearn_auto_wrap_output_keys"}
SCORES = {Backward.scores.__code__, Forward.scores.__code__}


class Tracer:
    """Follows a fit: files of the package, frames at the first score, calls between packages."""

    def __init__(self):
        self.files, self.frames, self.n_calls, self.n_crossings = set(), [], 0, 0

    def __call__(self, frame, event, _argument):
        code = frame.f_code
        if event != "call" or _package(code) is None:
            return
        self.n_calls += 1
        self.files.add(code.co_filename)
        caller = frame.f_back
        while caller is not None and _package(caller.f_code) is None:
            caller = caller.f_back
        if caller is not None:
            self.n_crossings += _package(caller.f_code) != _package(code)
        if code in SCORES and not self.frames:
            while frame is not None:
                if _package(frame.f_code) is not None:
                    self.frames.append(frame.f_code.co_qualname)
                frame = frame.f_back


@cache
def _package(code):
    """Return the stage that some code belongs to; None outside of the package."""
    path = Path(code.co_filename)
    return path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) else None


def traced_fit():
    """Fit the front door to 500 rows and 30 columns, three of which matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 30))
    y = (X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=500) > 0).astype(int)
    tracer = Tracer()
    sys.setprofile(tracer)
    try:
        FeatureSelector(n_jobs=1, random_state=0).fit(X, y)
    finally:
        sys.setprofile(None)
    return tracer


def is_probe(node):
    """Return whether an object is asked for an attribute by its name."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id in ("getattr", "hasattr") and isinstance(node.args[1], ast.Constant)


def private_members(kind):
    """Return the private names that a class has from this package, not from abc or scikit-learn."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("pinsker")]
    names = {name for base in ours for name in vars(base)} - GENERATED
    return sorted(name for name in names if name[0] == "_" and not name.startswith("__"))


def public_names():
    """Return every name that users may import."""
    return sorted(name for module in PUBLIC for name in importlib.import_module(module).__all__)


@cache
def measured():
    """Return every number, and what it counts where that helps to make it smaller."""
    texts, fit = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")], traced_fit()
    nodes = (node for text in texts for node in ast.walk(ast.parse(text)))
    bases = [one for one in FeatureSelector.__mro__[1:] if one.__module__.startswith("pinsker")]
    counted = {
        "lines of src": (sum(len(text.splitlines()) for text in texts), ()),
        "files of src": (len(texts), ()),
        "Any in src": (sum(len(re.findall(r"\bAny\b", text)) for text in texts), ()),
        "getattr and hasattr by name": (sum(map(is_probe, nodes)), ()),
        "frames to the first score": (len(fit.frames), fit.frames),
        "crossings between packages": (fit.n_crossings, ()),
    }
    for name, listed in {
        "public names": public_names(),
        "private members of FeatureSelector": private_members(FeatureSelector),
        "bases of FeatureSelector": [base.__name__ for base in bases],
        "files passed by a fit": sorted(Path(p).relative_to(PACKAGE).as_posix() for p in fit.files),
    }.items():
        counted[name] = (len(listed), listed)
    return counted


@pytest.mark.xdist_group("size")  # one process measures
@pytest.mark.parametrize("name", sorted(LIMITS))
def test_the_house_is_no_larger_than_agreed(name):
    number, listed = measured()[name]
    assert 0 < number <= LIMITS[name], f"{number} {name}: {listed}"


if __name__ == "__main__":
    for name, most in LIMITS.items():
        number, listed = measured()[name]
        color = "\x1b[31m" if number > most else ""
        sys.stdout.write(f"{color}{number:6d} of {most:6d} {name}\x1b[0m: {' '.join(listed)}\n")
