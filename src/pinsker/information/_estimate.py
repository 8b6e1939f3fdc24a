"""What an estimate of information carries besides its value."""

import warnings
from dataclasses import dataclass

from pinsker.exceptions import UnreliableEstimateWarning


@dataclass(frozen=True)
class Estimate:
    """An estimate of entropy or information, with what is known about it.

    Attributes
    ----------
    value : float
        The estimate in nats; negative values are noise around zero unless clipping was asked for.
    method : str
        The method that was used, never ``"auto"``.
    n_samples : int
        Number of rows used.
    ceiling : float or None
        The largest value, in nats, that neighbours could have shown with these rows; None for
        methods that have no such limit.
    standard_error : float or None
        In nats, from half-sampling: the standard deviation over random halves of the rows. It
        does not include bias. None when the halves are too small.
    notes : tuple of str
        What was guessed, chosen or found in the data.
    warnings : tuple of str
        Why the estimate should not be trusted; empty when nothing was found.

    Examples
    --------
    >>> import pinsker
    >>> found = pinsker.mutual_information(
    ...     ["a", "b"] * 20, ["c", "d"] * 20, correction="none", return_details=True
    ... )
    >>> found.method, round(found.value, 6), found.n_samples
    ('discrete', 0.693147, 40)
    """

    value: float
    method: str
    n_samples: int
    ceiling: float | None = None
    standard_error: float | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def clipped(self) -> float:
        """The value, or zero where it is negative: true information never is."""
        return max(self.value, 0.0)

    def __float__(self) -> float:
        return self.value


def warn_unreliable(messages: tuple[str, ...], *, stacklevel: int) -> None:
    """Issue one warning for all reasons not to trust an estimate."""
    if messages:
        text = "do not trust this estimate: " + "; ".join(messages)
        warnings.warn(text, UnreliableEstimateWarning, stacklevel=stacklevel + 1)
