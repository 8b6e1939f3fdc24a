"""The page in a real Chromium: everything follows the slider, and everybody can read it.

Chromium is the one that is installed (or the one that ``PINSKER_CHROMIUM`` names). Where there is
none all of these tests are one skip. One browser serves them all, and a page is opened once.
"""

import os
import re
import shutil

import numpy as np
import pytest

from pinsker import BackwardElimination, CriterionSelection, FeatureCount
from pinsker.report import facts, summarise, to_html

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("PINSKER_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
if CHROMIUM is None:
    reason = "no Chromium found: pages were not tested in a browser; set PINSKER_CHROMIUM"
    pytest.skip(reason, allow_module_level=True)
# One worker, so that one browser is started.
pytestmark = pytest.mark.xdist_group("browser")
# Root in a container has neither a sandbox nor much shared memory.
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
DESK, PHONE = {"width": 1000, "height": 800}, {"width": 390, "height": 844}
#: Folded, and the slider where it was at first.
AS_OPENED = """() => {
  document.querySelectorAll('details').forEach(item => { item.open = false; });
  const reset = document.getElementById('reset');
  if (reset && !reset.hidden) reset.click();
  if (document.activeElement) document.activeElement.blur();
}"""
UNFOLD = "document.querySelectorAll('details').forEach(item => { item.open = true; })"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def tabs(browser, tmp_path_factory):
    """Return a function that opens a page, each in a tab of its own, once for all tests."""
    context, folder, opened = browser.new_context(), tmp_path_factory.mktemp("pages"), {}

    def tab_of(html):
        if html not in opened:
            tab = opened[html] = context.new_page()
            tab.complaints = complaints = []
            tab.on("console", lambda message: complaints.append(message.text))
            tab.on("pageerror", lambda error: complaints.append(str(error)))
            tab.on("request", lambda r: r.url.startswith("file:") or complaints.append(r.url))
            file = folder / f"{len(opened)}.html"
            file.write_text(html, encoding="utf-8")
            tab.goto(file.as_uri())
        return opened[html]

    yield tab_of
    context.close()


@pytest.fixture
def visit(tabs):
    """Return a function that shows a page as it is when opened; it must leave no complaint."""
    visited = []

    def show(html, size=DESK, scheme="light"):
        tab = tabs(html)
        visited.append(tab)
        tab.set_viewport_size(size)
        # Without transitions: axe would meet colors on their way from light to dark.
        tab.emulate_media(media="screen", color_scheme=scheme, reduced_motion="reduce")
        tab.evaluate(AS_OPENED)
        return tab

    yield show
    assert [tab.complaints for tab in visited if tab.complaints] == []


def move(tab, position):
    """Move the slider as a hand would."""
    tab.eval_on_selector(
        "#slider",
        "(slider, to) => { slider.value = to; slider.dispatchEvent(new Event('input')); }",
        position,
    )


def staying(tab, items="#chips li"):
    found = tab.eval_on_selector_all(
        f"{items}.stays", "items => items.map(item => Number(item.dataset.feature))"
    )
    return sorted(found)


def texts(tab, selector):
    return tab.eval_on_selector_all(selector, "items => items.map(item => item.textContent)")


#: What the page shows at some positions of the slider; marks are pixels of the wide plot.
SHOWN = """(positions) => positions.map((position) => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const text = (selector) => one(selector).textContent;
  const texts = (selector) => all(selector).map((item) => item.textContent);
  const staying = (items) => all(items + '.stays').map(
    (item) => Number(item.dataset.feature)).sort((a, b) => a - b);
  const slider = one('#slider');
  slider.value = position;
  slider.dispatchEvent(new Event('input'));
  const plot = one('#chart-increase svg.wide');
  const ticks = [...plot.querySelectorAll('text.tick')].map((tick) => ({
    x: Number(tick.getAttribute('x')), y: Number(tick.getAttribute('y')),
    value: Number(tick.textContent.replace('−', '-')), at: tick.getAttribute('text-anchor')}));
  const number = (part, name) => Number(plot.querySelector(part).getAttribute(name));
  const level = plot.querySelector('.budget-line').getAttribute('transform');
  return {
    headline: text('h1'), lead: text('.lead'), verdict: text('#verdict'),
    caution: one('.caution').getClientRects().length > 0,
    slider: slider.getAttribute('aria-valuetext'), status: text('[role=status]'),
    values: texts('[data-tile=value]'), about: texts('[data-tile=about]'),
    sentences: text('#sentences'), chips: staying('#chips li'),
    ranking: staying('section:has(#ranking-title) li'), rows: staying('tr'),
    ys: ticks.filter((t) => t.at === 'end' && !isNaN(t.value)).map((t) => [t.y - 4, t.value]),
    xs: ticks.filter((t) => t.at === 'middle' && !isNaN(t.value)).map((t) => [t.x, t.value]),
    size: number('.ring', 'cx'), value: number('.ring', 'cy'), upper: number('.whisker', 'y2'),
    budget: Number(level.match(/ (.*)\\)/)[1]),
    bold: [...plot.querySelectorAll('.series.chosen')].map((line) => line.dataset.search),
  };
})"""


def read_axis(pixel, ticks):
    """Return the value at a pixel of a linear axis, from its first and its last tick."""
    (first, low), (last, high) = ticks[0], ticks[-1]
    return low + (pixel - first) / (last - first) * (high - low)


def test_everything_follows_the_slider(visit, cross_fitted, cross_summary, cross_page):
    budgets, results = cross_summary["choices"]["budgets"], cross_fitted.cv_results_
    # What each feature is worth is known of those that the selector keeps.
    ranked = set(np.flatnonzero(cross_fitted.support_).tolist())
    seen = {"sets": set(), "verdicts": set(), "searches": set()}
    positions = list(range(0, len(budgets), 5))
    for position, shown in zip(
        positions, visit(cross_page).evaluate(SHOWN, positions), strict=True
    ):
        budget = budgets[position]
        expected = cross_fitted.certificate_at(error_budget=budget)
        kept = np.flatnonzero(cross_fitted.support_at(error_budget=budget)).tolist()
        size, verb = len(kept), "stays" if len(kept) == 1 else "stay"
        # Words.
        assert shown["headline"] == f"{size} of 13 features {verb}"
        said = facts(expected)
        assert shown["lead"] == f"Error budget {said.budget}: error rate may rise by {said.budget}."
        assert shown["verdict"] == said.verdict[0].upper() + said.verdict[1:]
        assert shown["caution"] == expected.lets_all_go
        assert f"{size} of 13" in shown["slider"]
        assert f"{size} of 13 features {verb} at a budget" in shown["status"]
        # Figures.
        values, about = shown["values"], shown["about"]
        assert about[0] == f"{size} of 13"
        assert values[1] == f"{expected.error_kept:.4f}"
        assert values[2] == f"{expected.limit:.4f}"
        assert about[1] in (f"at most {expected.error_upper:.4f} (95\N{NO-BREAK SPACE}%)", "")
        assert about[2] == f"budget {budget:g}"
        assert f"{expected.error_kept:.4f} with those kept" in shown["sentences"]
        # Lists and tables.
        assert shown["chips"] == shown["rows"] == kept
        assert shown["ranking"] == sorted(ranked & set(kept))
        # Marks: on the path of the search that has this set.
        assert round(read_axis(shown["size"], shown["xs"]), 1) == size
        height = abs(read_axis(0, shown["ys"]) - read_axis(1, shown["ys"]))  # of a pixel
        assert abs(read_axis(shown["value"], shown["ys"]) - expected.increase) < height
        limit = max(expected.resolvable, expected.increase)
        assert abs(read_axis(shown["upper"], shown["ys"]) - limit) < height
        top = max(value for _, value in shown["ys"])
        if budget < top:
            assert abs(read_axis(shown["budget"], shown["ys"]) - budget) < height
        same = [np.flatnonzero(support).tolist() == kept for support in results["support"]]
        assert shown["bold"][0] in results["search"][same]
        assert len(shown["bold"]) == 1
        seen["sets"].add(tuple(kept))
        seen["verdicts"].add(expected.verdict)
        seen["searches"].add(shown["bold"][0])
    assert [len(found) >= 2 for found in seen.values()] == [True] * 3, seen


def test_no_features_are_marked_below_the_slider(visit, cross_page):
    tab = visit(cross_page)
    at = tab.evaluate(
        """() => { const [mark, track] = ['.marks .baseline', '#slider'].map(
          part => document.querySelector(part).getBoundingClientRect());
        return (mark.right - track.left) / track.width; }"""
    )
    assert at == pytest.approx(1.0, abs=0.02)  # the largest budget lets everything go
    assert texts(tab, ".marks .tick")[0] == "0"
    assert {"0.001", "0.01", "0.1"} & set(texts(tab, ".marks .tick"))


def test_the_bound_of_the_neighbors_is_folded(visit, cross_page):
    tab = visit(cross_page)
    assert not tab.is_visible("#chart-bound")
    tab.click("#own-estimates summary")
    assert tab.is_visible("#chart-bound svg.wide")


def test_slider_answers_to_keys_and_goes_back(visit, page, selector):
    tab = visit(page)
    before = tab.text_content("h1")
    assert not tab.is_visible("#reset")
    tab.focus("#slider")
    tab.keyboard.press("End")
    assert tab.text_content("h1") != before
    assert len(staying(tab)) == 1
    tab.click("#reset")
    assert tab.text_content("h1") == before
    assert staying(tab) == np.flatnonzero(selector.support_).tolist()


def test_bars_have_one_scale_and_are_not_clipped(visit, page):
    tab = visit(page)
    tab.evaluate(UNFOLD)
    bars = tab.evaluate(
        """() => [...document.querySelectorAll('td .inline-bar')].filter(bar =>
          bar.closest('section').querySelector('#experts-title')).map(bar => ({
          length: bar.firstElementChild.getBoundingClientRect().width,
          room: bar.getBoundingClientRect().width,
          value: Number(bar.nextElementSibling.textContent.replace('−', '-'))}))"""
    )
    longest = max(bar["value"] for bar in bars)
    assert len(bars) > 30
    for bar in bars:
        assert bar["length"] <= bar["room"]
        share = max(bar["value"], 0) / longest
        assert bar["length"] / bar["room"] == pytest.approx(share, abs=0.02), bar


def test_whiskers_stand_where_the_limits_are(visit, full_page, findings):
    tab = visit(full_page)
    found = tab.evaluate(
        """() => [...document.querySelectorAll('.ranking.limits li')].map(row => {
          const box = (part) => row.querySelector(part).getBoundingClientRect();
          const bar = box('.bar'), whisker = box('.whisker'), track = box('.track');
          return [bar.left, bar.right, whisker.left, whisker.right].map(
            (at) => (at - track.left) / track.width);})"""
    )
    importance = findings["importance"]
    low, high = min(importance.lower), max(importance.upper)
    ranked = sorted(range(13), key=lambda k: (not importance.kept[k], -importance.value[k]))
    for k, (left, right, lower, upper) in zip(ranked, found, strict=True):
        value = importance.value[k]
        ends = [min(value, 0.0), max(value, 0.0), importance.lower[k], importance.upper[k]]
        at = [(end - low) / (high - low) for end in ends]
        assert [left, right, lower, upper] == pytest.approx(at, abs=0.01)


@pytest.mark.parametrize(
    ("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk, light", "phone, dark"]
)
def test_axe_finds_nothing_serious(visit, full_page, size, scheme):
    tab = visit(full_page, size, scheme)
    tab.evaluate(UNFOLD)
    results = axe.Axe().run(tab, options={"resultTypes": ["violations"]})
    serious = [
        (found["id"], found["nodes"][0]["html"][:200])
        for found in results.response["violations"]
        if found["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert len(results.response["passes"]) > 15  # the rules have run


def luminance(color):
    """Return the relative luminance of WCAG 2 of ``rgb(...)``."""
    channels = np.array([float(c) for c in re.findall(r"[\d.]+", color)[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_and_lines_of_the_plots_have_contrast(visit, full_page, scheme):
    """Axe looks at no letters of an SVG: WCAG AA asks 4.5 of them, and 3 of lines."""
    tab = visit(full_page, scheme=scheme)
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    style = "items => items.map(item => [getComputedStyle(item).{}, item.outerHTML.slice(0, 80)])"
    letters = tab.eval_on_selector_all("#chart-increase svg text", style.format("fill"))
    lines = tab.eval_on_selector_all("#chart-increase svg polyline", style.format("stroke"))
    bars = tab.eval_on_selector_all(".ranking .bar", style.format("backgroundColor"))
    for least, items in ((4.5, letters), (3.0, lines), (3.0, bars)):
        assert items
        for color, html in items:
            assert contrast(color, paper) >= least, html
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)


def test_a_phone_cuts_nothing_off(visit, full_page, hostile_page):
    for html in (full_page, hostile_page):
        tab = visit(html, PHONE)
        tab.evaluate(UNFOLD)
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        wider = tab.evaluate(
            """() => [...document.querySelectorAll('.scroll, table, pre, svg, dl, ol')].filter(
              item => item.scrollWidth > item.clientWidth + 1 && item.clientWidth > 0 ||
              item.getBoundingClientRect().right > innerWidth + 1
            ).map(item => item.outerHTML.slice(0, 99))"""
        )
        assert wider == []
        assert tab.is_visible("#chart-increase svg.narrow")
        assert not tab.is_visible("#chart-increase svg.wide")


def test_figures_of_tiles_stand_in_a_line_and_names_are_whole_on_a_phone(visit, full_page):
    """A label of three lines pushed its number down; names were broken for their limits."""
    rows = """() => { const rows = {};
      document.querySelectorAll('.tiles > div').forEach(tile => {
        const top = Math.round(tile.getBoundingClientRect().top);
        const at = Math.round(tile.querySelector('dd').getBoundingClientRect().top);
        (rows[top] = rows[top] || []).push(at); });
      return Object.values(rows); }"""
    for size in (DESK, PHONE):
        page = visit(full_page, size)
        assert all(len(set(tops)) == 1 for tops in page.evaluate(rows))
    heights = """() => [...document.querySelectorAll('.ranking.limits .name')].map(
      name => name.getClientRects().length && name.offsetHeight)"""
    assert max(visit(full_page, PHONE).evaluate(heights)) < 40


def test_dark_is_dark(visit, page):
    def brightness(scheme):
        tab = visit(page, scheme=scheme)
        style = "getComputedStyle(document.body)"
        colors = tab.evaluate(f"[{style}.backgroundColor, {style}.color]")
        return [luminance(color) for color in colors]

    (light_paper, light_ink), (dark_paper, dark_ink) = brightness("light"), brightness("dark")
    assert light_paper > 0.9 > light_ink
    assert dark_paper < 0.05 < dark_ink


def test_every_plot_has_a_name_for_screen_readers(visit, full_page):
    tab = visit(full_page)
    tab.evaluate(UNFOLD)
    names = tab.eval_on_selector_all(
        "svg.plot", "plots => plots.map(plot => [plot.getAttribute('role'), plot.ariaLabel])"
    )
    assert len(names) == 6  # three charts, each for two widths
    assert all(role == "img" and name.startswith("Line chart") for role, name in names)
    assert tab.get_attribute("[role=status]", "aria-live") == "polite"


def test_points_say_what_they_are(visit, cross_page):
    tab = visit(cross_page)
    shown = texts(tab, "#chart-increase svg.wide .series title")
    assert any(re.match(r"\d+ features?, forward: error rate (rises|falls) by", t) for t in shown)
    assert not any("NaN" in text or "None" in text for text in shown)


def test_hostile_names_stay_text(visit, hostile, hostile_page):
    fitted, tab = hostile[0], visit(hostile_page)
    for position in (0, 20, 40):
        move(tab, position)
    assert tab.evaluate("window.pwned") is None
    shown = texts(tab, "#chips .name")
    assert shown == [fitted.path_.names[feature] for feature in fitted.path_.order]
    # A name of 3200 letters makes the page no wider than it is.
    assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_notebook_shows_a_page_that_works(visit, selector):
    tab = visit(f"<!doctype html><title>notebook</title>{selector.report()._repr_html_()}")
    frame = tab.frame_locator("iframe")
    frame.locator("#slider").press("End")
    assert frame.locator("h1").text_content() == "1 of 13 features stays"


def test_without_scripts_the_choice_is_there(browser, page, selector, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(file.as_uri())
    assert tab.locator("#chips li.stays").count() == selector.support_.sum()
    assert tab.locator("#slider").is_disabled()
    assert tab.locator("#chart-increase svg.wide .ring").is_visible()
    context.close()


def test_another_rule_shows_its_own_choice_until_moved(visit, wine):
    fitted = BackwardElimination(FeatureCount(9)).fit(*wine)
    summary = summarise(fitted)
    tab = visit(to_html(summary))
    assert len(staying(tab)) == 9
    assert tab.text_content(".lead") == "By the rule FeatureCount(k=9)."
    move(tab, 40)
    budget = summary["choices"]["budgets"][40]
    assert len(staying(tab)) == fitted.support_at(error_budget=budget).sum() != 9
    tab.click("#reset")
    assert len(staying(tab)) == 9
    assert tab.text_content("h1") == "9 of 13 features stay"


def test_a_selector_that_applies_no_budget_has_no_slider(visit, wine):
    # 13 columns of ten bins each: 178 rows fill no joint table.
    fitted = CriterionSelection(n_features_to_select=4).fit(*wine)
    tab = visit(to_html(summarise(fitted)))
    assert tab.locator("#slider").count() == 0
    assert len(staying(tab)) == 4
    assert "cannot apply other error budgets" in tab.inner_text("#budget")


def test_print_unfolds_and_hides_what_paper_cannot(visit, page):
    tab = visit(page)
    tab.emulate_media(media="print")
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details:not([open])").count() == 0
    assert not tab.is_visible("#slider")
    assert tab.is_visible("#chart-increase svg.wide")
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert tab.locator("details[open]").count() == 0
