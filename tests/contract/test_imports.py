"""Imports point downwards, are absolute, and `import pinsker` stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pinsker

PACKAGE = Path(pinsker.__file__).parent

#: What each part of the package may import of the others. A part may always import itself.
LEAVES = {"_types", "_notes", "exceptions", "_compat", "_cluster"}
BELOW = {
    "_types": set(),
    "_notes": set(),
    "exceptions": {"_notes"},
    "_compat": {"_types", "exceptions"},
    "_cluster": {"exceptions"},
    "datasets": LEAVES,
}
#: The stages, the lowest first: each may import those before it.
STAGES = (
    "encoding", "engine", "information", "models", "bounds", "metrics", "search", "holdout",
    "explain", "selectors", "report", "cli",
)  # fmt: skip
BELOW |= {stage: LEAVES | set(STAGES[:place]) for place, stage in enumerate(STAGES)}
BELOW["cli"] |= {"datasets", "__version__"}
BELOW["report"] |= {"__version__"}
BELOW["__main__"] = {"cli"}

#: Imports that point upwards, inside of functions: a selector offers its own views, the package its
#: displays, and what can be printed its words, without loading them before somebody asks.
WHEN_CALLED = {
    (file, "pinsker.report")
    for file in (
        "__init__.py", "_notes.py", "explain/_importance.py", "explain/_interactions.py",
        "holdout/_audit.py", "holdout/_certificate.py", "search/_path.py", "selectors/_base.py",
        "selectors/_plan.py",
    )
}  # fmt: skip

#: Packages that a plain `import pinsker` must not load. pandas and pyarrow are looked at apart:
#: scikit-learn loads them itself when they are installed.
HEAVY = {"matplotlib", "polars", "dask", "ray", "jinja2", "typer", "rich", "cupy", "numba", "torch"}


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py"))


def part_of(path):
    """Return the stage or leaf that a file belongs to; None for the package's own file."""
    top = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return None if top == "__init__" else top


def imports_of(path):
    """Yield line, level and full names of everything a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, 0, alias.name
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module == "pinsker":  # from pinsker import x: x is the part
                for alias in node.names:
                    yield node.lineno, node.level, f"pinsker.{alias.name}"
            else:
                yield node.lineno, node.level, module


def wrong_imports(path, part, inside=""):
    """Return a line of text for every import that is relative, points up, or enters a stage.

    Stages import only what another stage's ``__init__`` exports.
    """
    wrong = []
    for line, level, name in imports_of(path):
        if level:
            wrong.append(f"{path.name}:{line} relative import of {name!r}")
        elif name.startswith("pinsker.") and (inside, name) not in WHEN_CALLED:
            other, *deeper = name.split(".")[1:]
            if other != part and other not in BELOW[part]:
                wrong.append(f"{path.name}:{line} {part} imports {other}")
            elif other != part and deeper:
                wrong.append(f"{path.name}:{line} {part} imports {name}, inside of {other}")
    return wrong


def private_imports(folder):
    """Yield file and name of every private module of the package that files below import."""
    for path in sorted(Path(folder).rglob("*.py")):
        for _, _, name in imports_of(path):
            parts = name.split(".")
            if parts[0] == "pinsker" and any(part.startswith("_") for part in parts[1:]):
                yield path.name, name


def test_every_part_is_known():
    parts = {part_of(path) for path in modules()} - {None}
    assert parts <= set(BELOW), f"say what {parts - set(BELOW)} may import"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path):
    part = part_of(path)
    if part is not None:
        inside = path.relative_to(PACKAGE).as_posix()
        assert wrong_imports(path, part, inside) == []


def test_the_rule_sees_what_is_wrong(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from . import x\nfrom pinsker.report import y\nfrom pinsker import cli\n"
        "from pinsker.encoding._read import z\nfrom pinsker.engine._plan import own\n"
    )
    assert wrong_imports(bad, "engine") == [
        "bad.py:1 relative import of ''",
        "bad.py:2 engine imports report",
        "bad.py:3 engine imports cli",
        "bad.py:4 engine imports pinsker.encoding._read, inside of encoding",
    ]


def test_tests_import_few_private_modules():
    # Each for a comparison with an oracle, or to break something on purpose.
    found = sorted(set(private_imports(Path(__file__).parents[1])))
    found = [(file, name) for file, name in found if name != "pinsker._compat"]
    assert len(found) <= 12, found


def test_nothing_is_imported_through_the_path():
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        assert "sys.path" not in path.read_text().replace('"sys.path"', ""), path


def test_private_parts_of_scikit_learn_have_one_door():
    for path in modules():
        private = [
            name
            for _, _, name in imports_of(path)
            if name.startswith("sklearn") and any(part.startswith("_") for part in name.split("."))
        ]
        assert not private or path.name == "_compat.py", f"{path} imports {private}"


def loaded_by(statement):
    """Return the top-level packages that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_is_light():
    loaded = loaded_by("import pinsker")
    # What scikit-learn loads on sight (pandas; rich with its callbacks) is not ours to avoid.
    allowed = loaded_by(
        "import sklearn.base, sklearn.utils.validation, sklearn.feature_selection, importlib\n"
        "if importlib.util.find_spec('sklearn.callback'): import sklearn.callback\n"
        "pass"
    )
    assert (loaded & (HEAVY | {"pandas", "pyarrow"})) <= allowed
