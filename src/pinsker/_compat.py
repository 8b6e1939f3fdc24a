"""The only place that touches other packages' private parts, or packages that may be missing.

When scikit-learn moves one of these names, this file changes and no other.
"""

from importlib import import_module
from types import ModuleType
from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    RealNotInt,
    StrOptions,
)
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from pinsker.exceptions import MissingDependencyError

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "RealNotInt",
    "StrOptions",
    "fit_context",
    "output_container",
    "require",
    "validate_data",
]


def output_container(estimator: Any) -> str:
    """Return what ``estimator.set_output(transform=...)`` asked for.

    Returns
    -------
    {"default", "pandas", "polars"}

    Examples
    --------
    >>> from sklearn.feature_selection import VarianceThreshold
    >>> output_container(VarianceThreshold().set_output(transform="pandas"))
    'pandas'
    """
    return str(_get_output_config("transform", estimator)["dense"])


def require(module: str, *, purpose: str, extra: str | None = None) -> ModuleType:
    """Import an optional module when it is needed, or say what to install.

    Parameters
    ----------
    module : str
        Full name, for example ``"matplotlib.pyplot"``.
    purpose : str
        What needs it, as the user would say: ``"selector.plot()"``.
    extra : str, optional
        The extra of pinsker that installs it.

    Raises
    ------
    MissingDependencyError
        When the module is not installed.

    Examples
    --------
    >>> require("json", purpose="this example").dumps([1])
    '[1]'
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or package).partition(".")[0] != package:
            raise  # the package is there, something it needs is not: its own message is better
        wanted = f'"pinsker[{extra}]"' if extra else package
        raise MissingDependencyError(
            f"{purpose} needs {package}, which is not installed. Try: pip install {wanted}"
        ) from error
