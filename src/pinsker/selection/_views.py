"""What a selector can show of itself, and who knows how.

The stage `report` reads fitted selectors, so it stands above this one and cannot be imported from
here. A selector therefore only knows *that* it can be reported, plotted and shown. *How* is handed
down: ``pinsker/__init__.py`` stands above all stages and always runs first, and it names the
function that loads the views. Nothing of `report` is loaded before somebody asks to see something.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted


class Views(Protocol):
    """What the stage above offers."""

    def report(self, selector: Any, path: Any = None, *, X: Any = None, y: Any = None) -> str:
        """Return a page about a fitted selector."""

    def plot(self, selector: Any, kind: str = "overview", *, ax: Any = None) -> Any:
        """Draw a fitted selector."""

    def card(self, selector: Any) -> str:
        """Return a fitted selector in a few lines of HTML."""


class Viewed:
    """Gives a selector `report`, `plot`, and a face in notebooks."""

    _load_views: ClassVar[Callable[[], Views]]

    def report(self, path: Any = None, *, X: Any = None, y: Any = None) -> str:
        """Describe the choice in one HTML page that needs no network.

        Parameters
        ----------
        path : str or path-like, optional
            Where to write it; by default it is only returned.
        X, y : optional
            The table and target of `fit`. With them the page also says what each feature tells
            alone and given the others, which kept feature stands in for a dropped one, and how
            every column was understood. A selector does not keep its data, so it has to be told.

        Returns
        -------
        str
            The page. ``docs/report.md`` describes it.
        """
        check_is_fitted(self)
        return type(self)._load_views().report(self, path, X=X, y=y)

    def plot(self, kind: str = "overview", *, ax: Any = None) -> Any:
        """Draw the path with matplotlib.

        Parameters
        ----------
        kind : {"overview", "path", "bound", "certificate"}, default="overview"
            Information against the number of features, the bound against it, both, or the
            certificate.
        ax : matplotlib Axes, or two of them for the overview, optional
            Where to draw.

        Returns
        -------
        SelectionPathDisplay, BoundDisplay or CertificateDisplay; two of them for the overview.
        """
        check_is_fitted(self)
        return type(self)._load_views().plot(self, kind, ax=ax)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # scikit-learn's own is a property that is absent when its display is text: so is ours.
        diagram = super()._repr_html_  # type: ignore[misc]
        return lambda: self._card() + diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._card() + bundle["text/html"]
        return bundle

    def _card(self) -> str:
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        return type(self)._load_views().card(self)


def hand_down(load: Callable[[], Views]) -> None:
    """Tell all selectors where their views come from."""
    Viewed._load_views = staticmethod(load)
