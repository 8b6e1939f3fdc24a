"""Call all entry points with odd tables; count how they end; name what is not ours.

Run: ``make fuzz CALLS=30000``, or ``PYTHONPATH=tests python -m fuzz.run --seconds 60``. The seed is
printed: ``--seed`` repeats a run. Ends with 1 if a call raised an exception that is neither one of
`pinsker.exceptions` nor scikit-learn's own about parameters and unfitted estimators.
"""

import argparse
import logging
import os
import sys
import time
import traceback
import warnings
from collections import Counter

import hypothesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from fuzz.calls import CALLS, call
from fuzz.tables import tables
from pinsker.exceptions import PinskerError

#: Errors of scikit-learn that users know, by the beginning of their messages.
DOCUMENTED = (
    "Found array with",
    "Expected 2D array",
    "Found input variables",
    "X has ",
    "y should",
)
OURS = (PinskerError, InvalidParameterError, NotFittedError)


def end_of(name, X, y):
    """Return how a call ended: result, own error, scikit-learn's, or the name of another."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(name, X, y)
    except OURS:
        return "own error"
    except (ValueError, TypeError) as error:
        if str(error).startswith(DOCUMENTED):
            return "scikit-learn's error"
        return _foreign(error)
    except Exception as error:
        return _foreign(error)
    return "result"


def _foreign(error):
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/pinsker/" in frame.filename]
    where = f"{os.path.basename(own[-1].filename)}:{own[-1].lineno}" if own else "?"
    return f"{type(error).__name__} at {where}: {' '.join(str(error).split())[:100]}"


def fuzz(n_calls, seconds, seed, verbose=True):
    """Return the counts of how calls ended, and one table for every exception that is not ours."""
    counts, first, started = Counter(), {}, time.monotonic()

    def is_over():
        return sum(counts.values()) >= n_calls or time.monotonic() - started > seconds

    @hypothesis.seed(seed)
    @settings(
        max_examples=10**9 if n_calls > 10**6 else n_calls,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[hypothesis.Phase.generate],
    )
    @given(made=tables(), name=st.sampled_from(sorted(CALLS)))
    def one(made, name):
        if is_over():
            raise KeyboardInterrupt
        words, X, y = made
        if X is None:
            return
        end = end_of(name, X, y)
        counts[end] += 1
        if end not in ("result", "own error", "scikit-learn's error") and end not in first:
            first[end] = f"{name}: {words}"
            if verbose:
                print(f"  {end}\n    {first[end]}", flush=True)

    round_of_examples = 0
    while not is_over():
        try:
            one()
        except KeyboardInterrupt:
            if not is_over():
                raise
        round_of_examples += 1
        one = hypothesis.seed(seed + round_of_examples)(one)
    return counts, first


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    typed = parser.parse_args()
    logging.disable(logging.CRITICAL)
    print(f"seed {typed.seed}; {len(CALLS)} entry points", flush=True)
    counts, first = fuzz(typed.calls, typed.seconds, typed.seed)
    known = ("result", "own error", "scikit-learn's error")
    print(f"{sum(counts.values())} calls: " + ", ".join(f"{counts[k]} {k}s" for k in known))
    print(f"{sum(counts[end] for end in first)} other exceptions of {len(first)} kinds")
    return 1 if first else 0


if __name__ == "__main__":
    sys.exit(main())
