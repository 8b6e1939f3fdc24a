"""The certificate in plain words, with its figures."""

import dataclasses
from typing import Any

from pinsker.report._words import counted, error_in_words, number, plain

#: What each verdict is called on the page.
_VERDICTS = {
    "kept": "the budget is kept",
    "not kept": "the budget is not kept",
    "not resolved": "too few rows to tell",
    "estimated": "estimated, not tested",
}


def summarise_certificate(certificate: Any) -> dict[str, Any]:
    """Return verdict, sentences and figures of a certificate.

    Parameters
    ----------
    certificate : PathEvidence or Certificate
        The first rests on the path alone, the second on rows that were held out.

    Returns
    -------
    dict
        ``verdict``, ``verdict_words``, ``sentences``, ``figures`` (names as in the certificate),
        ``tested`` (whether rows were held out) and ``text`` (what it prints).
    """
    tested = hasattr(certificate, "verdict")
    figures = certificate.to_dict() if hasattr(certificate, "to_dict") else _fields(certificate)
    verdict = figures.get("verdict", "estimated")
    sentences = _tested(figures) if tested else _estimated(figures)
    return {
        "verdict": verdict,
        "verdict_words": _VERDICTS.get(verdict, verdict),
        "tested": tested,
        "sentences": [*sentences, *(f"Note: {note}." for note in figures.get("notes", ()))],
        "figures": plain(figures),
        "text": str(certificate),
    }


def _fields(certificate: Any) -> dict[str, Any]:
    return {
        field.name: getattr(certificate, field.name) for field in dataclasses.fields(certificate)
    }


def _estimated(figures: dict[str, Any]) -> list[str]:
    """Say what the path alone supports."""
    kept = counted(figures["size"], "feature")
    carried = (
        f"The {kept} kept carry {number(figures['information'])} nats of information about the "
        f"target, {number(figures['lost'])} less than the best set that the search met."
    )
    bound = (
        "If no more than that is lost, the best possible predictor on the kept features does worse "
        f"by at most {error_in_words(figures['bound'], figures['unit'])} than the best possible "
        "one on all features."
    )
    caveat = (
        "These figures are estimates on the rows that were searched: nothing was held out, so "
        "they promise nothing about new rows."
    )
    return [carried, bound, caveat]


def _tested(figures: dict[str, Any]) -> list[str]:
    """Say what held-out rows support."""
    unit, confidence = figures["unit"], f"{figures['confidence']:.0%}"
    judged = f"{figures['n_rows']} rows were judged, {figures['source']}."
    errors = (
        f"On them the error is {number(figures['error_all'])} with all {figures['n_features']} "
        f"features ({figures['model_all']}) and {number(figures['error_kept'])} with the "
        f"{figures['n_kept']} kept ({figures['model_kept']}). With {confidence} confidence it "
        f"grows by at most {error_in_words(max(figures['growth_upper'], 0.0), unit)}; this holds "
        "for these models."
    )
    lost = (
        f"As far as the witnesses see, {number(figures['information_lost'])} nats of information "
        f"are lost, with {confidence} confidence at most {number(figures['information_limit'])}. "
        "If no more is lost, the best possible predictor on the kept features does worse by at "
        f"most {error_in_words(figures['bound'], unit)} than the best possible one on all."
    )
    free = (
        "Without any assumption but independent rows, the kept features allow an error of at most "
        f"{number(figures['error_limit'])}."
    )
    finer = (
        "The budget is smaller than these rows can resolve; they could show a budget of "
        f"{error_in_words(figures['resolvable'], unit)} to be kept."
    )
    return [judged, errors, lost, free, *([finer] * (figures["verdict"] == "not resolved"))]
