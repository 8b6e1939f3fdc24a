"""Numbers and certificates in plain words: a reader need not know what a nat is."""

import math
from typing import Any

from pinsker._types import plain
from pinsker.bounds import CERTIFICATE, METRIC_NAMES, Certificate, metric_name, shown_value

#: Metrics that are read in points of a hundred.
_POINTS = {"error": "of accuracy", "r2": "of R²"}
#: Each verdict on the page.
_VERDICTS = {
    "met": "budget met",
    "not met": "budget not met",
    "inconclusive": "inconclusive: too few rows",
    "nothing predictable": "nothing predictable: no better than without features",
    "not tested": "estimated, not tested",
    "no budget": "no error budget was set",
}
_BAYES_RISK = "Bayes risk (the lowest error any model could reach)"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number as people read it; a dash where it is not known.

    Examples
    --------
    >>> number(0.70512), number(-0.00012), number(1234.5), number(None)
    ('0.705', '0.000', '1234', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def short(value: float) -> str:
    """Return a setting without digits nobody typed.

    Examples
    --------
    >>> short(0.05), short(0.1 + 0.2)
    ('0.05', '0.3')
    """
    return f"{value:.6g}"


def error_in_words(value: float | None, metric: str) -> str:
    """Return an amount of error in the words of its metric.

    Examples
    --------
    >>> error_in_words(0.05, "error"), error_in_words(0.01, "r2"), error_in_words(0.3, "mse")
    ('5 points of accuracy', '1 point of R²', '0.3 of mean squared error')
    """
    if value is None or not math.isfinite(value):
        return "an unknown amount"
    if metric in _POINTS:
        points = round(100 * value, 1)
        noun = "point" if points == 1 else "points"
        return f"{points:g} {noun} {_POINTS[metric]}"
    return f"{value:.3g} of {METRIC_NAMES.get(metric, metric)}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "feature"), counted(4, "feature")
    ('1 feature', '4 features')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def verdict_in_words(certificate: Certificate) -> str:
    """Return the verdict of a certificate; there is none where no budget was set."""
    if certificate.is_tested and math.isnan(certificate.budget):
        return "evaluated, no error budget was set"
    return _VERDICTS[certificate.verdict]


def summarise_certificate(certificate: Certificate, information: float) -> dict[str, Any]:
    """Return verdict, sentences and figures of a certificate.

    Parameters
    ----------
    certificate : Certificate
        Of a fitted selector.
    information : float
        Of the kept features by the search's own estimate, in nats.

    Returns
    -------
    dict
        ``verdict`` ("met", "not met", "inconclusive", or "not tested" where nothing was held out),
        ``verdict_words``, ``tested`` (whether rows were held out), ``sentences``, ``figures``
        (fields of the certificate) and ``text`` (what it prints).
    """
    if certificate.is_tested:
        sentences = holdout_sentences(certificate)
    else:
        sentences = _estimate_sentences(certificate, information)
    return {
        "verdict": certificate.verdict,
        "verdict_words": verdict_in_words(certificate),
        "tested": certificate.is_tested,
        "sentences": [*sentences, *(f"Note: {note}." for note in certificate.notes)],
        "figures": plain(certificate.to_dict()),
        "text": str(certificate),
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
    sentences = [
        (
            f"{_capital(certificate.label)} from {certificate.n_rows} rows{groups}: "
            f"{certificate.rows}."
        ),
        (
            f"The {metric_name(metric)} is {everything} with all {certificate.n_features} features "
            f"({certificate.model_all}), {kept} with the {certificate.n_kept} kept "
            f"({certificate.model_kept}), and {none} with no features at all."
        ),
    ]
    if certificate.n_kept < certificate.n_features:
        sentences.append(
            f"The {upper} of the error increase is "
            f"{error_in_words(certificate.increase_upper, metric)}, for these models."
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
