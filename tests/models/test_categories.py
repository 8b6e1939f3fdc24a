"""Columns with many categories: layouts, codes for trees, and what they cost."""

import time
import tracemalloc

import numpy as np
import pytest

from pinsker import FeatureSelector
from pinsker.encoding import encode_columns
from pinsker.engine import boosted_scores
from pinsker.models import (
    OTHER_CODE,
    BoostedTrees,
    ExtraTrees,
    ModelDesign,
    PriorModel,
    _defaults,
    _design,
    code_by_frequency,
    default_models,
    one_hot,
    order_by_target,
)


def names(codes):
    return np.array([f"c{code:05d}" for code in codes], dtype=object)


def design_of(*columns, **options):
    table = encode_columns(
        np.column_stack([np.asarray(c, dtype=object) for c in columns]), **options
    )
    return ModelDesign.of(table, [[j] for j in range(len(columns))]), table


def one_hot_of_version_0_1(columns):
    """Lay out all categories of all columns, as version 0.1 did."""
    blocks = []
    for j, kind in enumerate(columns.kinds):
        values = columns.values[:, j]
        if kind.name == "NOMINAL":
            blocks.append((values[:, None] == np.unique(values)).astype(float))
            continue
        spread = values.std()
        scaled = (values - values.mean()) / (spread if spread > 0 else 1.0)
        blocks.append(scaled[:, None])
        if columns.missing is not None and columns.missing[:, j].any():
            absent = columns.missing[:, j]
            blocks[-1] = np.column_stack([np.where(absent, 0.0, scaled), absent])
    return np.hstack(blocks)


def mixed_table(rng, n=200, n_categories=50):
    number = rng.normal(size=n).astype(object)
    number[rng.random(n) < 0.1] = None
    few = rng.choice(["x", "y", "z"], n)
    many = names(np.r_[np.arange(n_categories), rng.integers(0, n_categories, n - n_categories)])
    return number, few, rng.normal(3.0, 2.0, size=n), many, np.full(n, 2.5)


def test_up_to_fifty_categories_nothing_changed_to_the_last_bit(seed):
    design, table = design_of(*mixed_table(np.random.default_rng(seed)), missing="category")
    expected = one_hot_of_version_0_1(table)
    np.testing.assert_array_equal(design.values, expected)
    rows = np.random.default_rng(seed).permutation(200)[:77]
    taken = design.take(rows, [3, 0, 4])
    columns = np.concatenate([design.places[feature] for feature in (0, 3, 4)])
    np.testing.assert_array_equal(taken, expected[np.ix_(rows, columns)])
    assert taken.flags.c_contiguous
    assert not design.layout("one-hot").is_categorical(range(5)).any()


def test_above_a_limit_of_categories_the_rare_ones_share_a_column(monkeypatch):
    monkeypatch.setattr(_design, "MAX_ONE_HOT", 50)
    codes = np.r_[np.repeat(np.arange(60), 3), np.arange(9, 60)]  # the first nine are rarest
    design, _ = design_of(names(codes))
    values = design.values
    assert values.shape == (len(codes), 51)
    np.testing.assert_array_equal(values[:, :50], codes[:, None] == np.arange(9, 59))
    np.testing.assert_array_equal(values[:, 50], (codes < 9) | (codes == 59))


def test_coded_layout_by_hand(seed):
    rng = np.random.default_rng(seed)
    columns = mixed_table(rng, n_categories=40)
    design, table = design_of(*columns, missing="category")
    rows = rng.permutation(200)[:50]
    coded = design.layout("coded")
    taken = coded.take(rows, [3, 1, 0])
    np.testing.assert_array_equal(coded.is_categorical([3, 1, 0]), [False, True, True])
    absent = np.array([value is None for value in columns[0]])[rows]
    np.testing.assert_array_equal(np.isnan(taken[:, 0]), absent)
    scaled = (table.values[:, 0] - table.values[:, 0].mean()) / table.values[:, 0].std()
    np.testing.assert_array_equal(taken[~absent, 0], scaled[rows][~absent])
    for place, feature in ((1, 1), (2, 3)):
        categories = np.array(table.categories[feature])
        np.testing.assert_array_equal(
            categories[taken[:, place].astype(int)], columns[feature][rows]
        )


def test_mixed_layout_is_one_hot_up_to_ten_categories():
    rng = np.random.default_rng(0)
    ten, eleven = names(np.arange(220) % 10), names(np.arange(220) % 11)
    number = rng.normal(size=220).astype(object)
    number[:5] = None
    design, table = design_of(ten, eleven, number, missing="category")
    mixed, rows = design.layout("mixed"), np.arange(220)
    taken = mixed.take(rows, range(3))
    expected = np.column_stack([design.take(rows, [0]), table.values[:, 1], design.take(rows, [2])])
    np.testing.assert_array_equal(taken, expected)
    assert np.flatnonzero(mixed.is_categorical(range(3))).tolist() == [10]


@pytest.mark.parametrize("layout", ["one-hot", "coded", "mixed"])
def test_shuffling_is_the_same_in_every_layout(layout):
    rng = np.random.default_rng(4)
    design, _ = design_of(*mixed_table(rng), missing="category")
    order, rows = rng.permutation(200), np.arange(200)
    before, after = design.layout(layout), design.with_shuffled([1, 2], order).layout(layout)
    np.testing.assert_array_equal(after.take(rows, [1, 2]), before.take(rows, [1, 2]))
    np.testing.assert_array_equal(after.take(rows, [0, 3, 4]), before.take(order, [0, 3, 4]))


def test_codes_by_frequency_against_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    train = np.floor(300 * rng.random((2000, 1)) ** 2)
    test = np.floor(400 * rng.random((500, 1)))
    own, others = code_by_frequency(train, test, np.array([True]))
    counts = {code: int((train == code).sum()) for code in np.unique(train)}
    ranked = sorted(counts, key=lambda code: (-counts[code], code))[:OTHER_CODE]
    expected = {code: rank for rank, code in enumerate(ranked)}
    assert own.ravel().tolist() == [expected.get(code, OTHER_CODE) for code in train.ravel()]
    assert others.ravel().tolist() == [expected.get(code, OTHER_CODE) for code in test.ravel()]


def test_boosted_trees_split_three_hundred_categories_natively(monkeypatch):
    rng = np.random.default_rng(0)
    codes = np.r_[np.arange(300), rng.integers(0, 300, 3700)]
    labels = (rng.random(300) < 0.5).astype(np.int64)[codes]
    design, _ = design_of(names(codes))
    train, test = np.flatnonzero(codes < 290), np.flatnonzero(codes >= 290)
    half = len(train) // 2
    test = np.r_[test, train[:half]]
    train = train[half:]
    layout = design.layout(BoostedTrees.layout)
    seen = []

    def watched(fitted, target, predicted, *rest, **how):
        seen.extend([fitted, predicted])
        return boosted_scores(fitted, target, predicted, *rest, **how)

    monkeypatch.setattr(_defaults, "boosted_scores", watched)
    monkeypatch.setattr(_defaults, "_SET_ASIDE", 0.0)  # all rows of a category are fitted to
    scores = BoostedTrees().fit_predict_scores(
        layout.take(train, [0]), labels[train], layout.take(test, [0]), 2,
        categorical=layout.is_categorical([0]),
    )  # fmt: skip
    fitted, predicted = seen
    assert fitted.max() <= OTHER_CODE
    assert predicted.max() <= OTHER_CODE
    assert (predicted[codes[test] >= 290] == OTHER_CODE).all()
    # Categories with few training rows are told apart by none; the others are never mistaken.
    counts = np.bincount(codes[train], minlength=300)
    known = counts[codes[test]] >= 10
    assert known.sum() > 100
    assert (scores.argmax(axis=1)[known] == labels[test][known]).all()


def test_boosted_trees_are_those_of_the_kernel_with_rows_set_aside():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 4))
    y = x[:, 0] * x[:, 1] + rng.normal(size=300)
    stopped, whole = default_models("regression", 10**5)[-2:]
    assert isinstance(stopped, BoostedTrees)
    assert isinstance(whole, BoostedTrees)
    # Of the rows in the order of their targets every seventh or so, 45 of 300, is set aside.
    order = np.argsort(y)
    aside = np.diff(np.floor(0.15 * np.arange(301))) > 0
    order = np.r_[order[~aside], order[aside]]
    scaled = (y - y.mean()) / y.std()
    for model, rows, n_fit, rounds in (
        (stopped, order, 255, 300),
        (whole, np.argsort(y), 300, 100),  # all rows, and a number of rounds that is set
    ):
        plain = boosted_scores(
            x[rows], scaled[rows], x, np.zeros(4, dtype=bool), np.ones(300), n_classes=0,
            n_fit=n_fit, n_rounds=rounds, n_leaves=15, min_leaf=10, patience=20, n_bins=128,
            rate=0.1,
        )  # fmt: skip
        found = model.fit_predict(x, y[:, None], x)[:, 0]
        np.testing.assert_array_equal(found, plain[:, 0] * y.std() + y.mean())


def test_boosted_trees_of_all_rows_see_what_repeats():
    """Classes of children that are measured three times: the stopped trees ended too early."""
    rng = np.random.default_rng(0)
    child = np.repeat(rng.permutation(150), 3)
    y = rng.integers(2, size=150)[child]
    x = np.column_stack([child, rng.normal(size=(450, 3))])
    test = rng.random(450) < 0.3
    errors = {}
    for model in default_models("classification", 450)[-2:]:
        scores = model.fit_predict_scores(x[~test], y[~test], x[test], 2)
        errors[model.name] = np.mean(scores.argmax(axis=1) != y[test])
    assert errors["boosted trees (100 rounds)"] < errors["boosted trees"] - 0.02
    selector = FeatureSelector(0.05, random_state=0).fit(x, y)
    assert "100 rounds" in selector.certificate_.model_all
    assert selector.support_[0]


def test_target_codes_of_test_rows_by_hand():
    rng = np.random.default_rng(2)
    train, test = rng.integers(0, 20, 400), np.array([3, 7, 99])
    y = rng.normal(size=400)
    own, others = order_by_target(
        np.column_stack([y, train]), np.column_stack([[0.0, 1.0, 2.0], test]), y[:, None],
        np.array([False, True]),
    )  # fmt: skip
    np.testing.assert_array_equal(own[:, 0], y)
    means = [(y[train == c].sum() + 10 * y.mean()) / ((train == c).sum() + 10) for c in (3, 7)]
    np.testing.assert_allclose(others[:, 1], [*means, y.mean()], rtol=1e-12)


@pytest.mark.parametrize(("n_classes", "width"), [(2, 1), (3, 2), (4, 3), (9, 3)])
def test_classes_make_at_most_three_columns(n_classes, width):
    rng = np.random.default_rng(3)
    codes, labels = rng.integers(0, 40, 500), rng.integers(0, n_classes, 500)
    targets = one_hot(labels, np.arange(1 if n_classes == 2 else 0, n_classes))
    own, others = order_by_target(
        codes[:400, None] * 1.0, codes[400:, None] * 1.0, targets[:400], np.array([True])
    )
    assert own.shape == (400, width)
    assert others.shape == (100, width)


def test_rows_of_irrelevant_categories_are_not_coded_by_their_own_target():
    rng = np.random.default_rng(5)
    codes, y = rng.integers(0, 300, (1000, 1)) * 1.0, rng.normal(size=(1000, 1))
    own, _ = order_by_target(codes, codes, y, np.array([True]))
    assert np.corrcoef(own[:, 0], y[:, 0])[0, 1] < 0.1
    effects = 3.0 * rng.normal(size=20)
    codes = rng.integers(0, 20, (1000, 1)) * 1.0
    y = y + effects[codes.astype(int)]
    own, others = order_by_target(codes, codes, y, np.array([True]))
    np.testing.assert_array_equal(own, others)  # one number per category


def losses_and_times(model_columns, y, folds):
    model, found, times = ExtraTrees(), [], []
    for (train, test), (columns, mask) in zip(folds, model_columns, strict=True):
        begun = time.process_time()
        predicted = model.fit_predict(columns[train], y[train], columns[test], categorical=mask)
        times.append(time.process_time() - begun)
        found.append(np.square(predicted - y[test])[:, 0])
    return np.concatenate(found) / y.var(), sum(times)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_extra_trees_on_125_categories_are_no_worse_than_one_hot_and_faster(weight):
    rng = np.random.default_rng(6)
    n, codes = 1500, rng.integers(0, 125, 1500)
    x = rng.normal(size=(n, 3))
    effects = rng.normal(size=125)[codes]
    y = (x[:, 0] + x[:, 1] * x[:, 2] + weight * effects + 0.5 * rng.normal(size=n))[:, None]
    design, _ = design_of(*x.T, names(codes))
    part = rng.permutation(n) % 5
    folds = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(3)]
    layout, rows = design.layout("mixed"), np.arange(n)
    coded = (layout.take(rows, range(4)), layout.is_categorical(range(4)))
    wide = np.column_stack([design.take(rows, range(3)), one_hot(codes, np.arange(125))])
    before, slow = losses_and_times([(wide, None)] * 3, y, folds)
    after, fast = losses_and_times([coded] * 3, y, folds)
    gaps = after - before
    print(f"\nloss {before.mean():.3f} -> {after.mean():.3f}, {slow / fast:.1f} times faster")  # noqa: T201
    assert gaps.mean() < 2 * gaps.std() / np.sqrt(len(gaps))
    assert slow > 2 * fast


def test_extra_trees_of_few_categories_are_those_of_one_hot():
    rng = np.random.default_rng(7)
    design, _ = design_of(rng.normal(size=90), names(rng.integers(0, 10, 90)))
    rows, y = np.arange(90), rng.normal(size=(90, 1))
    layout = design.layout(ExtraTrees.layout)
    mixed, mask = layout.take(rows, [0, 1]), layout.is_categorical([0, 1])
    wide = design.take(rows, [0, 1])
    np.testing.assert_array_equal(
        ExtraTrees().fit_predict(mixed, y, mixed, categorical=mask),
        ExtraTrees().fit_predict(wide, y, wide),
    )


@pytest.mark.slow
def test_four_thousand_categories_take_little_memory():
    rng = np.random.default_rng(8)
    codes = np.r_[np.arange(4000), rng.integers(0, 4000, 16000)]
    table = encode_columns(names(codes)[:, None])
    y = rng.normal(size=(20000, 1))
    tracemalloc.start()
    layout = ModelDesign.of(table, [[0]]).layout("coded")
    rows = np.arange(20000)
    train, test = layout.take(rows[:16000], [0]), layout.take(rows[16000:], [0])
    design_peak = tracemalloc.get_traced_memory()[1]
    boosted = default_models("regression", 20000)[-1]
    assert isinstance(boosted, BoostedTrees)
    predicted = boosted.fit_predict(train, y[:16000], test, categorical=layout.is_categorical([0]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert predicted.shape == (4000, 1)
    assert design_peak < 20e6
    assert peak < 60e6  # one-hot columns would be 640 MB


def test_the_prior_takes_the_mask_as_well():
    labels = np.array([0, 0, 1])
    scores = PriorModel().fit_predict_scores(
        np.zeros((3, 1)), labels, np.zeros((1, 1)), 2, categorical=np.array([True])
    )
    assert scores.shape == (1, 2)
