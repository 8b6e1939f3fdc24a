"""Held-out models: information that a model shows on rows it was not fitted to.

``table -> ModelDesign -> scores per fold -> HoldoutScores``: log-likelihoods and losses per row,
hence information with a paired standard error. A model can only show too little, so the
information of a set of features is the largest that any model shows.
"""

from pinsker.models._categories import OTHER_CODE, code_by_frequency, order_by_target
from pinsker.models._copies import fit_clone, several_class_scores
from pinsker.models._defaults import (
    LARGE_TABLE,
    RBFSVM,
    BoostedTrees,
    ExtraTrees,
    OrderedCategories,
    default_models,
    named_models,
)
from pinsker.models._design import MAX_ONE_HOT, ModelDesign, one_hot
from pinsker.models._fit import (
    MeanModel,
    ModelData,
    losses_without,
    mean_prediction,
    members,
    predict_rows,
)
from pinsker.models._linear import Linear, LinearRanks
from pinsker.models._model import (
    HoldoutModel,
    PriorModel,
    outputs,
    predicted_classes,
    without_advice,
)
from pinsker.models._race import (
    FEW_ROWS_FROM,
    choose_inside,
    is_tied,
    left_by_few_rows,
    mix_losses,
    race,
)
from pinsker.models._raw import (
    OwnColumns,
    RawModel,
    able_to_fit,
    prepare_models,
    refuse_without_weights,
    task_of_model,
)
from pinsker.models._scores import (
    HoldoutScores,
    best_by_information,
    best_by_loss,
    fit_temperature,
    log_likelihood_of_numbers,
    log_softmax,
    weighted_rows,
    worst_by_loss,
)
from pinsker.models._survival import (
    SurvivalModel,
    grid_times,
    log_likelihood_of_times,
    prior_of_survival,
    refuse_without_curves,
    step_at,
    survival_predictions,
)

__all__ = [
    "FEW_ROWS_FROM",
    "LARGE_TABLE",
    "MAX_ONE_HOT",
    "OTHER_CODE",
    "RBFSVM",
    "BoostedTrees",
    "ExtraTrees",
    "HoldoutModel",
    "HoldoutScores",
    "Linear",
    "LinearRanks",
    "MeanModel",
    "ModelData",
    "ModelDesign",
    "OrderedCategories",
    "OwnColumns",
    "PriorModel",
    "RawModel",
    "SurvivalModel",
    "able_to_fit",
    "best_by_information",
    "best_by_loss",
    "choose_inside",
    "code_by_frequency",
    "default_models",
    "fit_clone",
    "fit_temperature",
    "grid_times",
    "is_tied",
    "left_by_few_rows",
    "log_likelihood_of_numbers",
    "log_likelihood_of_times",
    "log_softmax",
    "losses_without",
    "mean_prediction",
    "members",
    "mix_losses",
    "named_models",
    "one_hot",
    "order_by_target",
    "outputs",
    "predict_rows",
    "predicted_classes",
    "prepare_models",
    "prior_of_survival",
    "race",
    "refuse_without_curves",
    "refuse_without_weights",
    "several_class_scores",
    "step_at",
    "survival_predictions",
    "task_of_model",
    "weighted_rows",
    "without_advice",
    "worst_by_loss",
]
