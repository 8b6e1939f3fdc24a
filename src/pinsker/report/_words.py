"""Numbers and certificates in plain words: a reader need not know what a nat is."""

import math
from typing import Any

from pinsker._types import plain
from pinsker.bounds import METRIC_NAMES, Certificate

#: Metrics that are read in points of a hundred.
_POINTS = {"error": "of accuracy", "r2": "of R²"}
#: Each verdict on the page.
_VERDICTS = {
    "met": "budget met",
    "not met": "budget not met",
    "inconclusive": "inconclusive: too few rows",
    "not tested": "estimated, not tested",
    "no budget": "no error budget was set",
}
#: What a certificate calls rows that took no part in the search.
_FRESH_ROWS = "fresh rows"
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


def _risk(certificate: Certificate) -> str:
    """Return the sentence of the bound, where a theorem ties the metric to information."""
    if math.isnan(certificate.bound):
        return ""
    most = error_in_words(certificate.bound, certificate.metric)
    return f" If no more is lost, the {_BAYES_RISK} increases by at most {most}."


def holdout_sentences(certificate: Certificate) -> list[str]:
    """Describe what held-out rows support.

    "Distribution-free" is the bound of the error on rows that chose nothing; rows of
    cross-fitting have chosen the set.
    """
    metric, confidence = certificate.metric, f"{certificate.confidence:.0%}".replace("%", " %")
    upper = f"{confidence} upper confidence bound"
    free = "distribution-free " if certificate.rows == _FRESH_ROWS else ""
    sentences = [
        f"Evaluated on {certificate.n_rows} rows: {certificate.rows}.",
        (
            f"Hold-out estimate: the error is {number(certificate.error_all)} with all "
            f"{certificate.n_features} features ({certificate.model_all}) and "
            f"{number(certificate.error_kept)} with the {certificate.n_kept} kept "
            f"({certificate.model_kept}). The {upper} of the error increase is "
            f"{error_in_words(max(certificate.increase_upper, 0.0), metric)}, for these models."
        ),
        (
            f"Model-based estimate: {number(certificate.information_lost)} nats of information are "
            f"lost ({upper}: {number(certificate.information_upper)}).{_risk(certificate)}"
        ),
        (
            f"The {free}{upper} of the error with the kept features is "
            f"{number(certificate.error_upper)}, for independent rows."
        ),
    ]
    if certificate.verdict == "inconclusive" and not math.isnan(certificate.budget):
        sentences.append(
            "The budget is smaller than these rows can resolve; the smallest budget that they can "
            f"confirm is {error_in_words(certificate.resolvable, metric)}."
        )
    return sentences
