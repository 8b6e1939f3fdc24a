"""Stage: information. Entropy and information in nats, from columns of any kinds."""

from pinsker.information._entropy import entropy
from pinsker.information._independence import IndependenceTest, independence_test
from pinsker.information._mutual import conditional_mutual_information, mutual_information
from pinsker.information._reliability import Estimate
from pinsker.information.models import (
    LARGE_TABLE,
    MAX_ONE_HOT,
    RBFSVM,
    BoostedTrees,
    ExtraTrees,
    HoldoutModel,
    HoldoutScores,
    ModelDesign,
    PriorModel,
    best_by_information,
    best_by_loss,
    default_models,
    log_likelihood_of_numbers,
    named_models,
    one_hot,
    score_holdout,
)

__all__ = [
    "LARGE_TABLE",
    "MAX_ONE_HOT",
    "RBFSVM",
    "BoostedTrees",
    "Estimate",
    "ExtraTrees",
    "HoldoutModel",
    "HoldoutScores",
    "IndependenceTest",
    "ModelDesign",
    "PriorModel",
    "best_by_information",
    "best_by_loss",
    "conditional_mutual_information",
    "default_models",
    "entropy",
    "independence_test",
    "log_likelihood_of_numbers",
    "mutual_information",
    "named_models",
    "one_hot",
    "score_holdout",
]
