"""What a fitted selector keeps: under its own budget, and under every other one."""

import math
from collections.abc import Mapping
from dataclasses import asdict, replace

import numpy as np

from pinsker._notes import Audience
from pinsker._types import AnyArray, BoolArray, Fields, FloatArray, IntArray, Selector, plain
from pinsker.exceptions import DataError
from pinsker.holdout import ALL_FEATURES, CERTIFICATE, Certificate
from pinsker.metrics import metric_row
from pinsker.report.words import NOT_HELD_OUT, facts, sentences
from pinsker.search import ErrorBudget
from pinsker.selectors import EvaluatedSelector

#: Budgets of each power of ten on the slider: small ones are as many as large ones.
_STEPS = (
    1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9,
)  # fmt: skip
_DECADES = 3  # powers of ten on the slider

_OF_PATH = ("information", "lost", "bound")  # figures of a set by the search
_HELD_OUT = ("error", "error_upper", "increase", "increase_lower", "limit")  # by held-out rows
#: Those of a certificate that tiles show, as text.
_SHOWN = ("all", "kept", "none", "upper", "signed_limit")


def kept_features(selector: Selector) -> list[int]:
    """Return the features that stay, by their position on the path."""
    return _features(selector, selector.support_)


def in_order(selector: Selector) -> list[int]:
    """Return the features that stay, the most important first."""
    staying, order = set(kept_features(selector)), selector.path_.order
    return [j for j in order if j in staying] + sorted(staying - set(order))


def own_budget(selector: Selector) -> float | None:
    """Return the error budget; None when another rule cut the path."""
    budget = float(selector.certificate_.budget)
    return None if math.isnan(budget) else budget


def search_of_path(selector: Selector) -> str | None:
    """Return the search whose path was cut; None when nothing was held out."""
    results = selector.cv_results_
    order, columns = selector.path_.order, selector.feature_columns_
    for name in dict.fromkeys(results.get("search", ())):
        if name == ALL_FEATURES:
            continue
        of_search = results["search"] == name
        sizes, supports = results["n_features"][of_search], results["support"][of_search]
        if all(
            set(np.flatnonzero(support)) == {c for j in order[:size] for c in columns[j]}
            for size, support in zip(sizes, supports, strict=True)
        ):
            return str(name)
    return None


def result_rows(cv_results: Mapping[str, AnyArray]) -> list[Fields]:
    """Return results on held-out rows, one dict per evaluated set, without the columns of each."""
    names = [name for name in cv_results if name not in ("support", "features")]
    values = zip(*(cv_results[name].tolist() for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in values]


def budget_choices(selector: Selector, audience: Audience = "library") -> Fields:
    """Return what every budget of the slider would keep, and what is known of it."""
    own, metric = own_budget(selector), selector.certificate_.metric
    scale, baseline = _scale_of(selector), no_feature_increase(selector.certificate_)
    budgets: list[float] = []
    verdicts: list[Fields] = []
    sets: list[Fields] = []
    for budget in _grid(_largest_budget(selector, own, baseline), own, metric):
        found = _kept_at(selector, budget, own, scale)
        if found is None:
            continue
        features, certificate = found
        shown = describe_set(selector, features, certificate)
        if not sets or {**sets[-1], **shown} != sets[-1]:
            sets.append({"first": len(budgets), **shown})
        verdicts.append(describe_certificate(certificate, audience))
        budgets.append(budget)
    return {
        "metric": metric, "baseline": baseline, "budgets": budgets,
        "current": None if own is None or own not in budgets else budgets.index(own),
        "verdicts": verdicts, "sets": sets,
    }  # fmt: skip


def likely_sizes(selector: Selector, budgets: FloatArray) -> IntArray:
    asked = np.minimum(budgets / _scale_of(selector), budgets.max())
    kept = [selector.support_at(error_budget=float(one), confidence=0.5) for one in asked]
    return np.array([len(_features(selector, one)) for one in kept])


def describe_set(selector: Selector, features: list[int], c: Certificate | None) -> Fields:
    """Return the figures of a set, with what a certificate says of it."""
    path, size = selector.path_, len(features)
    shown: Fields = {"size": size, "features": features, **dict.fromkeys(_OF_PATH)}
    if set(features) == set(path.order[:size]) and size in path.sizes:
        position = int(abs(size - path.sizes[0]))
        lost = float(path.lost()[position])
        figures = path.information[position], lost, path.bound_at(size)
        shown = {"size": size, "features": None, **dict(zip(_OF_PATH, figures, strict=True))}
    shown["search"], results = None, selector.cv_results_  # on whose path it was evaluated
    if results:
        support = np.zeros(len(selector.support_), dtype=np.bool_)
        support[[column for j in features for column in selector.feature_columns_[j]]] = True
        same = np.flatnonzero((np.stack(list(results["support"])) == support).all(axis=1))
        if len(same):
            shown["search"] = str(results["search"][same[np.argmax(results["information"][same])]])
    shown |= dict.fromkeys(_HELD_OUT)
    if c is not None and c.is_tested:
        held_out = c.error_kept, c.error_upper, c.increase, c.increase_lower, c.resolvable
        shown |= dict(zip(_HELD_OUT, held_out, strict=True))
    return dict(plain(shown))  # not a number becomes None, which is equal to itself


def no_feature_increase(certificate: Certificate) -> float | None:
    """Return what no features at all would add to the error; None where nothing was held out."""
    added = certificate.error_none - certificate.error_all
    return float(added) if math.isfinite(added) else None


def describe_certificate(certificate: Certificate | None, audience: Audience) -> Fields:
    """Return what a certificate says, in words; that nothing was tested where there is none."""
    if certificate is None:
        words = {"verdict": "not tested", "verdict_words": NOT_HELD_OUT}
        return {**words, "sentences": [], "shown": dict.fromkeys(_SHOWN, "–"), "lets_all_go": False}
    f = facts(certificate)
    return {
        "verdict": certificate.verdict, "verdict_words": f.verdict,
        "sentences": sentences(certificate, audience),
        "shown": {name: text for name, text in asdict(f).items() if name in _SHOWN},
        "lets_all_go": certificate.is_tested and certificate.lets_all_go,
    }  # fmt: skip


def _kept_at(
    selector: Selector, budget: float, own: float | None, scale: float
) -> tuple[list[int], Certificate | None] | None:
    """Return the features that stay under a budget, with their certificate."""
    mine, certificate = kept_features(selector), selector.certificate_
    if budget == own:
        return mine, certificate
    try:
        if not isinstance(selector, EvaluatedSelector):
            return _features(selector, selector.support_at(error_budget=budget)), None
        # A share ends at 1, also where the largest budget is a rounded one.
        asked = budget if scale == 1.0 else min(budget / scale, 1.0)
        found: Certificate = selector.certificate_at(error_budget=asked)
        known = {name: j for j, name in enumerate(selector.path_.names)}
        if len(known) < selector.path_.n_features:  # two have the same name
            kept = _features(selector, selector.support_at(error_budget=asked))
        else:
            kept = sorted(known[name] for name in found.features)
    except DataError:
        return None
    # What fresh rows have shown for a budget they have shown for every larger one.
    if kept == mine and own is not None and budget > own and certificate.label == CERTIFICATE:
        found = replace(certificate, budget=budget)
    return kept, found


def _scale_of(selector: Selector) -> float:
    """Return the metric's value of a budget of 1: more than 1 for none but relative budgets."""
    budget = selector.get_params(deep=False).get("error_budget")
    if not isinstance(budget, ErrorBudget) or not budget.relative:
        return 1.0
    gain = no_feature_increase(selector.certificate_at(error_budget=0.0))
    return max(gain or 0.0, 1e-12)


def _features(selector: Selector, support: BoolArray) -> list[int]:
    """Return the features whose columns all stay."""
    columns = selector.feature_columns_
    return [j for j, of_feature in enumerate(columns) if support[list(of_feature)].all()]


def _largest_budget(selector: Selector, own: float | None, baseline: float | None) -> float:
    """Return the largest budget worth showing: what lets everything go, and more than our own."""
    beyond = 2.0 * (own or 0.05)
    if baseline is not None:
        if baseline <= (own or 0.0):
            return beyond
        unit = 10.0 ** (math.floor(math.log10(baseline)) - 2)  # the next number of three digits
        return float(f"{math.ceil(baseline / unit) * unit:.6g}")
    path, prior = selector.path_, selector.facts_.largest_prior
    bounds = [bound for size, bound in zip(path.sizes, path.bounds, strict=False) if size > 0]
    top: float = max([beyond, *(bound for bound in bounds if math.isfinite(bound))])
    if selector.certificate_.metric != "error" or prior is None:
        return top
    return max(own or 0.0, min(top, 1.0 - float(prior)))


def _grid(top: float, own: float | None, metric: str) -> list[float]:
    """Return budgets from 0 to `top`, as many of each power of ten, and the selector's own."""
    last = math.floor(math.log10(top))
    steps = {
        float(f"{step * 10.0**power:.3g}")
        for power in range(last - _DECADES, last + 1)
        for step in _STEPS
    }
    most = min(top, metric_row(metric).largest_increase)
    grid = {budget for budget in steps if top / 10**_DECADES <= budget < most}
    return sorted({0.0, most, *grid} | ({own} if own is not None else set()))
