"""The page: well formed, alone in the world, and deaf to names."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from pinsker import (
    BackwardElimination,
    ErrorBudget,
    FeatureSelector,
    ForwardBackwardSelection,
    ForwardSelection,
    LinearSelection,
)
from pinsker.exceptions import DataWarning, MissingDependencyError, ParameterError
from pinsker.report import summarise, to_html, to_json

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Outline(HTMLParser):
    """Keeps tags in balance, and what the tests look at."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.wrong = [], [], []
        self.texts = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data

    def all(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def hostile_page(hostile):
    fitted, X, y = hostile
    return to_html(summarise(fitted, X, y))


def test_an_estimate_is_not_shown_as_a_budget_met_for_sure():
    """The command ends with 3 there, so the head of the page is not green, and says so."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    fitted = FeatureSelector(0.3, models=["linear"], searches=["linear"], random_state=0)
    fitted.fit(X, X[:, 0] > 1)
    assert (fitted.certificate_.verdict, fitted.certificate_.label) == ("met", "estimate")
    page = to_html(summarise(fitted, X, X[:, 0] > 1))
    assert 'class="verdict verdict-in-doubt"' in page
    assert "Budget met (estimate)" in page
    assert "1 sets" not in page
    assert str(fitted.certificate_).startswith("1 of 3 features; budget met (estimate)\n")


@pytest.mark.parametrize("which", ["page", "hostile_page"])
def test_well_formed(which, request):
    outline = Outline(request.getfixturevalue(which))
    assert outline.wrong == []
    assert outline.open == []


def test_the_parser_sees_what_is_wrong():
    assert Outline("<p><b></p></b>").wrong


def test_landmarks_labels_and_headers(page):
    outline = Outline(page)
    tags = [tag for tag, _ in outline.found]
    assert [tags.count(tag) for tag in ("header", "main", "footer", "h1")] == [1, 1, 1, 1]
    ids = [attributes["id"] for _, attributes in outline.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for attributes in outline.all("section"):
        assert attributes["aria-labelledby"] in ids
    labelled = {attributes["for"] for attributes in outline.all("label")}
    assert {attributes["id"] for attributes in outline.all("input")} <= labelled
    assert all(attributes.get("scope") in ("col", "row") for attributes in outline.all("th"))
    assert any(attributes.get("aria-live") == "polite" for _, attributes in outline.found)
    assert outline.all("html") == [{"lang": "en"}]


def test_no_address_is_loaded(page):
    outline = Outline(page)
    for _, attributes in outline.found:
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    assert outline.all("link") == []
    policy = outline.all("meta")[1]["content"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy


def test_names_are_text(hostile, hostile_page):
    outline = Outline(hostile_page)
    scripts = outline.all("script")
    assert len(scripts) == 2  # data, and the page's own
    assert "onerror" not in str([attributes for _, attributes in outline.found])
    assert "onmouseover" not in str([attributes for _, attributes in outline.found])
    assert outline.all("img") == []
    island = re.search(
        r'<script type="application/json" id="following">(.*?)</script>', hostile_page
    )
    assert "<script>window.pwned = 1</script>" in json.loads(island[1])["states"][0]["status"]
    assert "{{ 7 * 7 }}" in outline.texts["span"]


def test_headline_and_every_section(page, summary):
    outline = Outline(page)
    assert outline.texts["h1"].split() == ["4", "of", "13", "features", "stay"]
    assert "Error budget 0.1: error rate may rise by 0.1." in page
    assert "may be lost" not in page
    for title in (
        "What would another budget keep?", "How far the error rate rises with fewer features",
        "The features, ranked", "How sure is that?", "What replaced what", "The data as understood",
        "For experts", "Do it again",
    ):  # fmt: skip
        assert title in outline.texts["h2"]
    for sentence in summary["certificate"]["sentences"]:
        assert sentence in page
    assert "BackwardElimination(error_budget=0.1)" in page


def test_the_page_names_table_target_rows_and_metric(full_page, cross_fitted):
    text = re.sub(r"<[^>]+>", "", full_page)
    about = "Predicting target from cellar/wines, 1991.csv: 178 rows, 13 features, measured by "
    assert about + "error rate" in text
    assert "selector.fit(X, y)" in text  # the call that made it
    typed = "pinsker select wines.csv --target target"
    page = to_html(summarise(cross_fitted, command=typed))
    assert typed in page
    assert "selector.fit(X, y)" not in page


def test_every_finding_has_its_section(full_page, page):
    titles = (
        "Would other rows choose the same?", "Features that work together",
        "What could replace a kept feature", "Other sets within the budget",
    )  # fmt: skip
    for title in titles:
        assert title in Outline(full_page).texts["h2"]
        assert title not in Outline(page).texts["h2"]
    assert "40 of 400 rows were seen by fit" in full_page


def test_r2_is_r2(numeric):
    fitted, X, y = numeric
    page = to_html(summarise(fitted, X, y))
    assert "How far R² falls with fewer features" in page
    assert "Error budget 0.2: R² may fall by 0.2." in page
    assert "measured by R²" in page
    assert "share of the target" not in page


def test_r2_of_held_out_rows_is_r2(numeric):
    _, X, y = numeric
    options = {"searches": ["linear"], "cv": 2, "models": ["linear"], "random_state": 0}
    fitted = FeatureSelector(0.05, **options).fit(X, y)
    certificate, tiles = fitted.certificate_, own_tiles(fitted)
    assert tiles["R², kept features"] == f"{1 - certificate.error_kept:.4f}"
    assert tiles["R², all features"] == f"{1 - certificate.error_all:.4f}"
    assert tiles["R² may fall by, 95\xa0% upper bound"] == f"{certificate.resolvable:.4f}"


def own_tiles(fitted):
    page = to_html(summarise(fitted))
    labels = re.findall(r'data-tile="label">(.*?)<', page)
    values = re.findall(r'data-tile="value">(.*?)<', page)
    return dict(zip(labels, values, strict=True))


def test_a_summary_from_json_makes_the_same_page(page, summary):
    assert to_html(json.loads(json.dumps(summary))) == page


def test_without_data_the_page_says_what_it_needs(selector):
    page = to_html(summarise(selector))
    assert "selector.report(X=X, y=y)" in page
    assert "What replaced what" not in page


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: BackwardElimination().fit(X[["ash"]], y),
        lambda X, y: ForwardBackwardSelection(error_budget=0.1).fit(X, y),
        lambda X, y: ForwardSelection(ErrorBudget(0.05, metric="log-loss")).fit(X.to_numpy(), y),
        lambda X, y: BackwardElimination(error_budget=0.0).fit(X, y),
        lambda X, y: LinearSelection().fit(X, X["ash"] + X["hue"]),
    ],
    ids=["one column", "forward-backward", "log-loss", "no budget", "linear"],
)
def test_every_selector_has_a_page(fit, wine):
    fitted = fit(*wine)
    outline = Outline(to_html(summarise(fitted)))
    assert outline.wrong == []
    assert outline.texts["h1"].split()[0] == str(fitted.support_.sum())


def test_other_schema_is_refused(summary):
    with pytest.raises(ParameterError, match="expected schema 3, found 99"):
        to_html({**summary, "schema": 99})


def test_a_missing_template_value_is_an_error(summary):
    jinja2 = pytest.importorskip("jinja2")
    broken = {**summary, "kept": {"size": 1, "n_features": 2}}
    with pytest.raises(jinja2.UndefinedError):
        to_html(broken)


def test_report_writes_the_page(selector, tmp_path):
    target = tmp_path / "report.html"
    made = selector.report(target)
    assert target.read_text(encoding="utf-8") == made.html
    assert made.save(tmp_path / "again.html").read_text(encoding="utf-8") == made.html


def test_a_notebook_shows_the_page_and_not_its_text(selector):
    made = selector.report()
    assert repr(made) == "Report(4 of 13 features stay, budget not tested (no rows were held out))"
    shown = made._repr_html_()
    frame = Outline(shown).all("iframe")[0]
    assert frame["srcdoc"] == made.html  # unescaped by the parser, as by a browser
    assert frame["sandbox"] == "allow-scripts"
    assert frame["title"] == repr(made)


def test_a_page_is_small(page):
    assert len(page) < 250_000  # 970 000 with a plotting library inside


def test_open_shows_the_page_in_a_browser(selector, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    made = selector.report()
    file = made.open()
    try:
        assert opened == [file.as_uri()]
        assert file.read_text(encoding="utf-8") == made.html
    finally:
        file.unlink()


def test_missing_packages_are_named(selector, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match=r'report needs jinja2.*\[report\]"'):
        selector.report()


def test_no_features_are_marked_though_a_sum_is_above_by_its_last_bit(cross_summary):
    summary = json.loads(to_json(cross_summary))
    choices = summary["choices"]
    choices["baseline"] = float(np.nextafter(choices["budgets"][-1], np.inf))
    assert '<span class="baseline" style="--at:1.0' in to_html(summary)


def test_estimates_of_some_folds_are_hollow_and_said(cross_page, cross_summary):
    n_rough = len(cross_summary["rough"])
    assert n_rough > 0
    assert cross_page.count('class="point rough"') == 2 * n_rough  # in two layouts
    assert "(estimate of some folds)" in cross_page
    assert "Hollow points are estimates of some folds, without bounds" in cross_page
    without = to_html({**cross_summary, "rough": []})
    assert "point rough" not in without
    assert "Hollow points" not in without


def test_a_set_without_a_bound_has_a_page():
    """Found by the fuzzer: two rows and a metric without theory leave no figure to mark."""
    X = np.array([[0.1], [0.9]])
    selector = FeatureSelector(metric="roc_auc", searches=["linear"], models=["linear"])
    with pytest.warns(DataWarning, match="single row"):
        selector.fit(X, [0, 1])
    assert "not tested" in to_html(summarise(selector))


def test_a_page_of_a_search_whose_time_was_up():
    X = np.random.default_rng(0).normal(size=(200, 120))
    selector = FeatureSelector(0.1, models=["linear"], time_limit=1e-9, random_state=0)
    summary = summarise(selector.fit(X, X[:, 0] > 1))
    assert None in [one["information"] for one in summary["path"]["sets"]]
    assert selector.certificate_.verdict in to_html(summary)
