"""How close each bound comes: true error increase over bound, on random joint distributions.

Run ``python -m experiments.bounds_tightness`` (one to two minutes). A ratio above one would be a
violation; "largest" near one says that the bound is reached, "median" how loose it is typically.
The distributions are those of tests/oracles/joint_pmf.py, the increases are exact.
"""

import numpy as np

from pinsker import bounds
from tests.oracles import joint_pmf

SEED = 1
PER_FAMILY = 2500
#: Increases below this are left out: their ratio is rounding.
SMALLEST = 1e-6


def classification_ratios(p: np.ndarray) -> dict[str, float]:
    """Increase of the error rate over each bound, with exact side facts."""
    nu = joint_pmf.information_lost(p)
    full, kept = joint_pmf.bayes_errors(p)
    increase = kept - full
    if increase < SMALLEST:
        return {}
    m = p.shape[2]
    prior = 1.0 - p.sum(axis=(0, 1)).max()
    limits = {
        "paper sqrt(2 nu)": bounds.PaperClassificationBound().growth(nu),
        "C1": bounds.PinskerBound().growth(nu),
        "C2": bounds.VajdaBound().growth(nu),
        "C3, kept error known": bounds.KeptErrorBound(kept).growth(nu),
        "C3, prior known": bounds.KeptErrorBound(prior).growth(nu),
        "C4, full error known": bounds.FullErrorBound(full).growth(nu),
        "C5, full error known": bounds.SharpErrorBound(full_error=full).growth(nu),
        "best, prior and classes known": bounds.SharpErrorBound(prior, n_classes=m).growth(nu),
        "best, kept error known": bounds.SharpErrorBound(kept, n_classes=m).growth(nu),
        "best, both errors limited": bounds.SharpErrorBound(kept, full, m).growth(nu),
    }
    if kept <= 0.5:
        limits["C6"] = bounds.BinaryBound().growth(nu)
    return {name: increase / limit for name, limit in limits.items()}


def other_ratios(p: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Increase of squared, absolute and Brier error over each bound."""
    nu, prior = joint_pmf.information_lost(p), p.sum(axis=(0, 1))
    length = float(np.ptp(y[prior > 0.0])) or 1.0
    largest = float(np.abs(y[prior > 0.0]).max())
    variance = float(prior @ (y - prior @ y) ** 2)
    squared = float(np.diff(joint_pmf.squared_errors(p, y))[0])
    absolute = float(np.diff(joint_pmf.absolute_errors(p, y))[0])
    brier = float(np.diff(joint_pmf.brier_scores(p))[0])
    if min(squared, nu) < SMALLEST:
        return {}
    paper = bounds.PaperRegressionBound(largest).growth(nu)
    ratios = {
        "paper 2 B^2 nu": squared / paper,
        "R1": squared / bounds.RangeBound(length).growth(nu),
        "R2": squared / bounds.SharpRangeBound(length).growth(nu),
        "R2 and variance": squared / bounds.SharpRangeBound(length, variance).growth(nu),
        "Brier, L2": brier / bounds.BrierBound(p.shape[2]).growth(nu),
    }
    if absolute > SMALLEST:
        ratios["absolute error, L3"] = absolute / bounds.AbsoluteErrorBound(length).growth(nu)
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
