"""How close each bound comes: true growth over bound, on random joint distributions.

Run ``python -m experiments.bounds_tightness`` (one to two minutes). A ratio above one would be a
violation; "largest" near one says that the bound is reached, "median" how loose it is typically.
The distributions are those of tests/oracles/joint_pmf.py, the growths are exact.
"""

import numpy as np

from pinsker import bounds
from tests.oracles import joint_pmf

SEED = 1
PER_FAMILY = 2500
#: Growths below this are left out: their ratio is rounding.
SMALLEST = 1e-6


def classification_ratios(p: np.ndarray) -> dict[str, float]:
    """Growth of the error rate over each bound, with exact side facts."""
    nu = joint_pmf.information_lost(p)
    full, kept = joint_pmf.bayes_errors(p)
    growth = kept - full
    if growth < SMALLEST:
        return {}
    m = p.shape[2]
    prior = 1.0 - p.sum(axis=(0, 1)).max()
    limits = {
        "paper sqrt(2 nu)": bounds.classification_growth(nu, constants="paper"),
        "C1": bounds.pinsker_growth(nu),
        "C2": bounds.vajda_growth(nu),
        "C3, kept error known": bounds.kept_error_growth(nu, kept),
        "C3, prior known": bounds.kept_error_growth(nu, prior),
        "C4, full error known": bounds.full_error_growth(nu, full),
        "C5, full error known": bounds.sharp_growth(nu, full),
        "best, prior and classes known": bounds.classification_growth(nu, prior, m),
        "best, kept error known": bounds.classification_growth(nu, kept, m),
        "best, both errors limited": bounds.classification_growth(
            nu, kept, m, full_error_limit=full
        ),
    }
    if kept <= 0.5:
        limits["C6"] = bounds.binary_growth(nu)
    return {name: growth / limit for name, limit in limits.items()}


def other_ratios(p: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Growth of squared, absolute and Brier error over each bound."""
    nu, prior = joint_pmf.information_lost(p), p.sum(axis=(0, 1))
    length = float(np.ptp(y[prior > 0.0])) or 1.0
    largest = float(np.abs(y[prior > 0.0]).max())
    variance = float(prior @ (y - prior @ y) ** 2)
    squared = float(np.diff(joint_pmf.squared_errors(p, y))[0])
    absolute = float(np.diff(joint_pmf.absolute_errors(p, y))[0])
    brier = float(np.diff(joint_pmf.brier_scores(p))[0])
    if min(squared, nu) < SMALLEST:
        return {}
    paper = bounds.regression_growth(nu, length, constants="paper", target_bound=largest)
    ratios = {
        "paper 2 B^2 nu": squared / paper,
        "R1": squared / bounds.range_growth(nu, length),
        "R2": squared / bounds.sharp_range_growth(nu, length),
        "R2 and variance": squared / bounds.regression_growth(nu, length, variance),
        "Brier, L2": brier / bounds.brier_growth(nu, p.shape[2]),
    }
    if absolute > SMALLEST:
        ratios["absolute error, L3"] = absolute / bounds.absolute_error_growth(nu, length)
    return ratios


def main() -> None:
    rng = np.random.default_rng(SEED)
    seen: dict[str, list[float]] = {}
    for family in joint_pmf.FAMILIES:
        for _ in range(PER_FAMILY):
            p = joint_pmf.random_joint(rng, family)
            y = rng.uniform(-1.0, 3.0, p.shape[2])
            for name, ratio in (classification_ratios(p) | other_ratios(p, y)).items():
                seen.setdefault(name, []).append(ratio)
    print(f"{'bound':<32}{'cases':>7}{'largest':>10}{'median':>9}")
    for name, ratios in seen.items():
        print(f"{name:<32}{len(ratios):>7}{max(ratios):>10.4f}{np.median(ratios):>9.3f}")


if __name__ == "__main__":
    main()
