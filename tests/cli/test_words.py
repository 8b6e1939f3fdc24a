"""One certificate, four views: text, page, command and card show the same figures."""

import copy
import math
import re
from dataclasses import replace

import pytest
from sklearn.datasets import load_wine

from pinsker import BackwardElimination, Certificate
from pinsker.holdout import AuditResult
from pinsker.report import card, facts, summarise, to_html
from pinsker.report.words import SENTENCES, spell

SECTIONS = r'<header>.*?</header>|<dl class="tiles">.*?</dl>|<div id="sentences">.*?</div>'
CHANGE = r"(?:falls|rises) by [\d.]+\d"
BASE = {
    "metric": "error", "budget": 0.05, "confidence": 0.95, "n_rows": 500, "n_kept": 4,
    "n_features": 13, "features": ("a", "b", "c", "d"), "rows": "fresh rows",
    "rule": "ErrorBudget(0.05)", "information_budget": 0.01, "information_lost": 0.00213,
    "information_upper": 0.0207, "bound": 0.061, "error_all": 0.12341, "error_kept": 0.13342,
    "increase": 0.01001, "increase_lower": -0.01003, "increase_upper": 0.03004,
    "model_all": "forest", "model_kept": "linear", "error_upper": 0.16, "label": "certificate",
    "error_none": 0.40007, "gain_lower": 0.2,
}  # fmt: skip
CASES = {
    "met": {},
    "met with all evidence": {"bound": 0.04126, "excess": 0.02, "excess_upper": 0.04127},
    "the excess decides": {"increase_upper": -0.0068, "excess_upper": 0.00364},
    "both bounds below zero": {"increase": -0.02, "increase_upper": -0.0068},
    "inconclusive": {"increase_upper": 0.07233},
    "inconclusive by the excess": {"increase_upper": -0.0068, "excess_upper": 0.08001},
    "not met": {"increase": 0.08, "increase_lower": 0.06004, "increase_upper": 0.1},
    "not shown to be predictable": {"gain_lower": -0.01},
    "nothing left out": {"n_kept": 13, "increase": 0.0, "increase_lower": 0.0},
    "no budget": {"budget": math.nan, "rule": "FeatureCount(k=4)"},
    "R²": {"metric": "r2", "error_all": 0.0114, "error_kept": 0.0214, "error_none": 1.02},
    "R², negative bounds": {"metric": "r2", "increase": -0.01, "increase_upper": -0.0012},
    "ROC AUC": {"metric": "roc_auc", "increase_upper": 0.0608},
    "mean squared error": {
        "metric": "mse", "budget": 250.0, "error_all": 2901.123, "error_kept": 2999.5,
        "error_none": 5929.9, "increase": 98.377, "increase_lower": 3.0, "increase_upper": 301.237,
    },
    "groups": {"n_groups": 37, "label": "estimate"},
    "not tested": {
        **dict.fromkeys(("error_all", "error_kept", "error_none", "increase"), math.nan),
        **dict.fromkeys(("increase_lower", "increase_upper", "confidence"), math.nan),
        "error_upper": math.nan, "gain_lower": math.nan, "label": "not tested", "bound": 0.0312,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def fitted():
    """Return a selector whose certificate is replaced."""
    return BackwardElimination(error_budget=0.1).fit(*load_wine(return_X_y=True, as_frame=True))


@pytest.fixture
def views(fitted, run, selection, table, monkeypatch):
    """Return what text, page, command and card say of a certificate."""

    def show(certificate):
        other, path = copy.copy(fitted), fitted.path_
        kept = tuple(path.names[j] for j in path.order[: certificate.n_kept])
        other.certificate_ = certificate = replace(certificate, features=kept)
        monkeypatch.setattr(
            BackwardElimination, "certificate_at",
            lambda _, error_budget: replace(certificate, budget=error_budget),
        )  # fmt: skip
        page = to_html(summarise(other))
        parts = re.findall(SECTIONS, page, re.DOTALL)
        monkeypatch.setattr(BackwardElimination, "certify", lambda *_, **__: certificate)
        done = run("certify", selection, table)
        assert done.err == ""
        texts = [str(certificate), " ".join(parts), done.out, card(other)]
        return [" ".join(re.sub(r"<[^>]+>", " ", text).lower().split()) for text in texts]

    return show


def shown(certificate):
    """Return the figures that every view shows of a certificate, as they must be written."""
    said = facts(certificate)
    figures = [said.budget] if said.budget else []
    if certificate.is_tested:
        figures += [said.all, said.kept, said.none]
        if certificate.n_kept < certificate.n_features:
            figures += [said.change, said.limit, said.level]
    if certificate.verdict == "inconclusive":
        figures.append(said.resolvable)
    if certificate.verdict == "not met":
        figures.append("rises by 0.0600 at least")
    return figures


@pytest.mark.parametrize("name", CASES)
def test_all_views_show_the_same_figures(views, name):
    certificate = Certificate(**{**BASE, **CASES[name]})
    text, page, command, of_card = said = views(certificate)
    for figure in shown(certificate):
        assert [figure.lower() in view for view in said] == [True] * 4, (figure, said)
    # No view has a figure of its own about the increase.
    by_text, by_page, by_command, by_card = (set(re.findall(CHANGE, view)) for view in said)
    assert by_page == by_text
    assert by_command | by_card <= by_text, (text, page, command, of_card)


def test_the_bound_is_the_one_that_the_verdict_rests_on():
    certificate = Certificate(**{**BASE, **CASES["the excess decides"]})
    assert facts(certificate).limit == "error rate rises by 0.0036"
    assert facts(certificate).resolvable == "0.0037"  # 0.0036 would not be met
    below = facts(Certificate(**{**BASE, **CASES["both bounds below zero"]}))
    assert (below.limit, below.signed_limit) == ("error rate falls by 0.0068", "-0.0068")


@pytest.mark.parametrize(
    ("error", "text"),
    [(0.00004, "0.000040000"), (0.5, "0.5000"), (52.25, "52.250"), (3e6, "3000000")],
)
def test_figures_of_any_unit_have_about_five_digits(error, text):
    errors = {"error_none": error, "error_all": 0.0, "error_kept": 0.0}
    assert facts(Certificate(**{**BASE, **errors})).none == text


def test_an_audit_has_the_same_words():
    result = AuditResult("SVC", "r2", 0.05, 0.95, 300, 2, 9, 0.1, 0.12, 0.02, 0.0, 0.0444)
    assert str(result).splitlines() == [
        "SVC on 300 rows: R² 0.9000 with all 9 columns, 0.8800 with 2",
        "  R² falls by 0.0200; 95 % upper confidence bound: R² falls by 0.0444; budget 0.05: met",
    ]


def test_a_shell_is_not_told_to_pass_an_argument_of_python():
    text = SENTENCES["weak model"].text
    assert "X_train" in spell(text)
    assert "X_train" not in spell(text, "command")
