"""Call all entry points with odd tables; count how they end; name what is not ours.

Run: ``make fuzz CALLS=30000``, or ``PYTHONPATH=tests python -m fuzz.run --seconds 60``. The seed is
printed: ``--seed`` repeats a run. ``--each`` draws nothing: every entry point gets each odd column,
table, target and option once, with nothing else odd about the call; ``--pairs ENTRY`` gives
one entry point all pairs of odd columns, tables and targets.

Ends with 1 if a call raised an exception that is neither one of `pinsker.exceptions` nor
scikit-learn's own about parameters and unfitted estimators, or did not end within its time limit.
``--log FILE`` writes every call before it is made and then how it ended, so that the last line of a
run that crashed is the call that did it; ``--case "Case(...)"`` repeats one with its traceback.
"""

import argparse
import faulthandler
import logging
import os
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, given, settings
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from fuzz.cases import (
    ALL_ENTRIES,
    CannotBeMadeError,
    Case,
    cases,
    each_odd_thing,
    each_pair_of_odd_things,
)
from fuzz.tables import COLUMNS, CONTAINERS, TARGETS
from pinsker.exceptions import PinskerError

#: Errors of scikit-learn that users know, by the beginning of their messages.
DOCUMENTED = (
    "Found array with",
    "Complex data not supported",  # of the matrix given to transform
    "Expected 2D array",
    "Found input variables",
    "X has ",
    "y should",
    "X does not contain any features",
    "The feature names should match",
    "The transformer outputs a scipy sparse matrix",
    "Feature names are only supported if all input features have string names",
)
OURS = (PinskerError, InvalidParameterError, NotFittedError)
KNOWN = ("result", "own error", "scikit-learn's error")
#: Processor seconds of one call at most, and seconds of the clock, which a busy machine stretches.
#: Most take some milliseconds.
TIME_LIMIT, WAITING_LIMIT = 20.0, 300.0
#: Cases of one run of hypothesis, whose record of them grows.
ROUND = 500


class TooLongError(BaseException):
    """A call has not ended within its time limit; nothing in it may catch this."""


def end_of(case, warned):
    """Return how a call ended: result, own error, scikit-learn's, or the name of another."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)
            signal.setitimer(signal.ITIMER_REAL, WAITING_LIMIT)
            try:
                case.run()
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
    except CannotBeMadeError:
        return None
    except OURS:
        return "own error"
    except TooLongError as error:
        return _foreign(error)
    except Exception as error:
        if isinstance(error, (ValueError, TypeError)) and str(error).startswith(DOCUMENTED):
            return "scikit-learn's error"
        return _foreign(error)
    for one in caught:
        if issubclass(one.category, RuntimeWarning):
            warned[f"{os.path.basename(one.filename)}:{one.lineno}: {one.message}"[:120]] += 1
    return "result"


def _foreign(error):
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/pinsker/" in frame.filename]
    where = f"{os.path.basename(own[-1].filename)}:{own[-1].lineno}" if own else "?"
    return f"{type(error).__name__} at {where}: {' '.join(str(error).split())[:100]}"


class Fuzzer:
    """Calls that are made, how they ended, and how long they took."""

    def __init__(self, n_calls, seconds, log=None, verbose=True):
        self.n_calls, self.until = n_calls, time.monotonic() + seconds
        self.log, self.verbose = log, verbose
        self.counts, self.foreign, self.warned = Counter(), {}, Counter()
        self.slowest = []

    @property
    def is_over(self):
        return sum(self.counts.values()) >= self.n_calls or time.monotonic() > self.until

    def call(self, case):
        """Make one call and count how it ended."""
        self._write(f"{case!r}")
        started = time.process_time()
        end = end_of(case, self.warned)
        seconds = time.process_time() - started
        self._write(f"\t{end}\t{seconds:.3f}\n")
        if end is None:
            return
        self.counts[end] += 1
        self.slowest = sorted([*self.slowest, (seconds, repr(case))], reverse=True)[:10]
        if end not in KNOWN and end not in self.foreign:
            self.foreign[end] = repr(case)
            if self.verbose:
                print(f"  {end}\n    {case!r}", flush=True)

    def run(self, seed):
        """Draw cases and call them until there are enough."""
        for one in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(one, _too_long)
        while not self.is_over:
            test = given(case=cases())(self._unless_over)
            test = settings(
                max_examples=ROUND,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
                phases=[hypothesis.Phase.generate],
            )(test)
            hypothesis.seed(seed)(test)()
            seed += 1

    def run_each(self, pairs_of):
        """Call every entry point with one odd thing at a time, or one entry point with two."""
        for one in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(one, _too_long)
        for case in each_pair_of_odd_things(pairs_of) if pairs_of else each_odd_thing():
            self._unless_over(case)

    def _unless_over(self, case):
        if not self.is_over:
            self.call(case)

    def _write(self, text):
        if self.log is not None:
            self.log.write(text)
            self.log.flush()


def _too_long(_number, _frame):
    raise TooLongError


def fuzz(n_calls, seconds, seed, verbose=True):
    """Return the counts of how calls ended, and one case for every exception that is not ours."""
    fuzzer = Fuzzer(n_calls, seconds, verbose=verbose)
    fuzzer.run(seed)
    return fuzzer.counts, fuzzer.foreign


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--each", action="store_true", help="one odd thing at a time, all of them")
    parser.add_argument("--pairs", metavar="ENTRY", help="two odd things at a time, all of them")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--case", help="one case, as a run printed it")
    typed = parser.parse_args()
    logging.disable(logging.CRITICAL)
    faulthandler.enable()
    if typed.case:
        print(eval(typed.case, {"Case": Case}).run())
        return 0
    with open(typed.log or os.devnull, "w", encoding="utf-8", errors="backslashreplace") as log:
        fuzzer = Fuzzer(typed.calls, typed.seconds, log)
        kinds = f"{len(COLUMNS)} kinds of columns in {len(CONTAINERS)} kinds of tables"
        print(
            f"seed {typed.seed}; {len(ALL_ENTRIES)} entry points, {kinds}, "
            f"{len(TARGETS)} kinds of targets",
            flush=True,
        )
        if typed.each or typed.pairs:
            fuzzer.run_each(typed.pairs)
        else:
            fuzzer.run(typed.seed)
    return report(fuzzer)


def report(fuzzer):
    """Print the counts; return the exit code."""
    counts, foreign = fuzzer.counts, fuzzer.foreign
    print(f"{sum(counts.values())} calls: " + ", ".join(f"{counts[k]} {k}s" for k in KNOWN))
    print(f"{sum(counts[end] for end in foreign)} other exceptions of {len(foreign)} kinds")
    for line, count in fuzzer.warned.most_common(10):
        print(f"  {count} times RuntimeWarning {line}")
    for seconds, case in fuzzer.slowest[:5]:
        print(f"  {seconds:.1f} CPU s: {case}")
    return 1 if foreign else 0


if __name__ == "__main__":
    sys.exit(main())
