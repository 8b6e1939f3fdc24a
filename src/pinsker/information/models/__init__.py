"""Models: models that show, on rows they have not seen, how much a set of columns tells.

``table -> ModelDesign -> raw scores per fold -> HoldoutScores``: log-likelihoods and losses per row, hence
information with a paired standard error. A model can only show too little, so the information of
a set is the largest that any of them shows.
"""

from pinsker.information.models._defaults import LARGE_TABLE, default_models, named_models
from pinsker.information.models._design import ModelDesign
from pinsker.information.models._fast import RBFSVM, ExtraTrees
from pinsker.information.models._held_out import (
    HoldoutScores,
    best_by_information,
    best_by_loss,
    log_likelihood_of_numbers,
    score_holdout,
)
from pinsker.information.models._model import HoldoutModel, PriorModel
from pinsker.information.models._temperature import fit_temperature, log_softmax

__all__ = [
    "LARGE_TABLE",
    "RBFSVM",
    "ExtraTrees",
    "HoldoutModel",
    "HoldoutScores",
    "ModelDesign",
    "PriorModel",
    "best_by_information",
    "best_by_loss",
    "log_likelihood_of_numbers",
    "default_models",
    "fit_temperature",
    "log_softmax",
    "named_models",
    "score_holdout",
]
