"""Models by name, for audits: ready for columns of every kind."""

from typing import Any, Literal

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

Model = Literal["forest", "boosting", "svm", "linear"]

_MODELS: dict[Model, tuple[Any, Any]] = {
    "forest": (RandomForestClassifier, RandomForestRegressor),
    "boosting": (HistGradientBoostingClassifier, HistGradientBoostingRegressor),
    "svm": (SVC, SVR),
    "linear": (LogisticRegression, Ridge),
}


def make_model(name: Model, task: str, seed: int) -> Any:
    """Return an unfitted model behind a preparation for numbers and levels.

    Numbers are scaled and gaps filled with the median; levels become indicators, a gap being a
    level of its own.
    """
    kind = _MODELS[name][0 if task == "classification" else 1]
    settings = {"random_state": seed} if "random_state" in kind().get_params() else {}
    numbers = make_column_selector(dtype_include=["number", "bool"])
    levels = make_column_selector(dtype_exclude=["number", "bool"])
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), levels),
    )
    return make_pipeline(prepared, kind(**settings))
