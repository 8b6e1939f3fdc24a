"""The only place that touches other packages' private parts, or packages that may be missing.

When scikit-learn moves one of these names, this file changes and no other.
"""

from importlib import import_module
from types import ModuleType

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
)
from sklearn.utils.validation import validate_data

from pinsker.exceptions import MissingDependencyError

__all__ = [
    "HasMethods",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "fit_context",
    "require",
    "validate_data",
]


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
