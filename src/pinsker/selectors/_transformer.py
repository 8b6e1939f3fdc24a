"""What a fitted selector offers: other budgets, the reduced table, its page and its pictures."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from pinsker._compat import check_columns, output_container, require
from pinsker._types import BoolArray, IntArray
from pinsker.encoding import is_dask, is_dask_frame, is_frame
from pinsker.exceptions import DataError, DataTypeError, ParameterError
from pinsker.search import ErrorBudget, FeatureCount, StoppingRule


class SelectionTransformer(SelectorMixin):  # type: ignore[misc]
    """Mixin of selectors that have a path and rules to cut it."""

    def support_at(
        self, *, error_budget: float | StoppingRule | None = None, n_features: int | None = None
    ) -> BoolArray:
        """Return which columns stay under another budget or number, without fitting again.

        Parameters
        ----------
        error_budget : float or StoppingRule, optional
            Another budget, in the same metric as that of `fit`, or another stopping rule.
        n_features : int, optional
            Or a number of features.

        Returns
        -------
        ndarray of shape (n_features_in_,), bool
        """
        check_is_fitted(self)
        if (error_budget is None) == (n_features is None):
            raise ParameterError("support_at takes an error_budget or n_features, and not both.")
        if n_features is not None:
            kept = self._kept_by(FeatureCount(n_features))
            if len(kept) != n_features:
                raise ParameterError(
                    f"no path of this selector reaches {n_features} features, but "
                    f"{len(kept)}: fit with error_budget=FeatureCount({n_features}).",
                    parameter="n_features",
                )
            return self._columns(kept)
        own = self._own_rule()
        if isinstance(own, ErrorBudget) and not isinstance(error_budget, StoppingRule):
            return self._columns(self._kept_by(replace(own, delta=float(error_budget or 0.0))))
        return self._columns(self._kept_by(self._rule_of(error_budget)))

    def transform(self, X: Any) -> Any:
        """Reduce a table to the columns that stay.

        Parameters
        ----------
        X : array-like, frame or Dask collection of shape (n_samples, n_features)
            With the columns of `fit`; of a frame with names the kept ones are enough.

        Returns
        -------
        array, frame or Dask collection of shape (n_samples, n_kept)
            A frame when a frame was given, with its columns as they were; a Dask collection when
            one was given, of which nothing is computed.
        """
        check_is_fitted(self)
        if is_dask(X):
            return self._transform_dask(X)
        if not is_frame(X):
            return self._transform_array(X)
        if not hasattr(X, "columns"):
            raise DataError("Expected 2D array, got a series instead: X needs rows and columns.")
        kept = self.get_support(indices=True)
        names = list(getattr(self, "feature_names_in_", ()))
        given = [str(name) for name in X.columns]
        wanted = [names[j] for j in kept] if names else []
        some = names and not set(names) <= set(given)  # of the columns of `fit`
        missing = [name for name in wanted if name not in given]
        if some and not missing:
            kept = np.array([given.index(name) for name in wanted], dtype=np.int64)
        elif some and set(given) <= set(names):
            raise ValueError(
                "The feature names should match those that were passed during fit, or hold those "
                f"that stay: {missing[0]!r} is missing."
            )
        else:
            check_columns(self, X)
        return _take_columns(X, kept, self)

    def _transform_array(self, X: Any) -> Any:
        """Take the columns that stay, by scikit-learn, which looks at the cells."""
        if isinstance(X, (list, tuple, np.matrix)):
            try:
                X = np.asarray(X)
            except ValueError as error:
                raise DataError(f"X is no table, its rows differ in length: {error}") from error
        try:
            return super().transform(X)
        except (ArithmeticError, UnicodeError) as error:  # a signaling NaN, half a surrogate pair
            raise DataError(f"X holds a cell that cannot be read ({error}): replace it.") from error
        except TypeError as error:  # durations without a unit
            raise DataTypeError(
                f"X holds cells that cannot be read ({error}): give numbers or text."
            ) from error

    def _transform_dask(self, X: Any) -> Any:
        """Take the columns that stay, without computing any."""
        wanted = output_container(self)
        if wanted != "default":
            raise ParameterError(
                f'set_output(transform="{wanted}") cannot hold a Dask collection: use "default", '
                "or pass X.compute()."
            )
        kept = self.get_support(indices=True)
        if not is_dask_frame(X):
            if X.shape[1] != self.n_features_in_:
                raise DataError(
                    f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            return X[:, kept]
        names = list(getattr(self, "feature_names_in_", X.columns)[kept])
        if not set(names) <= set(X.columns):
            check_columns(self, X._meta)
        return X[names]

    def report(self, path: Any = None, *, X: Any = None, y: Any = None, **findings: Any) -> Any:
        """Describe the choice in one HTML page that needs no network.

        Parameters
        ----------
        path : str or path-like, optional
            Where to write it.
        X, y : optional
            The table and target of `fit`. With them the page also shows what each feature carries
            alone and given the others, which kept feature replaces a dropped one, and how every
            column was read. A selector does not keep its data.
        **findings
            More to show: ``importance``, ``substitutes``, ``alternatives`` and ``stability``, what
            the methods of these names returned; ``interactions``, what `pinsker.interactions`
            returned; and ``source``, where the table is from.

        Returns
        -------
        Report
            A notebook shows the page; ``save(path)`` writes it, ``open()`` opens a browser, and
            ``html`` is its text. ``docs/report.md`` describes the page.
        """
        check_is_fitted(self)
        from pinsker.report import report  # upwards, when called: selectors offer their own views

        return report(self, path, X=X, y=y, **findings)

    def plot(self, kind: str = "increase", *, ax: Any = None) -> Any:
        """Draw the choice with matplotlib.

        Parameters
        ----------
        kind : {"increase", "path", "bound", "certificate"}, default="increase"
            The error increase by the number of features, with the budget and the set that is kept;
            the information on the path; its bound; or the certificate.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        ErrorIncreaseDisplay, SelectionPathDisplay, BoundDisplay or CertificateDisplay
        """
        check_is_fitted(self)
        from pinsker.report import plot

        return plot(self, kind, ax=ax)

    def _columns(self, features: tuple[int, ...]) -> BoolArray:
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        for feature in features:
            mask[list(self.feature_columns_[feature])] = True
        return mask

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        mask: BoolArray = self.support_
        return mask

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # scikit-learn's own is a property that is absent when its display is text: so is ours.
        diagram = super()._repr_html_
        return lambda: self._card() + diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._card() + bundle["text/html"]
        return bundle

    def _card(self) -> str:
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        from pinsker.report import card

        return card(self)


def _take_columns(X: Any, columns: IntArray, estimator: Any) -> Any:
    """Return some columns of a frame, in the container that ``set_output`` asks for."""
    import narwhals.stable.v1 as nw  # only frames come here

    taken = nw.from_native(X, eager_only=True)[:, [int(j) for j in columns]]
    wanted = output_container(estimator)
    if wanted == "pandas":
        return taken.to_pandas()
    if wanted == "polars" and not taken.implementation.is_polars():
        polars = require("polars", purpose='set_output(transform="polars")')
        try:
            return polars.from_pandas(taken.to_pandas())
        except Exception as error:  # of Arrow or polars, for types that they do not have
            raise DataTypeError(
                f"the columns that stay cannot be made a polars frame ({error}): use "
                'set_output(transform="default").'
            ) from error
    return taken.to_native()
