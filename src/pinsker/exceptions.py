"""Errors and warnings. Every error states what was found, where, and what to do."""

from typing import Any

from pinsker._notes import spell


class PinskerError(Exception):
    """Base class of all errors raised by pinsker.

    Parameters
    ----------
    *args : str
        The message; settings in it, such as ``<missing=drop>``, are spelled as in Python.
    parameter : str, optional
        Name of the parameter that the message is about, or that would help; callers that have
        another name for it (the command line) need not search the message.

    Examples
    --------
    >>> error = ParameterError("bins=1 must be an integer of at least 2.", parameter="bins")
    >>> str(error), error.parameter
    ('bins=1 must be an integer of at least 2.', 'bins')
    """

    parameter: str | None = None

    def __init__(self, *args: object, parameter: str | None = None) -> None:
        super().__init__(*(spell(one) if isinstance(one, str) else one for one in args))
        self.parameter = parameter
        self.said = str(args[0]) if args else ""  # the message as it was given

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross processes: Dask's own way to pickle them cannot make a MemoryError."""
        return _rebuild, (type(self), self.args, self.__dict__)


class DataError(PinskerError, ValueError):
    """The table or the target cannot be used as it is."""


class DataTypeError(DataError, TypeError):
    """The table holds something that is neither a number nor a category."""


class ParameterError(PinskerError, ValueError):
    """A parameter is outside of its range, or does not fit the data."""


class MemoryBudgetError(PinskerError, MemoryError):
    """The computation needs more memory than `max_memory` allows."""


class MissingDependencyError(PinskerError, ImportError):
    """An optional package is needed and not installed."""


class EngineError(PinskerError, RuntimeError):
    """The chosen engine cannot be used here."""


class EngineLostError(EngineError):
    """The engine was lost in the middle of its work; what was known before is kept."""

    path: Any = None  # the sets that a search had seen, if there was one


class PinskerWarning(UserWarning):
    """Base class of all warnings issued by pinsker."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(spell(one) if isinstance(one, str) else one for one in args))
        self.said = str(args[0]) if args else ""


class DataWarning(PinskerWarning):
    """The data are usable, but something about them should be known."""


class UnreliableEstimateWarning(PinskerWarning):
    """An estimate was computed that should not be trusted; the message says why."""


def _rebuild(kind: type[PinskerError], args: tuple[object, ...], attributes: dict[str, Any]) -> Any:
    error = kind(*args)
    error.__dict__.update(attributes)
    return error
