"""Saved selections: what is written comes back, and altered files are refused."""

import copy
import dataclasses
import json
import math
import random
from functools import reduce
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinsker import BackwardElimination, FeatureCount, KNNSettings
from pinsker.bounds import TargetFacts
from pinsker.cli._saved import check, parse, read_selection, schema, to_json
from pinsker.exceptions import DataError, PinskerError
from pinsker.holdout import Certificate
from pinsker.report.words import Note, facts
from pinsker.search import SelectionPath
from pinsker.selectors import FitRecord, to_state

BACKWARD = ("-t", "final grade", "-d", "backward")

#: Values that an altered file may hold anywhere.
ODD = [
    None, True, -1, 0, 0.5, 1e308, -5.5, 10**30, "", "nan", "-inf", "\x1b[2J", [], {}, [[]],
    {"rule": "FeatureCount", "k": 0}, {"rule": "ErrorBudget", "delta": "x"}, "signal", 2**40,
]  # fmt: skip

# NumPy cuts NUL off the end of texts, also of the names that a selector returns.
texts = st.text(min_size=1).filter(lambda text: not text.endswith("\0"))
names = st.lists(texts, min_size=2, max_size=6, unique=True)
numbers = st.floats()
notes = st.builds(lambda text: Note("saved", figures={"text": text}), st.text())
nan_or_finite = st.floats(allow_infinity=False)


@st.composite
def outcomes(draw):
    """Return what `fit` of the command returns, with any names and numbers."""
    target, *columns = draw(names)
    n = len(columns)
    moves = tuple(draw(st.permutations(range(n))))
    kept = draw(st.integers(1, n))
    forward = draw(st.booleans())
    path = SelectionPath(
        "forward" if forward else "backward",
        tuple(columns),
        moves,
        tuple(draw(st.lists(numbers, min_size=n, max_size=n))),
        tuple(draw(st.lists(numbers, min_size=n + 1, max_size=n + 1))),
    )
    floats = {
        field.name: draw(nan_or_finite)
        for field in dataclasses.fields(Certificate)
        if field.type is float and field.name != "confidence"
    }
    stays = path.order[:kept]
    certificate = Certificate(
        metric="error",
        confidence=0.9,
        n_rows=draw(st.integers(0, 10**9)),
        n_kept=kept,
        n_features=n,
        features=tuple(columns[j] for j in stays),
        rows=draw(st.text()),
        rule="FeatureCount(k=2)",
        notes=tuple(draw(st.lists(notes, max_size=2))),
        **floats,
    )
    rule = draw(st.floats(0, 0.99) | st.builds(FeatureCount, st.integers(1, 9)))
    selector = BackwardElimination(rule, random_state=draw(st.integers(0, 2**32 - 1)))
    selector.path_, selector.certificate_ = path, certificate
    selector.facts_ = TargetFacts("classification", n_classes=2, largest_prior=0.5)
    selector.feature_columns_ = tuple((j,) for j in range(n))
    selector.ranking_, selector.notes_ = np.arange(1, n + 1), ()
    selector.support_ = np.isin(np.arange(n), stays)
    selector.feature_names_in_ = np.array(columns, dtype=object)
    selector.task_, selector.target_name_, selector.n_samples_fit_ = "classification", target, 3
    hashes = np.arange(3, dtype=np.uint64)
    selector._record = FitRecord(7, row_hashes=hashes, weighted=draw(st.booleans()))
    table = SimpleNamespace(
        source=draw(st.text()),
        target=target,
        targets=(target,),
        event=None,
        style=SimpleNamespace(na=["unk"]),
        features=SimpleNamespace(columns=columns),
    )
    return SimpleNamespace(
        selector=selector, table=table, task="classification", seconds=1.5, stability=None,
        kept=[columns[j] for j in sorted(stays)], notes=draw(st.lists(notes, max_size=2)),
    )  # fmt: skip


def same(one, other):
    return repr(one) == repr(other)  # NaN equals NaN in text


@settings(max_examples=30)
@given(outcome=outcomes())
def test_what_is_written_comes_back(tmp_path_factory, outcome):
    text = to_json(outcome)
    jsonschema.validate(json.loads(text), schema())
    path = tmp_path_factory.mktemp("saved") / "selection.json"
    path.write_text(text, encoding="utf-8")
    back, selector = read_selection(str(path)), outcome.selector
    assert (back.targets, back.columns) == (outcome.table.targets, outcome.table.features.columns)
    assert same(back.selector.get_params(), selector.get_params())
    assert same(dataclasses.astuple(back.selector.path_), dataclasses.astuple(selector.path_))
    assert same(back.selector.certificate_, selector.certificate_)
    assert back.selector.facts_ == selector.facts_
    np.testing.assert_array_equal(back.selector._record.row_hashes, selector._record.row_hashes)
    again, first = to_state(back.selector), to_state(selector)
    # A file has the notes of the command.
    assert again == first | {name: json.loads(text)[name] for name in first if "note" in name}
    assert set(np.asarray(back.columns)[back.selector.support_]) == set(outcome.kept)


def test_the_check_refuses_what_json_schema_does(selection):
    content = json.loads(selection.read_text())
    jsonschema.Draft202012Validator.check_schema(schema())
    rng = random.Random(1)
    for _ in range(300):
        altered = alter(content, rng)
        if not jsonschema.Draft202012Validator(schema()).is_valid(altered):
            with pytest.raises(DataError):
                check(altered, schema())
    check(content, schema())


def places(value, at=()):
    yield at
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*at, key))


def alter(content, rng):
    """Return a copy with one value gone, repeated or replaced."""
    content = copy.deepcopy(content)
    *way, last = rng.choice([at for at in places(content) if at])
    parent = content
    for key in way:
        parent = parent[key]
    how = rng.random()
    if how < 0.25:
        del parent[last]
    elif how < 0.35 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[last]))
    else:
        parent[last] = rng.choice(ODD)
    return content


def altered_files(content, n_files):
    rng = random.Random(0)
    for number in range(n_files):
        text = json.dumps(alter(content, rng)).encode()
        if number % 5 == 4:
            damaged = bytearray(json.dumps(content).encode())
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            text = bytes(damaged[: rng.randrange(len(damaged))] if number % 2 else damaged)
        yield text


def test_altered_files_end_in_errors_of_our_own(run, selection, frame):
    content = json.loads(selection.read_text())
    refused = 0
    for text in altered_files(content, 250):
        selection.write_bytes(text)
        try:
            saved = read_selection(str(selection))
        except PinskerError:
            refused += 1
            continue
        rows = frame[saved.columns] if set(saved.columns) <= set(frame.columns) else None
        if rows is not None:
            assert saved.selector.transform(rows).shape == (120, len(saved.features))
    assert refused > 150


@pytest.mark.slow
def test_altered_files_that_are_read_can_be_tested(run, selection, frame, tmp_path):
    content = json.loads(selection.read_text())
    fresh = tmp_path / "fresh.csv"
    numbers = frame.select_dtypes("number").columns
    # Known in no half of the columns, with the target where it was: they stand for fresh rows.
    frame.assign(**{name: 0.9 * frame[name] for name in numbers}).to_csv(fresh)
    codes = set()
    for text in altered_files(content, 250):
        selection.write_bytes(text)
        for command in (["certify"], ["audit", "--model", "linear"]):
            codes |= {run(*command, selection, fresh).code}  # an exception would end the test
    assert {0, 2} <= codes <= {0, 2, 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * 100_000, "too deep"),
        (b"[" * 50 + b"]" * 50, "too deep"),
        (b'{"a": NaN}', "NaN is no JSON"),
        (b'{"a": [{"b": 1, "c": 2, "b": 1}]}', "'b' is repeated"),
        (b'{"a": ' + b"9" * 5000 + b"}", "digits"),
        (b"\xff\xfe", "codec can't decode"),
        (b" " * (2**26 + 1), "more than any selection"),
    ],
    ids=["deep", "nested", "nan", "repeated", "digits", "bytes", "large"],
)
def test_text_that_is_no_selection(text, message):
    with pytest.raises(DataError, match=message):
        parse(text)


def permuted(content):
    content["columns"].reverse()


def other_names(content):
    content["path"]["names"][0] = "noise"


def grouped(content):
    content["feature_columns"] = [[0, 1], [2], [3]]
    content["path"] |= {"names": ["noise 1", "colour", "noise 2"], "moves": [], "start": [0, 1, 2]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row_hashes": "!!!!!!!!!!!!"}, "/row_hashes is '!!!!!!!!!!!!', and must match"),
        ({"row_hashes": "AAAA" * 3 + "AA"}, "/row_hashes is 'AAAAAAAAAAAAAA', and must match"),
        ({"row_hashes": "AAAA" * 3}, "row_hashes has 9 bytes, and must have 8 for each row"),
        ({"row_hashes": ""}, "/row_hashes has 0 characters, and must have 12 to 533336"),
        ({"row_hashes": "AAAA" * 133335}, "/row_hashes has 533340 characters"),
        ({"row_hashes": None}, "/row_hashes is None, and must be of type string"),
        ({"schema": 2.0}, "/schema is 2.0, and must be one of 2"),
        ({"path/schema": 2.0}, "/path/schema is 2.0, and must be one of 2"),
        ({"path/full_information": "0.4"}, "/path/full_information is '0.4', and must match"),
        ({"path/information/0": "1"}, "/path/information/0 is '1', and must match"),
        ({"parameters/engine": "cuda"}, "parameters holds 'engine', which is not saved"),
        ({"parameters/cv": 3}, "parameters holds 'cv', which is not saved"),
        ({"kept": []}, "/kept is empty"),
        ({"style/texts": 5}, "/style/texts is 5, and must be of type array"),
        ({"kept": ["noise 1"]}, "kept is not among the sets of the path"),
        ({"kept": ["noise 1", "colour"]}, "kept is not among the sets of the path"),
        (permuted, "path/names and columns name other features"),
        (other_names, "path/names and columns name other features"),
        (grouped, "path/names and columns name other features"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(selection, change, message):
    content = json.loads(selection.read_text())
    if callable(change):
        change(content)
    else:
        for place, value in change.items():
            *way, last = [int(key) if key.isdigit() else key for key in place.split("/")]
            reduce(lambda part, key: part[key], way, content)[last] = value
    selection.write_text(json.dumps(content))
    with pytest.raises(DataError) as refused:
        read_selection(str(selection))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "options",
    [
        ("-d", "forward", "--fixed", "noise 2"),
        (
            "-d",
            "backward",
            "--feature-groups",
            "both=signal,noise 1",
            "--feature-groups",
            "x=colour",
        ),
        ("-d", "linear", "--metric", "error"),
        ("--fast", "--models", "linear", "-e", "0.2", "--costs", "{costs}"),
    ],
)
def test_what_the_command_keeps_is_a_set_of_the_path(run, table, tmp_path, options):
    path, costs = tmp_path / "selection.json", tmp_path / "costs.csv"
    costs.write_text("signal,9\nnoise 1,1\n")
    typed = [one.format(costs=costs) for one in options]
    assert run("select", table, "-t", "final grade", *typed, "--json", path, "-q").code in (0, 3)
    assert sorted(read_selection(path).selector.get_feature_names_out()) == sorted(
        json.loads(path.read_text())["kept"]
    )


def test_information_that_is_no_number_comes_back(selection):
    content = json.loads(selection.read_text())
    content["path"]["full_information"] = "nan"
    selection.write_text(json.dumps(content))
    assert math.isnan(read_selection(str(selection)).selector.path_.full_information)


def test_a_selection_comes_back(selection, frame):
    saved = read_selection(str(selection))
    assert (saved.targets, saved.task) == (("final grade",), "classification")
    reduced = saved.selector.transform(frame[saved.columns])
    assert list(reduced.columns) == ["signal", "colour"]
    assert saved.selector.support_at(error_budget=0.05).tolist() == [False, True, True, False]
    assert saved.selector.get_params()["error_budget"] == 0.05
    assert saved.selector.certificate_.features == tuple(saved.features)
    assert saved.selector.certificate_.verdict == "not tested"


def test_notes_come_back_with_what_they_do_to_a_claim(run, table, tmp_path):
    path = tmp_path / "selection.json"
    run("select", table, "-t", "final grade", "--fast", "--models", "linear", "--json", path, "-q")
    fitted = read_selection(path).selector
    doubts = (
        Note("few training rows", figures={"share": 0.2}, weight="untrue"),
        Note("other values", ("signal", "colour"), weight="doubt"),
    )
    known = {"budget": 0.5, "error_all": 0.1, "increase_upper": 0.1, "excess_upper": 0.1}
    plain = dataclasses.replace(fitted.certificate_, **known, notes=(), gain_lower=0.1, n_kept=1)
    assert plain.verdict == "met"
    unsure = dataclasses.replace(plain, notes=doubts, passed=plain)
    fitted.certificate_ = unsure
    content = json.loads(path.read_text()) | {"certificate": to_state(fitted)["certificate"]}
    path.write_text(json.dumps(content))
    back = read_selection(path).selector.certificate_
    assert (back.verdict, back.passed.verdict) == ("inconclusive", "met")
    assert (str(back), facts(back)) == (str(unsure), facts(unsure))
    assert [(note.kind, note.columns, note.weight, str(note)) for note in back.notes] == [
        (note.kind, note.columns, note.weight, str(note)) for note in doubts
    ]
    for part in ("note_kinds", "note_columns", "note_weights", "passed"):  # of files of before
        del content["certificate"][part]
    path.write_text(json.dumps(content))
    assert [str(one) for one in read_selection(path).selector.certificate_.notes] == [
        str(one) for one in doubts
    ]
    content["certificate"]["passed"] = {**content["certificate"], "budget": "much"}
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match="/certificate/passed/budget is 'much'"):
        read_selection(path)


def test_a_rule_comes_back(run, table, tmp_path):
    path = tmp_path / "selection.json"
    run("select", table, *BACKWARD, "--stop", "features=1", "--json", path)
    assert str(read_selection(str(path)).selector.error_budget) == "FeatureCount(k=1)"


def test_settings_of_the_estimate_come_back(run, table, tmp_path):
    path = tmp_path / "selection.json"
    options = ("--n-neighbors", "4", "--models", "linear", "--metric", "log-loss")
    run("select", table, *BACKWARD, *options, "--json", path, "--quiet")
    selector = read_selection(path).selector
    assert selector.knn == KNNSettings(n_neighbors=4)
    assert (selector.models, selector.metric) == (["linear"], "log-loss")
    assert selector.certificate_.metric == "log-loss"


def test_where_it_was_searched_is_not_saved(run, table, tmp_path):
    path = tmp_path / "selection.json"
    where = ("--engine", "local", "--memory", "1G")
    done = run("select", table, *BACKWARD, *where, "--json", path, "--quiet")
    assert done.code == 0
    assert "engine" not in json.loads(path.read_text())["parameters"]
    assert read_selection(path).selector.engine == "auto"


def test_columns_left_out_before_the_search_do_not_keep_a_selection_from_being_read(
    run, frame, tmp_path
):
    table, fresh, saved = (tmp_path / name for name in ("table.csv", "fresh.csv", "kept.json"))
    whole = frame.assign(plain="same", code=[f"r{i}" for i in range(len(frame))])
    whole.to_csv(table, index=False)
    quick = ("--searches", "linear", "--models", "linear", "-e", "0.2", "--quiet")
    run("select", table, "-t", "final grade", *quick, "--json", saved)
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert len(content["feature_columns"]) < len(content["columns"])
    numbers = frame.select_dtypes("number").columns
    # Known in no half of the columns: these rows stand for fresh ones.
    whole.assign(**{name: -whole[name] for name in numbers}).to_csv(fresh, index=False)
    done = run("certify", saved, fresh)
    assert (done.code, done.err) == (0, "")
    assert run("audit", saved, fresh).err == ""
