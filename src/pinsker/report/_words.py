"""Numbers and certificates in plain words: a reader need not know what a nat is."""

import math
from typing import Any

from pinsker.holdout import CERTIFICATE, Certificate
from pinsker.metrics import best_score, metric_words, shown_value

#: Each verdict on the page.
_VERDICTS = {
    "met": "budget met",
    "not met": "budget not met",
    "inconclusive": "inconclusive: too few rows",
    "nothing predictable": "nothing predictable: no better than without features",
    "not tested": "estimated, not tested",
    "no budget": "no error budget was set",
}
#: Letters of a name in a sentence.
_MOST_LETTERS = 40
_BAYES_RISK = "Bayes risk (the lowest error any model could reach)"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number as people read it; a dash where it is not known."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) >= 1000:
        return f"{value:.3g}" if abs(value) >= 1e6 else f"{value:.0f}"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def short(value: float) -> str:
    """Return a setting without digits nobody typed."""
    return f"{value:.6g}"


def error_in_words(value: float | None, metric: str) -> str:
    """Return an amount of error in the words of its metric."""
    if value is None or not math.isfinite(value):
        return "an unknown amount"
    if metric == "error":
        points = round(100 * value, 2)
        return f"{points:g} {'point' if points == 1 else 'points'} of error rate"
    return f"{value:.3g} of {metric_words(metric)}"


def budget_in_words(value: float, metric: str) -> str:
    """Return what a budget allows."""
    if best_score(metric) is None:
        return f"at most {error_in_words(value, metric)} may be added"
    amount = f"{value:.3g}"
    return f"at most {amount} may be added to the error: {metric_words(metric)} may fall by as much"


def change_in_words(value: float, metric: str) -> str:
    """Return an error increase as what happens to the metric."""
    rises = (value >= 0.0) == (best_score(metric) is None)
    return f"{metric_words(metric)} {'rises' if rises else 'falls'} by {number(abs(value))}"


def clipped(name: str) -> str:
    """Return a name, or the first letters of a very long one."""
    return name if len(name) <= _MOST_LETTERS else name[:_MOST_LETTERS] + "…"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def verdict_in_words(certificate: Certificate) -> str:
    """Return the verdict of a certificate; there is none where no budget was set."""
    if certificate.is_tested and math.isnan(certificate.budget):
        return "evaluated, no error budget was set"
    return _VERDICTS[certificate.verdict]


def describe_certificate(certificate: Certificate, information: float) -> dict[str, Any]:
    """Return verdict and sentences of a certificate."""
    if certificate.is_tested:
        sentences = holdout_sentences(certificate)
    else:
        sentences = _estimate_sentences(certificate, information)
    return {
        "verdict": certificate.verdict,
        "verdict_words": verdict_in_words(certificate),
        "sentences": [*sentences, *(f"Note: {note}." for note in certificate.notes)],
    }


def _estimate_sentences(certificate: Certificate, information: float) -> list[str]:
    """Describe what the path alone supports."""
    kept = counted(certificate.n_kept, "feature")
    return [
        (
            f"The {kept} kept carry {number(information)} nats of information about the target, "
            f"{number(certificate.information_lost)} less than the best set that the search found."
        ),
        (
            f"If no more than that is lost, the {_BAYES_RISK} increases by at most "
            f"{error_in_words(certificate.bound, certificate.metric)} when only the kept features "
            "are used."
        ),
        (
            "These figures are estimates on the rows of the search. No row was held out, so that "
            "they guarantee nothing for new rows."
        ),
    ]


def holdout_sentences(certificate: Certificate) -> list[str]:
    """Describe what held-out rows support, and what it rests on."""
    metric, confidence = certificate.metric, f"{100 * certificate.confidence:g} %"
    upper = f"{confidence} upper confidence bound"
    everything, kept, none = (
        number(shown_value(metric, value))
        for value in (certificate.error_all, certificate.error_kept, certificate.error_none)
    )
    groups = f" in {certificate.n_groups} groups" if certificate.n_groups else ""
    article = "the " if best_score(metric) is None else ""
    sentences = [
        (
            f"{_capital(article)}{metric_words(metric)} is {everything} with all "
            f"{certificate.n_features} features ({certificate.model_all}), {kept} with the "
            f"{certificate.n_kept} kept ({certificate.model_kept}), and {none} with no features at "
            "all."
        ),
    ]
    if certificate.n_kept < certificate.n_features:
        limit = certificate.resolvable if certificate.resolvable > 0 else certificate.increase_upper
        sentences.append(
            f"With the kept features {article}{change_in_words(certificate.increase, metric)}. The "
            f"{upper} of that: {article}{change_in_words(limit, metric)}, for these models."
        )
    sentences.append(
        f"{_capital(certificate.label)} from {certificate.n_rows} rows{groups}: {certificate.rows}."
    )
    if certificate.bound <= certificate.budget:
        sentences.append(
            f"Model-based estimate: {number(certificate.information_lost)} nats of information are "
            f"lost ({upper}: {number(certificate.information_upper)}). If no more is lost, the "
            f"{_BAYES_RISK} increases by at most {error_in_words(certificate.bound, metric)}."
        )
    if certificate.label == CERTIFICATE and metric == "error":
        sentences.append(
            f"The distribution-free {upper} of the error with the kept features is "
            f"{number(certificate.error_upper)}, for independent rows."
        )
    if metric != "error" and math.isfinite(certificate.rare_rows):
        sentences.append(
            f"Rows rarer than 3 in {certificate.n_groups or certificate.n_rows} may be missing "
            f"here; they could add up to {number(certificate.rare_rows)} to the error."
        )
    if certificate.verdict == "inconclusive":
        sentences.append(
            "The budget is smaller than these rows can resolve; the smallest budget that they can "
            f"confirm is {error_in_words(certificate.resolvable, metric)}."
        )
    return sentences


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
