"""The bound that belongs to a metric and a target: what stopping rules and certificates use."""

from pinsker.bounds import Bound, TargetFacts, not_negative, one_of
from pinsker.exceptions import ParameterError
from pinsker.metrics._table import METRICS, metric_row
from pinsker.metrics._theories import InMetric, Known


def bound_for(
    metric: str,
    facts: TargetFacts,
    *,
    error_limit: float | None = None,
    constants: str = "sharp",
    model: str = "bounded",
) -> Bound:
    r"""Return the bound on the increase of a metric, for a target of which some facts are known.

    ====================  ===========================================  ======================
    metric                increase of                                  bound
    ====================  ===========================================  ======================
    ``"error"``           error rate                                   Theorem C
    ``"r2"``              mean squared error / variance                R2, or R8 (gaussian)
    ``"mse"``             mean squared error                           R2, or R8 (gaussian)
    ``"log-loss"``        log-loss, in nats                            identity L1
    ``"brier"``           Brier score, summed over classes             L2
    ``"mae"``             mean absolute error                          L3
    ====================  ===========================================  ======================

    Of several targets it is the mean increase over targets.

    Parameters
    ----------
    metric : str
        One of the above that fits the task, see ``METRICS``.
    facts : TargetFacts
        Facts about the target.
    error_limit : float, optional
        Upper limit on the Bayes risk with the *kept* features, in `metric`: no increase exceeds
        it. One minus the largest prior and the variance are used without being given.
    constants : {"sharp", "paper"}
        "paper": the printed :math:`\sqrt{2\nu}` and :math:`2 B^2 \nu`, and no other fact.
    model : {"bounded", "gaussian"}
        Regression: what is assumed about the target. "gaussian" takes target and features for
        jointly Gaussian: a far larger budget, valid under that assumption only.

    Returns
    -------
    Bound
        Its ``growth(nu)`` is in `metric`, its ``budget(delta)`` takes an increase in `metric`.

    Raises
    ------
    ParameterError
        If the metric does not fit the task, no theorem covers the combination, or a fact that the
        theorem needs is not known.

    Notes
    -----
    Validity and proofs: ``docs/bounds.md``, under the label of each bound. The range of a sample
    is a lower estimate of the target's range.

    Examples
    --------
    >>> from pinsker.bounds import TargetFacts
    >>> coin = TargetFacts("classification", n_classes=2, largest_prior=0.7)
    >>> bound = bound_for("error", coin)
    >>> round(bound.budget(0.05), 5), round(bound.growth(0.00837), 4)
    (0.00837, 0.05)
    >>> weight = TargetFacts("regression", target_range=4.0, variance=1.0, max_abs=3.0)
    >>> round(bound_for("r2", weight).budget(0.05), 5)
    0.00626
    >>> round(bound_for("r2", weight, model="gaussian").budget(0.05), 5)
    0.02565
    """
    one_of(constants, ("sharp", "paper"), "constants")
    one_of(model, ("bounded", "gaussian"), "model")
    row, known = metric_row(metric), METRICS[facts.task]
    if metric not in known or row.theory is None:
        listed = ", ".join(repr(name) for name in known)
        raise ParameterError(f"metric={metric!r} does not fit a {facts.task} target; use {listed}.")
    if constants == "paper" and not row.theory.in_paper:
        raise ParameterError(
            f"the paper has no bound for metric={metric!r}; use constants='sharp'."
        )
    if model == "gaussian" and (constants == "paper" or not row.theory.is_gaussian):
        raise ParameterError(
            f"model='gaussian' does not go with metric={metric!r} and constants={constants!r}: "
            "it is for squared error and log-loss of a regression target, with sharp constants."
        )
    limit = not_negative(error_limit, "error_limit")
    bound, scale, cap = row.theory.theorem(Known(facts, limit, constants, model))
    return InMetric(bound, metric, row.largest_increase, scale, cap)
