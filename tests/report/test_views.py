"""What selectors show of themselves: figures, and their face in a notebook."""

import pickle
import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

from pinsker import BackwardElimination, FeatureCount, FeatureSelector
from pinsker.exceptions import ParameterError
from pinsker.holdout import RoughIncrease
from pinsker.report import (
    BoundDisplay,
    BudgetDisplay,
    CertificateDisplay,
    ErrorIncreaseDisplay,
    ImportanceDisplay,
    SelectionPathDisplay,
    card,
)

mpl.use("agg")


@pytest.fixture
def axes():
    """Return new axes, closed afterwards."""
    from matplotlib import pyplot

    yield lambda n=1: pyplot.subplots(n)[1]
    pyplot.close("all")


def test_path_display_draws_the_path(selector, axes):
    ax = axes()
    display = SelectionPathDisplay.from_estimator(selector, ax=ax, linewidth=3)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.line_.get_linewidth() == 3
    assert np.array_equal(display.line_.get_ydata(), selector.path_.information)
    assert display.kept == selector.support_.sum()


def test_bound_display_draws_bound_and_budget(selector, axes):
    display = BoundDisplay.from_estimator(selector, ax=axes())
    bounds = selector.path_.bounds[-2::-1]  # backward, and never of the empty set
    best = [min(bounds[: i + 1]) for i in range(len(bounds))]
    assert np.array_equal(display.line_.get_ydata(), best)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["bound", "by itself", "budget 0.1", "4 kept"]


def test_bound_display_never_rises(axes):
    display = BoundDisplay(
        sizes=np.array([4, 3, 2, 1, 0]),
        bounds=np.array([0.2, 0.0, 0.1, 0.3, 0.5]),
        metric="error",
        budget=None,
        kept=3,
    ).plot(ax=axes())
    assert display.line_.get_xdata().tolist() == [1, 2, 3, 4]
    assert display.line_.get_ydata().tolist() == [0.3, 0.1, 0.0, 0.0]
    _, alone, _ = display.ax_.get_lines()
    assert (alone.get_xdata().tolist(), alone.get_ydata().tolist()) == ([4], [0.2])


def test_certificate_display_draws_the_bound(selector, axes):
    display = CertificateDisplay.from_estimator(selector, ax=axes())
    assert [limit for _, _, limit in display.statements] == [selector.certificate_.bound]
    assert display.ax_.get_title(loc="left") == "budget not tested (no rows were held out)"


def test_displays_draw_what_held_out_rows_showed(cross_fitted, axes):
    display = SelectionPathDisplay.from_estimator(cross_fitted, ax=axes())
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    searches = ("forward", "linear", "pruned", "all features")
    assert {f"held out: {search}" for search in searches} < set(labels)
    assert len(display.ax_.collections) == len(searches)  # one band each
    certificate = cross_fitted.certificate_
    drawn = CertificateDisplay.from_estimator(cross_fitted, ax=axes()).statements
    increase = certificate.increase, certificate.increase_upper
    assert increase in [statement[1:] for statement in drawn]


def test_a_display_can_be_drawn_again(selector, axes):
    display = SelectionPathDisplay.from_estimator(selector, ax=axes())
    first = display.ax_
    assert display.plot(ax=axes()).ax_ is not first


@pytest.mark.parametrize(
    ("kind", "display"),
    [
        ("increase", ErrorIncreaseDisplay),
        ("path", SelectionPathDisplay),
        ("bound", BoundDisplay),
        ("certificate", CertificateDisplay),
    ],
)
def test_plot_by_kind(selector, axes, kind, display):
    assert isinstance(selector.plot(kind, ax=axes()), display)


def test_plot_draws_the_error_increase(cross_fitted, axes):
    display = cross_fitted.plot(ax=axes())
    assert isinstance(display, ErrorIncreaseDisplay)
    results = cross_fitted.cv_results_
    own = results["search"] == display.search
    assert np.array_equal(
        np.sort(display.line_.get_ydata()), np.sort(results["increase"][own].astype(float))
    )
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert {"forward", "linear", "budget 0.05"} < set(labels)
    assert any(label.startswith("no features") for label in labels)
    assert display.ax_.get_ylabel() == "increase of the error rate"
    assert len(display.ax_.collections) == 1  # the band of the search whose set is kept


def test_plot_without_held_out_rows_draws_the_bound(selector, axes):
    display = selector.plot(ax=axes())
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["bound, not tested", "budget 0.1", "4 kept"]
    heights = display.line_.get_ydata()
    assert (np.diff(heights) <= 0).all()  # a larger set never holds less information


def test_the_curve_of_the_paper(selector, cross_fitted, axes):
    display = BudgetDisplay.from_estimator(selector, ax=axes())  # nothing held out: the bound
    assert (np.diff(display.kept[0]) <= 0).all()  # a larger budget keeps no more
    assert np.array_equal(display.kept[0], display.kept[1])
    assert (display.increase[0] <= display.budgets + 1e-9).all()
    at = int(np.argmin(np.abs(display.budgets - 0.1)))
    assert display.kept[0, at] == selector.support_.sum()
    display = cross_fitted.plot(kind="budget", ax=axes())
    assert isinstance(display, BudgetDisplay)
    lower, upper = display.increase[1:]
    assert (lower <= upper + 1e-12).all()
    assert (display.kept[1] <= display.kept[0]).all()  # likely, and shown
    for budget, size in zip(display.budgets[::9], display.kept[0][::9], strict=True):
        assert cross_fitted.support_at(error_budget=float(budget)).sum() == size
    assert display.ax_.get_xlabel() == "error budget"
    assert len(display.ax_.figure.axes) >= 2  # the number of features has an axis of its own


def test_plot_refuses_what_it_does_not_know(selector):
    with pytest.raises(ParameterError, match="'bound', 'budget', 'certificate'; found 'pie'"):
        selector.plot("pie")


def test_notebook_shows_the_choice_and_the_diagram(selector):
    html = selector._repr_mimebundle_()["text/html"]
    assert "4 of 13 features stay" in html
    assert "error rate may rise by 0.1 · budget not tested (no rows were held out)" in html
    assert "flavanoids, color_intensity, proline, alcohol" in html
    assert "sk-top-container" in html  # scikit-learn's own is still there
    assert "4 of 13 features stay" in selector._repr_html_()


def test_notebook_without_a_fit_is_that_of_scikit_learn():
    html = BackwardElimination()._repr_mimebundle_()["text/html"]
    assert "features stay" not in html


def test_notebook_respects_the_text_display(selector):
    with config_context(display="text"):
        assert "text/html" not in selector._repr_mimebundle_()
        assert not hasattr(selector, "_repr_html_")


def test_card_escapes_and_shortens_names(hostile):
    X, y = hostile[1:]
    html = card(BackwardElimination(FeatureCount(10)).fit(X, y))
    assert "<script" not in html
    assert "<img" not in html
    assert "long" * 11 not in html
    assert "FeatureCount(k=10)" in html


@pytest.mark.parametrize("method", ["report", "plot"])
def test_nothing_to_show_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(BackwardElimination(), method)()


def test_card_needs_no_extra():
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from sklearn.datasets import load_wine; from pinsker import BackwardElimination\n"
        "X, y = load_wine(return_X_y=True)\n"
        "html = BackwardElimination(error_budget=0.1).fit(X, y)._repr_html_()\n"
        "print('features stay' in html, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_reprs_are_short(cross_fitted, findings):
    results = [
        cross_fitted, cross_fitted.certificate_, cross_fitted.path_, cross_fitted.cv_results_,
        cross_fitted.stability_, cross_fitted.report(), *findings.values(),
    ]  # fmt: skip
    for result in results:
        assert len(repr(result)) < 400, type(result)
    assert repr(cross_fitted.certificate_).startswith("Certificate(6 of 13 features, ")
    assert repr(cross_fitted.cv_results_).endswith("to_frame() shows them)")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_results_as_frames(cross_fitted, library):
    results = cross_fitted.cv_results_
    assert isinstance(results, dict)  # as in GridSearchCV
    frame = results.to_frame(library)
    assert type(frame).__module__.startswith(library)
    assert list(frame["increase"]) == results["increase"].tolist()
    row = list(frame["n_features"]).index(1)
    assert frame["features"][row] == results["features"][row][0]
    assert "support" not in frame.columns
    path = cross_fitted.path_.to_frame(library)
    assert len(path["size"]) == len(cross_fitted.path_.moves)


def test_frames_where_nothing_was_held_out(selector):
    assert selector.cv_results_ == {}
    assert selector.cv_results_.to_frame().empty
    assert repr(selector.cv_results_) == "CVResults(no rows were held out)"
    with pytest.raises(ParameterError, match="library='dask' is not known"):
        selector.cv_results_.to_frame("dask")


def test_results_survive_pickling(cross_fitted):
    again = pickle.loads(pickle.dumps(cross_fitted)).cv_results_
    assert type(again) is type(cross_fitted.cv_results_)
    assert again["error"].tolist() == cross_fitted.cv_results_["error"].tolist()
    assert again.rough == cross_fitted.cv_results_.rough != ()


def test_set_output_reaches_the_table(wine):
    X = wine[0].to_numpy()
    other = BackwardElimination(error_budget=0.1).fit(X, wine[1])
    names = list(other.get_feature_names_out())
    assert list(other.set_output(transform="pandas").transform(X).columns) == names
    assert other.set_output(transform="polars").transform(X).columns == names


def test_importance_is_drawn_in_any_metric(findings, axes):
    importance = replace(findings["importance"], metric="roc_auc")
    display = ImportanceDisplay.from_importance(importance, ax=axes())
    assert display.ax_.get_xlabel() == "error that a feature saves (ROC AUC)"


@pytest.fixture(scope="module")
def by_auc():
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"models": ["linear"], "searches": ["linear"], "cv": 3, "random_state": 0}
    return FeatureSelector(0.02, metric="roc_auc", **settings).fit(X[:300], y[:300])


def test_no_display_draws_empty_axes(by_auc, axes):
    """Of ROC AUC there is no bound: its axes were empty, and so was a row of the certificate."""
    with pytest.raises(ParameterError, match=r"no increase of ROC AUC.*plot\('increase'\)"):
        BoundDisplay.from_estimator(by_auc, ax=axes())
    display = CertificateDisplay.from_estimator(by_auc, ax=axes())
    assert all(np.isfinite(upper) for _, _, upper in display.statements)
    rows = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert rows == [name for name, _, _ in display.statements]
    drawn = {row for line in display.ax_.get_lines()[:-2] for row in line.get_ydata()}
    assert drawn == set(range(len(rows)))


def test_the_likely_set_is_marked_and_a_far_level_is_named(by_auc, axes):
    likely = len(by_auc.certificate_.likely)
    display = ErrorIncreaseDisplay.from_estimator(by_auc, ax=axes())
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"{display.kept} kept" in labels
    assert (f"{likely} likely" in labels) == (0 < likely < display.kept)
    assert any(label.startswith("no features: 0.") for label in labels)
    assert display.ax_.get_ylim()[1] < display.baseline
    marked = replace(display, likely=2).plot(ax=axes())
    assert "2 likely" in [text.get_text() for text in marked.ax_.get_legend().get_texts()]


def test_the_curve_shows_estimates_of_some_folds_hollow(by_auc, axes):
    rough = by_auc.cv_results_.rough
    assert rough
    results = by_auc.cv_results_
    known = set(zip(results["search"], results["n_features"].tolist(), strict=True))
    assert not known & {(one.search, one.n_features) for one in rough}
    display = by_auc.plot(ax=axes())
    by_label = {line.get_label(): line for line in display.ax_.get_lines()}
    marks = by_label["estimate of some folds"]
    assert marks.get_xdata().tolist() == [one.n_features for one in rough]
    assert marks.get_ydata().tolist() == [one.increase for one in rough]
    assert marks.get_markerfacecolor() == "white"
    assert marks.get_linestyle() == "None"
    # The line and its band are of those that all folds evaluated.
    own = results["search"] == display.search
    assert sorted(display.line_.get_xdata()) == sorted(results["n_features"][own])


def test_a_steep_estimate_does_not_flatten_the_curve(by_auc, axes):
    flat = replace(by_auc.plot(ax=axes()), rough=()).plot(ax=axes())
    steep = replace(flat, rough=(RoughIncrease("linear", 1, 40.0),)).plot(ax=axes())
    assert steep.ax_.get_ylim()[1] == pytest.approx(3.0 * flat.ax_.get_ylim()[1], rel=0.05)


def test_legends_of_own_figures_are_beside_the_axes(by_auc, axes):
    for display in (by_auc.plot(), SelectionPathDisplay.from_estimator(by_auc)):
        display.figure_.canvas.draw()
        legend = display.ax_.get_legend().get_window_extent()
        assert legend.x0 >= display.ax_.get_window_extent().x1
        assert legend.x1 <= display.figure_.bbox.x1
    del axes


def test_importance_display_has_a_bar_for_every_feature(findings, axes):
    importance = findings["importance"]
    display = ImportanceDisplay.from_importance(importance, ax=axes())
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert sorted(widths) == pytest.approx(sorted(display.values))
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == list(display.features)


def test_notebooks_show_results_as_they_do_selectors(cross_fitted, findings):
    results = [
        cross_fitted.certificate_, cross_fitted.path_, findings["importance"],
        findings["interactions"],
    ]  # fmt: skip
    for result in results:
        html = result._repr_html_()
        assert html.startswith("<div style=")
        assert html.count("<div") == html.count("</div>")
        assert "color:#000" not in html  # dark notebooks have letters of their own
    said = results[0]._repr_html_()
    for text in ("6 of 13 features", "error rate may rise by 0.05", "cross-fitting"):
        assert text in said
    assert "flavanoids" in results[1]._repr_html_()
    assert "proline" in results[2]._repr_html_()


def test_notebooks_escape_names(hostile):
    X, y = hostile[1:]
    selector = BackwardElimination(FeatureCount(10)).fit(X, y)
    for result in (selector.path_, selector.certificate_):
        assert "<script" not in result._repr_html_()
        assert "<img" not in result._repr_html_()
