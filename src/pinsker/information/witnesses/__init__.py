"""Witnesses: models that show, on rows they have not seen, how much a set of columns tells.

``table -> Design -> raw scores per fold -> HeldOut``: log-likelihoods and losses per row, hence
information with a paired standard error. A witness can only show too little, so the information of
a set is the largest that any of them shows.
"""

from pinsker.information.witnesses._defaults import LARGE, default_witnesses, named_witnesses
from pinsker.information.witnesses._design import Design
from pinsker.information.witnesses._held_out import (
    HeldOut,
    best_by_information,
    best_by_loss,
    judge_scores,
)
from pinsker.information.witnesses._temperature import fit_temperature, log_softmax
from pinsker.information.witnesses._witness import Prior, Witness

__all__ = [
    "LARGE",
    "Design",
    "HeldOut",
    "Prior",
    "Witness",
    "best_by_information",
    "best_by_loss",
    "default_witnesses",
    "fit_temperature",
    "judge_scores",
    "log_softmax",
    "named_witnesses",
]
