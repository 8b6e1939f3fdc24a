"""Stage: information. Entropy and information in nats, from columns of any kinds."""

from pinsker.information._entropy import entropy
from pinsker.information._independence import IndependenceTest, independence_test
from pinsker.information._mutual import conditional_mutual_information, mutual_information
from pinsker.information._reliability import Estimate
from pinsker.information.models import (
    LARGE_TABLE,
    RBFSVM,
    ExtraTrees,
    HoldoutModel,
    HoldoutScores,
    ModelDesign,
    OwnColumns,
    PriorModel,
    RawModel,
    able_to_fit,
    best_by_information,
    best_by_loss,
    default_models,
    fit_clone,
    log_likelihood_of_numbers,
    log_softmax,
    named_models,
    one_hot,
    prepare_models,
    score_holdout,
    task_of_model,
)

__all__ = [
    "LARGE_TABLE",
    "RBFSVM",
    "Estimate",
    "ExtraTrees",
    "HoldoutModel",
    "HoldoutScores",
    "IndependenceTest",
    "ModelDesign",
    "OwnColumns",
    "PriorModel",
    "RawModel",
    "able_to_fit",
    "best_by_information",
    "best_by_loss",
    "conditional_mutual_information",
    "default_models",
    "entropy",
    "fit_clone",
    "independence_test",
    "log_likelihood_of_numbers",
    "log_softmax",
    "mutual_information",
    "named_models",
    "one_hot",
    "prepare_models",
    "score_holdout",
    "task_of_model",
]
