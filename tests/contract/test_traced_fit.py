"""The way of a fit through the house is short: few files, few frames, down to the first score.

``python tests/contract/test_traced_fit.py`` prints both numbers.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import pinsker
from pinsker.engine import Backward, Forward

PACKAGE = str(Path(pinsker.__file__).parent)
#: Version 0.1 had 64 files and 11 frames. The rebuilt house had 29 and 6, before it knew of row
#: hashes, suspects, memory, deadlines, groups, own models and metrics; and since searches run side
#: by side there are three frames between a fit and its first search.
MOST_FILES, MOST_FRAMES = 47, 9
SCORES = {Backward.scores.__code__, Forward.scores.__code__}


class Tracer:
    """Notes which files of the package are called, up to the first score of the engine."""

    def __init__(self):
        self.files, self.frames, self.calls = set(), None, 0

    def __call__(self, frame, event, argument):
        if event != "call" or self.frames is not None:
            return
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return
        self.calls += 1
        self.files.add(code.co_filename)
        if code in SCORES:
            self.frames = []
            while frame is not None:
                if frame.f_code.co_filename.startswith(PACKAGE):
                    self.frames.append(frame.f_code.co_qualname)
                frame = frame.f_back


def traced_fit():
    """Fit the front door to a frame of 60 rows and 4 columns of several kinds."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=60),
            "other": rng.normal(size=60),
            "color": rng.choice(["red", "blue"], size=60),
            "count": rng.poisson(3, size=60),
        }
    )
    target = np.where(table["number"] > 0, "yes", "no")
    selector = pinsker.FeatureSelector(random_state=0)
    tracer = Tracer()
    sys.setprofile(tracer)
    try:
        selector.fit(table, target)
    finally:
        sys.setprofile(None)
    return tracer


def test_the_way_to_the_first_score_is_short():
    tracer = traced_fit()
    assert tracer.frames is not None, "the engine was never asked for a score"
    assert len(tracer.files) <= MOST_FILES, sorted(tracer.files)
    assert len(tracer.frames) <= MOST_FRAMES, tracer.frames


if __name__ == "__main__":
    found = traced_fit()
    names = sorted(Path(name).relative_to(PACKAGE).as_posix() for name in found.files)
    sys.stdout.write(f"{len(names)} files, {found.calls} calls: {', '.join(names)}\n")
    sys.stdout.write(f"{len(found.frames)} frames: {' < '.join(found.frames)}\n")
