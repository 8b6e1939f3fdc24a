"""How often is a certificate's "met" wrong? Gaussian tables whose error increase is known."""

import json
import time

import numpy as np

from pinsker import BackwardElimination, ErrorBudget

DESIGNS = ("sparse", "dense")
BUDGETS = (0.02, 0.05, 0.15)
N_FEATURES = 8


def covariance(design):
    """Covariance of eight features and the target, which comes last."""
    if design == "sparse":  # three of eight independent features matter
        among, weights = np.eye(N_FEATURES), np.array([0.6, 0.45, 0.3, 0, 0, 0, 0, 0])
    else:  # every feature matters a little less than the one before
        gaps = np.abs(np.subtract.outer(np.arange(N_FEATURES), np.arange(N_FEATURES)))
        among, weights = 0.5**gaps, 0.5 * 0.7 ** np.arange(N_FEATURES)
    with_target = among @ weights
    variance = weights @ with_target + 1.0
    return np.block([[among, with_target[:, None]], [with_target[None, :], variance]])


def true_increase(design, kept):
    """Increase of the lowest squared error as a share of the target's variance."""
    sigma = covariance(design)
    kept = np.flatnonzero(kept)
    along = np.linalg.solve(sigma[np.ix_(kept, kept)], sigma[kept, -1])
    return float((sigma[-1, -1] - sigma[kept, -1] @ along - 1.0) / sigma[-1, -1])


def one_run(design, budget, seed, n_rows=250, models=("linear",)):
    """Search on one half, certify on the other; return the verdict and the truth."""
    rows = np.random.default_rng(seed).multivariate_normal(
        np.zeros(N_FEATURES + 1), covariance(design), size=2 * n_rows
    )
    X, y = rows[:, :-1], rows[:, -1]
    rule = ErrorBudget(budget, metric="r2", model="gaussian")
    selector = BackwardElimination(rule, models=list(models), random_state=0)
    selector.fit(X[:n_rows], y[:n_rows])
    certificate = selector.certify(X[n_rows:], y[n_rows:])
    certificate = certificate.passed or certificate  # a larger set, where that of the fit failed
    if certificate.verdict == "met":
        selector = selector.with_certified(certificate)
    increase = true_increase(design, selector.get_support())
    return {"verdict": certificate.verdict, "kept": certificate.n_kept, "increase": increase}


def wrong_verdicts(runs, folder, options):
    """Yield the lines of the table, running what is not stored yet."""
    folder.mkdir(parents=True, exist_ok=True)
    heads = {"met": 7, "wrong": 7, "not met": 10, "unsure": 8, "features": 10}
    yield f"{'design':<8}{'budget':>7}" + "".join(f"{k:>{w}}" for k, w in heads.items())
    for design in DESIGNS:
        for budget in BUDGETS:
            path = folder / f"{design}-{budget}.json"
            rows = json.loads(path.read_text()) if path.exists() and not options.fresh else []
            for seed in range(len(rows), runs):
                if time.time() > options.stop_at:
                    break
                rows.append(one_run(design, budget, seed))
                path.write_text(json.dumps(rows))
            verdicts = np.array([row["verdict"] for row in rows[:runs]])
            increase = np.array([row["increase"] for row in rows[:runs]])
            wrong = np.mean((verdicts == "met") & (increase > budget))
            shares = [
                np.mean(verdicts == verdict) for verdict in ("met", "not met", "inconclusive")
            ]
            features = np.mean([row["kept"] for row in rows[:runs]])
            yield (
                f"{design:<8}{budget:>7}{shares[0]:>7.1%}{wrong:>7.1%}{shares[1]:>10.1%}"
                f"{shares[2]:>8.1%}{features:>10.1f}"
            )
