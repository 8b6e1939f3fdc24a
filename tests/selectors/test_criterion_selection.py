"""The selector: binning, targets, weights, groups, and scikit-learn's contract."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import pinsker
from pinsker.encoding import encode
from pinsker.engine import CountTables
from pinsker.exceptions import DataError, ParameterError
from pinsker.search import FeatureCount, PermutationTest, search_rows, select_by_criterion
from pinsker.selectors import CriterionSelection, FeatureSelector


@pytest.mark.filterwarnings("ignore:class .* single row:pinsker.exceptions.DataWarning")
@parametrize_with_checks(
    [  # the default is checked in tests/contract
        CriterionSelection("mrmr", binning="width", bins=3, n_jobs=2),
        CriterionSelection("cmi", stop=PermutationTest(0.25, n_permutations=3)),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def breast_cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.mark.parametrize(
    ("criterion", "order"),
    [
        ("mrmr", (22, 24, 7, 1, 13, 27, 28, 23, 26, 10)),
        ("jmi", (22, 24, 23, 27, 7, 20, 13, 26, 3, 6)),
        ("cmim", (22, 24, 27, 21, 7, 13, 26, 1, 3, 9)),
    ],
)
def test_breast_cancer_as_feast_selects(criterion, order, breast_cancer):
    selector = CriterionSelection(criterion).fit(*breast_cancer)
    assert selector.path_.order == order
    assert selector.get_support(indices=True).tolist() == sorted(order)
    assert selector.path_.score == criterion


def test_the_binning_is_part_of_the_result(breast_cancer):
    X, y = breast_cancer
    selector = CriterionSelection(bins=4).fit(X, y)
    assert_array_equal(selector.binning_.edges[0], np.quantile(X.iloc[:, 0], [0.25, 0.5, 0.75]))
    path = select_by_criterion(selector.binning_.codes, y.to_numpy(), "jmi", 10)
    assert selector.path_.order == tuple(path.order)
    assert_array_equal(selector.path_.scores, path.scores)


@pytest.mark.parametrize("k", [1, 2, 13])
def test_so_many_features_as_asked_for(k):
    X, y = load_wine(return_X_y=True)
    assert CriterionSelection("mrmr", k).fit(X, y).transform(X).shape[1] == k


def test_more_features_than_there_are_keeps_all_and_notes_it():
    X, y = load_wine(return_X_y=True)
    selector = CriterionSelection("mrmr", 99).fit(X, y)
    assert selector.support_.all()
    assert any("the path ends at 13 features" in note for note in selector.notes_)
    with pytest.raises(ParameterError, match=r"FeatureCount\(k=99\) asks for more features"):
        CriterionSelection("mrmr", stop=FeatureCount(99)).fit(X, y)


def mixed_frame(library):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    columns = {
        "noise": rng.normal(size=200),
        "colour": np.where(rng.random(200) < 0.9, np.array(["red", "blue"])[y], "green"),
        "flag": (y == 1) ^ (rng.random(200) < 0.3),
        "visits": rng.poisson(2 + y),
    }
    return library.DataFrame(columns), y


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_of_every_kind_are_scored(library):
    X, y = mixed_frame(library)
    selector = CriterionSelection("mim", 4).fit(X, y)
    assert [selector.path_.names[feature] for feature in selector.path_.order[:2]] == [
        "colour",
        "flag",
    ]
    assert selector.binning_.edges[1] is None
    # pinsker's own discrete estimator counts the same nats.
    codes = np.unique(np.asarray(X["colour"]), return_inverse=True)[1]
    want = pinsker.mutual_information(
        codes, y, method="discrete", correction="none", categorical_features=True
    )
    assert selector.path_.scores[0] == pytest.approx(want, abs=1e-12)
    assert type(selector.set_output(transform="default").transform(X)) is type(X)


def test_a_numeric_target_is_cut_into_bins_with_a_note():
    X, y = load_diabetes(return_X_y=True)
    selector = CriterionSelection("mrmr", 4).fit(X, y)
    assert any(
        str(note).startswith("the numeric target was cut into bins at 7")
        for note in selector.notes_
    )
    cuts = np.quantile(y, [0.2, 0.4, 0.6, 0.8])
    codes = np.searchsorted(cuts, y)
    assert selector.facts_.task == "classification"
    assert selector.facts_.n_classes == 5
    want = select_by_criterion(selector.binning_.codes, codes, "mrmr", 4)
    assert selector.path_.order == tuple(want.order)


def test_several_numeric_targets_are_binned_together():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = np.column_stack([X[:, 0] + 0.1 * rng.normal(size=300), X[:, 2]])
    selector = CriterionSelection("jmi", 2, bins=3).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 2]
    assert selector.facts_.n_classes == 9


@pytest.mark.parametrize("binning", ["frequency", "width", "mdl"])
def test_integer_weights_are_repeated_rows(binning):
    X, y = load_wine(return_X_y=True)
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    weighted = CriterionSelection(binning=binning).fit(X, y, sample_weight=weights)
    plain = CriterionSelection(binning=binning).fit(X[repeated], y[repeated])
    assert weighted.path_.order == plain.path_.order
    assert_allclose(weighted.path_.scores, plain.path_.scores, rtol=0, atol=1e-12)
    assert weighted.facts_ == plain.facts_


def test_weights_follow_their_rows_when_rows_are_dropped():
    X, y = load_wine(return_X_y=True)
    X[::7, 3] = np.nan
    weights = np.random.default_rng(3).exponential(size=len(y))
    complete = ~np.isnan(X[:, 3])
    dropped = CriterionSelection("mim", missing="drop").fit(X, y, sample_weight=weights)
    chosen = CriterionSelection("mim").fit(
        X[complete], y[complete], sample_weight=weights[complete]
    )
    assert dropped.path_.scores == chosen.path_.scores


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight has shape \(3,\): give 178 weights"),
        (np.full(178, -1.0), r"sample_weight must be finite, not negative"),
        (np.zeros(178), r"not all zero"),
    ],
)
def test_weights_that_make_no_sense(weights, message):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(DataError, match=message):
        CriterionSelection().fit(X, y, sample_weight=weights)


def test_a_group_is_one_feature_with_its_joint_values():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (400, 4))
    y = X[:, 1] ^ X[:, 3]  # neither carries anything alone
    selector = CriterionSelection("mim", 1, feature_groups={"both": [1, 3]}).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [1, 3]
    assert selector.path_.scores[0] == pytest.approx(selector.path_.full_information, abs=1e-12)


def test_fixed_features_come_first():
    X, y = load_wine(return_X_y=True)
    selector = CriterionSelection("mrmr", 3, fixed_features=[2, 7]).fit(X, y)
    assert set(selector.path_.order[:2]) == {2, 7}
    assert selector.path_.n_fixed == 2


def test_missing_as_a_category():
    X, y = load_wine(return_X_y=True)
    X[y == 1, 5] = np.nan  # that a value is missing shows the class
    selector = CriterionSelection("mim", 1, missing="category").fit(X, y)
    assert selector.get_support(indices=True).tolist() == [5]


def test_threads_change_nothing(breast_cancer):
    one = CriterionSelection("disr", n_jobs=1).fit(*breast_cancer)
    four = CriterionSelection("disr", n_jobs=4).fit(*breast_cancer)
    assert one.path_ == four.path_


def test_in_a_pipeline_with_weights():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(CriterionSelection("jmi", 5), GaussianNB())
    weights = np.ones(len(y))
    model.fit(X, y, criterionselection__sample_weight=weights)
    assert model[0].n_features_in_ == 13
    assert model.score(X, y) > 0.9  # five of thirteen columns do: all of them have 1.0


def test_an_unknown_criterion_is_named():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(
        ValueError, match=r"The 'criterion' parameter of CriterionSelection must be"
    ):
        CriterionSelection("jim").fit(X, y)


def test_an_interrupt_leaves_the_sets_seen_so_far(monkeypatch, breast_cancer):
    real, counted = CountTables.joint, []

    def interrupted(tables, *groups, **options):
        counted.append(groups)
        if len(counted) == 4:  # relevance, then one table for each feature but the last
            raise KeyboardInterrupt
        return real(tables, *groups, **options)

    monkeypatch.setattr(CountTables, "joint", interrupted)
    selector = CriterionSelection("jmi")
    with pytest.warns(pinsker.exceptions.PinskerWarning, match=r"interrupted after 3 steps"):
        selector.fit(*breast_cancer)
    assert selector.path_.order == (22, 24, 23)
    assert not selector.path_.complete


@pytest.mark.parametrize("weighted", [False, True])
def test_a_search_goes_on_where_it_ended(weighted, breast_cancer):
    X, y = breast_cancer
    weights = np.random.default_rng(5).exponential(size=len(y)) if weighted else None
    at_once = CriterionSelection("mrmr", 12).fit(X, y, sample_weight=weights)
    selector = CriterionSelection("mrmr", 5, warm_start=True).fit(X, y, sample_weight=weights)
    selector.set_params(n_features_to_select=12).fit(X, y, sample_weight=weights)
    assert selector.path_ == at_once.path_


def test_other_weights_start_from_scratch(breast_cancer):
    X, y = breast_cancer
    weights = np.random.default_rng(5).exponential(size=len(y))
    selector = CriterionSelection("mrmr", 5, warm_start=True).fit(X, y)
    selector.fit(X, y, sample_weight=weights)
    assert selector.path_ == CriterionSelection("mrmr", 5).fit(X, y, sample_weight=weights).path_


def test_a_tested_search_goes_on_only_from_a_tested_one(breast_cancer):
    X, y = breast_cancer
    rule = PermutationTest(n_permutations=19)
    want = CriterionSelection("cmim", stop=rule).fit(X, y).path_
    selector = CriterionSelection("cmim", 3, warm_start=True).fit(X, y)
    assert selector.set_params(stop=rule).fit(X, y).path_ == want
    assert selector.fit(X, y).path_ == want


def test_the_budget_is_a_rule_and_no_parameter(breast_cancer):
    assert "error_budget" not in CriterionSelection().get_params()
    with pytest.raises(TypeError, match="error_budget"):
        CriterionSelection(error_budget=0.1)
    path = CriterionSelection("jmi", 4).fit(*breast_cancer)
    assert path.support_at(n_features=2).sum() == 2
    assert path.support_at(error_budget=FeatureCount(3)).sum() == 3


def test_the_metric_decides_how_the_target_is_read():
    X, y = load_wine(return_X_y=True)
    assert CriterionSelection(metric="error").fit(X, y).facts_.n_classes == 3
    numbers = CriterionSelection(metric="r2", bins=2).fit(X, y)
    assert any("the numeric target was cut into bins" in note for note in numbers.notes_)


def test_the_selector_runs_the_search(breast_cancer):
    X, y = breast_cancer
    selector = CriterionSelection("cmim", 6, fixed_features=[3]).fit(X, y)
    (path,) = search_rows(encode(X, y, scale="none"), selector.as_search((3,)))
    assert path.order == selector.path_.order
    assert path.scores == selector.path_.scores


def test_the_front_door_takes_it_as_a_search(breast_cancer):
    X, y = breast_cancer
    selector = FeatureSelector(
        searches=[CriterionSelection("jmi", 12), ("by relevance", CriterionSelection("mim", 12))],
        models=["linear"], cv=3, random_state=0,
    ).fit(X, y)  # fmt: skip
    names = {"all features", "CriterionSelection", "by relevance", "pruned"}
    assert set(selector.cv_results_["search"]) == names
    assert selector.support_.sum() < 12
    assert selector.path_.order == CriterionSelection("jmi", 12).fit(X, y).path_.order
    frame = selector.path_.to_frame()
    assert frame["feature"].iloc[0] == "worst perimeter"


def test_a_criterion_that_keeps_nothing_says_why():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    selector = CriterionSelection("cmi", 2, binning="mdl").fit(X, y)
    assert not selector.support_.any()
    (note,) = [note for note in selector.notes_ if "no feature was kept" in note]
    assert "(3 of 3 columns are one bin)" in note
    assert "binning='frequency'" in note
    both = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (10, 1))
    selector = CriterionSelection("cmi", 2).fit(both, both[:, 0] ^ both[:, 1])
    assert any("'cmi' ends there. Use another criterion" in note for note in selector.notes_)
