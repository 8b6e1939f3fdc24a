"""The page in a real Chromium: the slider moves, the features change, nothing complains.

Chromium is the one that is installed (or the one that ``PINSKER_CHROMIUM`` names); these tests skip
where there is none.
"""

import os
import shutil

import numpy as np
import pytest

from pinsker import BackwardElimination, CriterionSelection, FeatureCount
from pinsker.report import summarise, to_html

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("PINSKER_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found; set PINSKER_CHROMIUM")
# Root in a container has neither a sandbox nor much shared memory.
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
CHARTS = ("information", "bound")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Return a function that opens a page and waits for its charts; it must leave no complaint."""
    contexts, complaints = [], []

    def open_page(html, charts=True, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8")
        tab.on("request", lambda r: r.url == file.as_uri() or complaints.append(r.url))
        tab.goto(file.as_uri())
        if charts:
            for name in CHARTS:
                tab.wait_for_selector(f"#chart-{name} svg path", state="attached", timeout=10_000)
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def move(tab, position):
    """Move the slider as a hand would."""
    tab.eval_on_selector(
        "#slider",
        "(slider, to) => { slider.value = to; slider.dispatchEvent(new Event('input')); }",
        position,
    )


def staying(tab):
    found = tab.eval_on_selector_all(
        "#chips li.stays", "items => items.map(item => Number(item.dataset.feature))"
    )
    return sorted(found)


def test_slider_shows_what_the_selector_keeps(visit, page, selector, summary):
    tab = visit(page)
    budgets = summary["choices"]["budgets"]
    assert staying(tab) == np.flatnonzero(selector.support_).tolist()
    seen = set()
    for position in (0, 20, 40, 60, 100, len(budgets) - 1):
        move(tab, position)
        kept = np.flatnonzero(selector.support_at(error_budget=budgets[position])).tolist()
        assert staying(tab) == kept
        seen.add(tuple(kept))
        shown = tab.inner_text("#slider-text")
        assert shown.startswith(f"{len(kept)} of 13 features stay")
        assert f"a budget of {budgets[position]:g}:" in shown
        assert tab.inner_text("#slider-value") == f"{budgets[position]:g}"
        assert f"{len(kept)} of 13" in tab.get_attribute("#slider", "aria-valuetext")
    assert len(seen) >= 4


def test_slider_answers_to_keys(visit, page):
    tab = visit(page)
    before = tab.inner_text("#slider-value")
    tab.focus("#slider")
    tab.keyboard.press("End")
    assert tab.inner_text("#slider-value") != before
    assert len(staying(tab)) == 1


def test_charts_follow_the_slider(visit, page):
    tab = visit(page)
    ring = "#chart-bound svg path[stroke='var(--accent)'][fill='var(--paper)']"
    before = tab.get_attribute(ring, "transform")
    move(tab, 100)
    tab.wait_for_function(
        "([ring, before]) => document.querySelector(ring).getAttribute('transform') !== before",
        arg=[ring, before],
    )


@pytest.mark.parametrize("which", ["selector", "cross_fitted"])
def test_points_tell_what_they_are(visit, which, request):
    tab = visit(to_html(summarise(request.getfixturevalue(which))))
    points = tab.locator("#chart-information .mark-symbol.role-mark path")
    points.first.hover(force=True)
    tooltip = tab.locator("#vg-tooltip-element").inner_text()
    assert "search" in tooltip
    assert "information, nats" in tooltip
    assert "undefined" not in tooltip
    assert "NaN" not in tooltip


def test_hostile_names_stay_text(visit, hostile):
    fitted, X, y = hostile
    tab = visit(to_html(summarise(fitted, X, y)))
    for position in (0, 50, 100):
        move(tab, position)
    assert tab.evaluate("window.pwned") is None
    shown = tab.eval_on_selector_all("#chips .name", "items => items.map(i => i.textContent)")
    assert shown == [fitted.path_.names[feature] for feature in fitted.path_.order]
    # A name of 3200 letters makes the page no wider than it is.
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_held_out_rows_are_drawn(visit, cross_fitted):
    tab = visit(to_html(summarise(cross_fitted)))
    legend = tab.locator("#chart-information .role-legend-label text").all_text_contents()
    assert "held out: forward" in legend
    position = len(summarise(cross_fitted)["choices"]["budgets"]) - 1
    move(tab, position)
    assert len(staying(tab)) == cross_fitted.support_at(error_budget=1.0).sum()


def test_phone_needs_no_sideways_scrolling(visit, page):
    tab = visit(page, viewport={"width": 360, "height": 740})
    assert tab.evaluate("document.documentElement.scrollWidth") == 360


def test_dark_is_dark(visit, page):
    def brightness(scheme):
        tab = visit(page, color_scheme=scheme)
        script = "getComputedStyle(document.querySelector(a)).color.match(/\\d+/g).map(Number)"
        paper = tab.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
        )
        ink = tab.evaluate(script.replace("(a)", "('body')"))
        label = tab.eval_on_selector(
            "#chart-bound .role-axis-label text",
            "item => getComputedStyle(item).fill.match(/\\d+/g).map(Number)",
        )
        return sum(paper), sum(ink), sum(label)

    light, dark = brightness("light"), brightness("dark")
    assert light[0] > light[2] > light[1]
    assert dark[0] < dark[2] < dark[1]


def test_without_scripts_the_choice_is_there(visit, page, selector):
    tab = visit(page, charts=False, java_script_enabled=False)
    kept = tab.locator("#chips li.stays")
    assert kept.count() == selector.support_.sum()
    assert tab.locator("#slider").is_disabled()


def test_another_rule_shows_its_own_choice_until_moved(visit, wine):
    fitted = BackwardElimination(FeatureCount(9)).fit(*wine)
    tab = visit(to_html(summarise(fitted)))
    assert len(staying(tab)) == 9
    move(tab, 1)
    assert len(staying(tab)) == fitted.support_at(error_budget=0.0025).sum()


def test_a_selector_that_applies_no_budget_has_no_slider(visit, wine):
    # 13 columns of ten bins each: 178 rows fill no joint table.
    fitted = CriterionSelection(n_features_to_select=4).fit(*wine)
    tab = visit(to_html(summarise(fitted)), charts=False)
    assert tab.locator("#slider").count() == 0
    assert len(staying(tab)) == 4
    assert "cannot apply other error budgets" in tab.inner_text("#budget")


def test_print_unfolds(visit, page):
    tab = visit(page)
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details:not([open])").count() == 0
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert tab.locator("details[open]").count() == 0
