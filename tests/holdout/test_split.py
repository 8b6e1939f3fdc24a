"""Large tables: disjoint rows search, evaluate and certify."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from pinsker import FeatureCount, FeatureSelector
from pinsker.encoding import encode
from pinsker.holdout import SPLIT_FROM, RowPlan
from pinsker.models import HoldoutModel

LINEAR = ["linear"]


def linear_table(n, d=9, seed=0):
    """Three of the columns matter, the last one least: it is worth 4 % of the variance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 1] + 0.8 * X[:, 4] + 0.35 * X[:, 7] + rng.normal(size=n)


def fitted(n=SPLIT_FROM, budget=0.02, **options):
    X, y = linear_table(n)
    return FeatureSelector(budget, models=LINEAR, random_state=0, **options).fit(X, y)


def parts_of(plan):
    """Return the rows that search, train, evaluate and certify."""
    return plan.searched[0], plan.folds[0].train, plan.folds[0].test, plan.certify.test


@pytest.fixture(scope="module")
def selector():
    return fitted()


@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_parts_are_disjoint_complete_and_stratified(target):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    y = (rng.random(6000) < 0.04).astype(int) if target == "classes" else rng.exponential(size=6000)
    table = encode(X, y)
    parts = parts_of(RowPlan.of(table, 5, seed=1))
    rows = np.concatenate(parts)
    np.testing.assert_array_equal(np.sort(rows), np.arange(6000))
    hit = y == 1 if target == "classes" else y > np.quantile(y, 0.9)
    for part in (*parts, parts[0][:500]):
        # Dealt by rank: a stretch of n rows misses its share by the ends of two rounds at most.
        assert hit[part].mean() == pytest.approx(hit.mean(), abs=5 / len(part) + 0.004)
    for part, again in zip(parts, parts_of(RowPlan.of(table, 5, seed=1)), strict=True):
        np.testing.assert_array_equal(part, again)
    assert not np.array_equal(parts[-1], parts_of(RowPlan.of(table, 5, seed=2))[-1])


def test_the_columns_that_matter_are_certified_on_rows_of_their_own(selector):
    assert np.flatnonzero(selector.support_).tolist() == [1, 4, 7]
    certificate = selector.certificate_
    assert certificate.verdict == "met"
    assert certificate.rows.startswith("held out for certification")
    assert set(certificate.features) == set(selector.get_feature_names_out())
    plan = RowPlan.of(encode(*linear_table(SPLIT_FROM)), 5, 0)
    assert certificate.n_rows == len(plan.certify.test)
    assert any(f"of {SPLIT_FROM} rows" in note for note in selector.notes_)
    assert selector.cv_results_["search"][0] == "all features"


def test_a_certificate_that_fails_is_about_the_set_that_is_kept(selector):
    # Rows that certify are made useless: the kept set fails there, and no larger one speaks for it.
    X, y = linear_table(SPLIT_FROM)
    certify = RowPlan.of(encode(X, y), 5, selector._record.seed).certify.test
    X[certify[: len(certify) // 2]] = 0.0
    selector = FeatureSelector(0.02, models=LINEAR, random_state=0).fit(X, y)
    certificate = selector.certificate_
    assert set(certificate.features) == set(selector.get_feature_names_out())
    assert certificate.n_kept == selector.support_.sum()


def test_larger_budgets_keep_fewer_and_other_rules_cut(selector):
    assert np.flatnonzero(selector.support_at(error_budget=0.1)).tolist() == [1, 4]
    assert fitted(budget=0.1, searches=["linear"]).support_.sum() == 2
    counted = fitted(budget=FeatureCount(5), searches=["linear"])
    assert counted.support_.sum() == 5
    assert counted.certificate_.verdict == "no budget"


def test_below_the_limit_and_by_a_splitter_all_rows_are_cross_fitted():
    assert "5-fold cross-fitting" in fitted(SPLIT_FROM - 1, searches=["linear"]).certificate_.rows
    own = fitted(cv=KFold(3), searches=["linear"]).certificate_
    assert own.rows.startswith("3-fold cross-fitting")
    assert own.n_rows == SPLIT_FROM


@pytest.mark.slow
def test_the_work_does_not_grow_with_the_rows(monkeypatch):
    seen = []
    plain = HoldoutModel.fit_predict

    def counted(self, train, values, test, **options):
        seen.append((len(train), len(test)))
        return plain(self, train, values, test, **options)

    monkeypatch.setattr(HoldoutModel, "fit_predict", counted)
    work = []
    for n in (150_000, 200_000):
        seen.clear()
        fitted(n, searches=["linear"])
        work.append((len(seen), max(train for train, _ in seen), max(test for _, test in seen)))
    assert work[0] == work[1]
    assert work[0][1] <= 10_000
    assert work[0][2] <= 40_000


def test_the_same_again_with_any_number_of_jobs(selector):
    two = fitted(n_jobs=2)
    for name, values in selector.cv_results_.items():
        np.testing.assert_equal(list(values), list(two.cv_results_[name]))
    assert selector.certificate_ == two.certificate_


def test_fixed_features_groups_and_categories():
    X, y = linear_table(SPLIT_FROM)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(9)])
    rng = np.random.default_rng(1)
    frame["city"] = rng.choice([f"city {j}" for j in range(300)], len(frame))
    selector = FeatureSelector(
        0.02, models=LINEAR, searches=["forward-backward", "jmi"],
        fixed_features=["c0"], feature_groups={"pair": ["c1", "c2"]}, random_state=0,
    ).fit(frame, y)  # fmt: skip
    kept = set(selector.get_feature_names_out())
    assert {"c0", "c1", "c2", "c4"} <= kept
    assert "city" not in kept


def test_noise_is_not_called_predictable_and_loses_nothing():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(SPLIT_FROM, 6)), rng.integers(2, size=SPLIT_FROM)
    selector = FeatureSelector(0.02, models=LINEAR, random_state=0).fit(X, y)
    assert selector.certificate_.verdict == "not shown to be predictable"
    assert selector.support_.all()
    assert selector.certificate_.error_kept == pytest.approx(0.5, abs=0.05)
