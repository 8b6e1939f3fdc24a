"""What people ask next about a choice: methods of selectors that hold rows out."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from pinsker.explain import (
    Alternative,
    Importance,
    Stability,
    Substitute,
    alternatives,
    importance,
    stability_of_subsamples,
    substitutes,
)


class QuestionsMixin:
    """What each column is worth, what could replace it, what else would do, how stable it is."""

    def importance(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        confidence: float = 0.95,
    ) -> Importance:
        """Measure on fresh rows what each column is worth, with limits.

        Of a kept column: the error increase when it alone is left out. Of a dropped one: the
        decrease when it alone is added. Models are fitted again without or with the column and
        compared row by row, in the metric of the budget.

        Parameters
        ----------
        X, y
            Fresh rows, with the columns of `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of these rows, for models and errors.
        groups : array-like of shape (n_samples,), optional
            Which of these rows belong together.
        confidence : float, default=0.95
            That all intervals hold together.

        Returns
        -------
        Importance
            With ``to_frame()``; `ImportanceDisplay` draws it.
        """
        check_is_fitted(self)
        rows = {"sample_weight": sample_weight, "groups": groups}
        return importance(self, X, y, **rows, confidence=confidence)

    def substitutes(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        confidence: float = 0.95,
    ) -> tuple[Substitute, ...]:
        """Find on fresh rows what can replace each kept column.

        The five dropped columns that say most about a kept one are tried in its place, and of all
        pairs the one that says most. Named is the smallest replacement whose error increase is
        within the budget by its upper confidence bound; where there is none, ``within_budget`` is
        False. The best pair is named beside it, where two say more than one.

        Parameters
        ----------
        X, y, sample_weight, groups, confidence
            As in `importance`.

        Returns
        -------
        tuple of Substitute
            One per kept column, in order of the path.
        """
        check_is_fitted(self)
        rows = {"sample_weight": sample_weight, "groups": groups}
        return substitutes(self, X, y, **rows, confidence=confidence)

    def alternatives(
        self,
        X: Any,
        y: Any,
        *,
        n: int = 5,
        max_overlap: float = 0.5,
        sample_weight: Any = None,
        groups: Any = None,
        confidence: float = 0.95,
    ) -> tuple[Alternative, ...]:
        """Find on fresh rows other sets within the budget.

        Features of the chosen set, and then of the sets that were found, are left out, and the
        others are searched again, on rows that evaluate nothing. Weighted rows are searched by
        counts ("jmi") alone, and not by pairs.

        Parameters
        ----------
        X, y, sample_weight, groups, confidence
            As in `importance`.
        n : int, default=5
            How many sets at most.
        max_overlap : float, default=0.5
            Share of a set that the chosen one may have too.

        Returns
        -------
        tuple of Alternative
            Empty where no other set is shown to be within the budget.
        """
        check_is_fitted(self)
        rows = {"sample_weight": sample_weight, "groups": groups}
        return alternatives(self, X, y, n=n, max_overlap=max_overlap, **rows, confidence=confidence)

    def stability(
        self, X: Any, y: Any, *, n: int = 20, sample_weight: Any = None, groups: Any = None
    ) -> Stability:
        """Choose again on random halves of the rows, and compare what is chosen.

        It takes as long as `n` fits to half of the rows. `stability_` compares the folds of `fit`
        for nothing, where each was searched by itself.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`; of groups a random half is drawn.
        n : int, default=20
            How many halves.

        Returns
        -------
        Stability
            How often each column is chosen, and Nogueira's stability with its interval.

        Examples
        --------
        >>> from pinsker import FeatureSelector
        >>> from pinsker.datasets import NoisyXor
        >>> X, y = NoisyXor(n_columns=4).sample(300, seed=1)
        >>> settings = {"models": ["svm"], "searches": ["forward-backward"], "random_state": 0}
        >>> selector = FeatureSelector(0.1, **settings).fit(X, y)
        >>> print(selector.stability(X, y, n=3))
        stability 1.00 (95% interval 1.00 to 1.00) over 3 subsamples
        """
        check_is_fitted(self)
        return stability_of_subsamples(self, X, y, n=n, sample_weight=sample_weight, groups=groups)
