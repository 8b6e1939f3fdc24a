"""How often a monitor is wrong at the edge, and how soon it finds twice the budget.

    python -m benchmarks.monitor

500 streams of paired losses, looked at every 50 rows up to 20 000. At the edge the true increase is
the budget: either verdict is wrong. Beside it: rows of a test at a fixed number of rows (normal
approximation, the same two-sided 5 %) that finds twice the budget in half of its runs.
"""

import math
import time

import numpy as np
from scipy.stats import norm

from pinsker.bounds import ConfidenceSequence

N_STREAMS, N_ROWS, EVERY = 500, 20_000, 50
#: What `ConfidenceSequence` bets.
BETS = np.geomspace(0.002, 0.95, 24)


def error_rates(noise):
    """Return differences of two zero-one losses; noise is the share that is worse, and better."""

    def draw(rng, mean):
        u = rng.random(N_ROWS)
        return np.where(u < mean + noise, 1.0, np.where(u < mean + 2 * noise, -1.0, 0.0))

    return draw


def squared_errors(rng, mean):
    return mean + 0.3 * (rng.gamma(1.0, size=N_ROWS) - 1.0)


def first_known(values, budget, largest):
    """Return the rows at which either verdict is first known, and which it is."""
    if math.isinf(largest):
        sequence = ConfidenceSequence(largest)
        for start in range(0, N_ROWS, EVERY):
            sequence.update(values[start : start + EVERY])
            if sequence.lower > budget or sequence.upper <= budget:
                return sequence.n, "broken" if sequence.lower > budget else "met"
        return math.inf, "open"
    # The capital at the budget alone, at all looks at once: limits cross it where that reaches 40.
    known = {}
    for kind, sign in (("broken", 1.0), ("met", -1.0)):
        payoff = sign * (values - budget) / (sign * budget + largest)
        logs = np.log1p(BETS[:, None] * payoff).cumsum(axis=1)[:, EVERY - 1 :: EVERY]
        capital = np.logaddexp.reduce(logs, axis=0) - math.log(len(BETS))
        hits = np.flatnonzero(capital >= math.log(40))
        known[kind] = (hits[0] + 1) * EVERY if len(hits) else math.inf
    kind = min(known, key=known.get)
    return known[kind], kind if math.isfinite(known[kind]) else "open"


def main():
    designs = {
        "error rate, few differ": (error_rates(0.01), 0.02, 1.0),
        "error rate, many differ": (error_rates(0.05), 0.02, 1.0),
        "skewed squared errors": (squared_errors, 0.05, math.inf),
    }
    for name, (draw, budget, largest) in designs.items():
        started, known = time.perf_counter(), {}
        for place, mean in (("edge", budget), ("twice", 2 * budget), ("half", budget / 2)):
            streams = (draw(np.random.default_rng([run, place == "edge"]), mean)
                       for run in range(N_STREAMS))  # fmt: skip
            known[place] = [first_known(one, budget, largest) for one in streams]
        wrong = [sum(what == kind for _, what in known["edge"]) for kind in ("broken", "met")]
        sample = draw(np.random.default_rng(0), 2 * budget)
        fixed = norm.ppf(0.975) ** 2 * sample.var() / budget**2
        medians = [np.median([n for n, _ in known[place]]) for place in ("twice", "half")]
        seconds = time.perf_counter() - started
        print(f"{name}: wrong at the edge {wrong[0]} broken, {wrong[1]} met of {N_STREAMS}; twice "
              f"the budget known after {medians[0]:.0f} rows (fixed n: {fixed:.0f}), half of it "
              f"after {medians[1]:.0f} ({seconds:.0f} s)")  # fmt: skip


if __name__ == "__main__":
    main()
