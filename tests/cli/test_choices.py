"""Values of options, and the errors for other values."""

import pytest

from pinsker.cli._choices import (
    find_column,
    parse_columns,
    parse_groups,
    parse_kinds,
    parse_memory,
    parse_names,
    parse_stop,
    task_of,
)
from pinsker.exceptions import ParameterError
from pinsker.selection import FeatureCount, ScoreJump, ScoreThreshold

NAMES = ["age", "Income kEUR", "c_red", "c_green", "a, b", "x[1]"]


def test_stopping_rules():
    assert parse_stop(" features = 5 ") == FeatureCount(5)
    assert parse_stop("score=0.01") == ScoreThreshold(0.01)
    assert parse_stop("jump=2e-2") == ScoreJump(0.02)


@pytest.mark.parametrize("text", ["", "5", "features", "features=five", "features=1.5", "size=3"])
def test_other_rules_are_refused(text):
    with pytest.raises(ParameterError, match=r"is not understood: use features=5, score=0\.01 or"):
        parse_stop(text)


def test_a_rule_that_cannot_be_says_so_itself():
    with pytest.raises(ParameterError, match="of at least 1, found 0"):
        parse_stop("features=0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1000", 1000), ("2k", 2048), ("1.5M", 1572864), ("2 GiB", 2**31), ("1tb", 2**40)],
)
def test_memory(text, expected):
    assert parse_memory(text) == expected


@pytest.mark.parametrize("text", ["", "much", "-1G", "0", "2X", "G"])
def test_other_memory_is_refused(text):
    with pytest.raises(ParameterError, match="is not understood: use for example 500M or 2G"):
        parse_memory(text)


def test_columns_by_name_list_and_pattern():
    assert parse_columns(["age,c_*"], NAMES, "--fixed") == ["age", "c_red", "c_green"]
    assert parse_columns(["a, b", "x[1]"], NAMES, "--fixed") == ["a, b", "x[1]"]
    assert parse_columns(["x[*"], NAMES, "--fixed") == ["x[1]"]
    assert parse_columns(["age", "age"], NAMES, "--fixed") == ["age"]


def test_groups():
    assert parse_groups(["colour=c_*"], NAMES) == {"colour": ["c_red", "c_green"]}
    assert parse_groups([], NAMES) is None
    for text in ("colour", "=a", "colour="):
        with pytest.raises(ParameterError, match="use name=first,second"):
            parse_groups([text], NAMES)


def test_names():
    known = ("svm", "extra trees", "linear")
    assert parse_names(["svm, extra trees", "svm"], known, "--models") == ["svm", "extra trees"]
    assert parse_names([], known, "--models") is None
    with pytest.raises(ParameterError, match="--models: 'forest' is not one of 'svm', 'extra"):
        parse_names(["forest"], known, "--models")


def test_kinds():
    assert parse_kinds(["c_*=nominal"], NAMES) == {"c_red": "nominal", "c_green": "nominal"}
    assert parse_kinds([], NAMES) == "from_dtype"
    with pytest.raises(ParameterError, match="one of continuous, count, nominal"):
        parse_kinds(["age=number"], NAMES)


def test_metrics_of_one_task_say_how_the_target_is_read():
    read_as = {metric: task_of(metric) for metric in ("auto", "log-loss", "brier", "r2")}
    assert list(read_as.values()) == ["auto", "auto", "classification", "regression"]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("income keur", "Did you mean 'Income kEUR'"),
        ("agee", "Did you mean 'age'"),
        ("zzz", "There are 'age', 'Income kEUR', 'c_red', 'c_green', 'a, b', 'x\\[1\\]'\\."),
    ],
)
def test_unknown_columns_get_advice(name, advice):
    with pytest.raises(ParameterError, match=f"--target: there is no column '{name}'. {advice}"):
        find_column(name, NAMES, "--target")


def test_a_pattern_without_a_match():
    with pytest.raises(ParameterError, match=r"--drop: no column matches 'q\*'"):
        parse_columns(["q*"], NAMES, "--drop")
