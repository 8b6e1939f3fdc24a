"""Held-out models: information that a model shows on rows it was not fitted to.

``table -> ModelDesign -> scores per fold -> HoldoutScores``: log-likelihoods and losses per row,
hence information with a paired standard error. A model can only show too little, so the
information of a set of features is the largest that any model shows.
"""

from pinsker.models._defaults import (
    LARGE_TABLE,
    MODELS,
    RBFSVM,
    BoostedTrees,
    ExtraTrees,
    default_models,
    named_models,
)
from pinsker.models._design import (
    MAX_ONE_HOT,
    MOST_ONE_HOT,
    OTHER_CODE,
    Layout,
    LayoutName,
    ModelDesign,
    code_by_frequency,
    one_hot,
    order_by_target,
)
from pinsker.models._fit import (
    HoldoutScores,
    MeanModel,
    ModelData,
    best_by_information,
    best_by_loss,
    calibrated,
    fit_temperature,
    is_tied,
    log_likelihood_of_numbers,
    log_softmax,
    losses_without,
    mean_prediction,
    predict_rows,
    worst_by_loss,
)
from pinsker.models._model import (
    HoldoutModel,
    Linear,
    PriorModel,
    fit_clone,
    outputs,
    predicted_classes,
    several_class_scores,
    without_advice,
)
from pinsker.models._raw import (
    OwnColumns,
    RawModel,
    SurvivalModel,
    able_to_fit,
    as_table,
    column_names,
    grid_times,
    log_likelihood_of_times,
    of_columns,
    prepare_models,
    refuse_without_weights,
    replace_columns,
    step_at,
    survival_predictions,
    take_columns,
    task_of_model,
)
