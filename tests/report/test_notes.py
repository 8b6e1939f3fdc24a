"""Notes are objects: each kind has one sentence, spelled for who reads it."""

import ast
import copy
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import pinsker
from pinsker import FeatureSelector
from pinsker.exceptions import DataError
from pinsker.report import careful_first, sentence
from pinsker.report.words import SENTENCES, Note, spell

PACKAGE = Path(pinsker.__file__).parent
#: Kinds of notes that only the command makes: they may name its options.
OF_COMMAND = {"nearly numeric"}


@pytest.mark.parametrize("kind", SENTENCES)
def test_no_reader_meets_the_names_of_the_other(kind):
    text = SENTENCES[kind].text
    if kind not in OF_COMMAND:
        assert not re.search(r"(^|\s)--?[a-z]", spell(text))
    command = spell(text, "command")
    assert not re.search(r"\w+='|\w=[\s,;.]|\w+_\b|\b(?:groups|suspects)=|[a-z]_[a-z]+=", command)
    assert "(X, y)" not in command
    assert "sample_weight" not in command


def test_every_kind_that_is_made_has_a_sentence_and_the_other_way_round():
    made = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        made |= set(re.findall(r'Note\(\s*f?"([^"{]+)', text))
        made |= {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
    assert set(SENTENCES) - {"lets all go by errors"} <= made
    direct = set()
    for path in PACKAGE.rglob("*.py"):
        direct |= set(re.findall(r'Note\(\s*"([^"]+)"', path.read_text(encoding="utf-8")))
    assert direct <= set(SENTENCES)


def test_a_note_for_two_readers():
    note = Note("suspect", ("a b",), {"what": "leak", "reason": "it tells"})
    assert str(note).endswith("leave it out: suspects='drop'")
    assert sentence(note, "command").endswith("--suspects drop, or --drop 'a b'")
    assert "is suspect (leak" in note
    assert pickle.loads(pickle.dumps(note)) == copy.deepcopy(note) == note
    assert len({note, copy.deepcopy(note)}) == 1


def test_names_of_columns_are_no_settings():
    note = Note("constant", ("<metric=r2>", "{column}"))
    assert str(note).endswith(": '<metric=r2>', '{column}'")
    assert sentence(note, "command") == str(note)


def test_what_to_be_careful_about_comes_first():
    constant, doubt, few = Note("constant", ("a",)), Note("doubtful kind", ("a",)), Note("few rows")
    assert careful_first([constant, doubt, few]) == [few, constant]


def test_errors_know_both_spellings():
    error = DataError("Use <missing=drop>, or <a model|--model>.")
    assert str(error) == "Use missing='drop', or a model."
    assert spell(error.said, "command") == "Use --missing drop, or --model."
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.said) == (str(error), error.said)


def test_a_certificate_has_sentences_and_kinds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    fitted = FeatureSelector(0.9, models=["linear"], cv=2, searches=["linear"], random_state=0)
    notes = fitted.fit(X, X[:, 0] > 0).certificate_.notes
    assert "lets all go by errors" in [note.kind for note in notes]
    written = json.loads(fitted.certificate_.to_json())
    assert written["notes"] == [str(note) for note in notes]
    assert written["note_kinds"] == [note.kind for note in notes]
