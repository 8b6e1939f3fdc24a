"""The selections of FEAST, the C library that defined these criteria.

FEAST 2.0.0 was run on scikit-learn's data sets; its lists for breast cancer in five equal-frequency
bins stand here, all others in ``feast_figures.json``.
"""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from pinsker.search import select_by_criterion

#: Scores are given to ten decimals in bits.
TOLERANCE = 1e-9

#: What FEAST selected and its scores, by table and criterion.
FIGURES = json.loads((Path(__file__).parent / "feast_figures.json").read_text())

#: SHA-256 of the tables that FEAST was run on: codes and classes as int8, row by row.
TABLES = {
    "breast_cancer_eqfreq5": "67a881efa0c8451bfba29e86bf284a76dd4db3724251eb4e111df52edbdbd6fc",
    "breast_cancer_eqwidth5": "a3c059b1ce90fe297be2bdb46446a6de73860367485c52db817b5ec892959cc5",
    "breast_cancer_eqwidth10": "06ed3304dea0db27a22c7bdb17202503dbea4d13d4165a7118df2bfbe783930f",
    "wine_eqfreq5": "49bd82e0fd8e095dfc7d01b9a61bdf43820729122235be50cd1e4184cecde6e6",
    "wine_eqwidth5": "ba6713a59a1d43150ee6b7318e06f9f97803a51dc27c8f757d19e060fea9aa53",
    "wine_eqwidth10": "d635fe3934eee89c2becba9fce8c73680c6da129d6204a4f5a7e710b12fe3d03",
    "digits_raw17": "68aea062d35a127749050fa0e52dca09d6569ac08092c925610e0954e172dde2",
}

#: FEAST's name: our name and parameters.
NAMES = {
    "MIM": ("mim", {}),
    "MIFS_beta1": ("mifs", {"beta": 1.0}),
    "MIFS_beta0.7": ("mifs", {"beta": 0.7}),
    "mRMR": ("mrmr", {}),
    "CMIM": ("cmim", {}),
    "JMI": ("jmi", {}),
    "DISR": ("disr", {}),
    "CIFE": ("cife", {}),
    "ICAP": ("icap", {}),
    "CondRed": ("condred", {}),
    "CMI": ("cmi", {}),
    "CMIM_brown_numpy": ("cmim-brown", {}),
}

BREAST_CANCER = {
    "MIM": [22, 7, 23, 20, 27, 2, 6, 3, 0, 13],
    "MIFS_beta1": [22, 24, 1, 18, 19, 28, 11, 13, 14, 8],
    "MIFS_beta0.7": [22, 27, 1, 9, 28, 11, 18, 12, 24, 14],
    "mRMR": [22, 24, 7, 1, 13, 27, 28, 23, 26, 10],
    "CMIM": [22, 24, 27, 21, 7, 13, 26, 1, 3, 9],
    "JMI": [22, 24, 23, 27, 7, 20, 13, 26, 3, 6],
    "DISR": [22, 20, 23, 3, 2, 0, 27, 7, 6, 26],
    "CIFE": [22, 24, 9, 29, 3, 14, 19, 18, 11, 4],
    "ICAP": [22, 24, 21, 29, 19, 9, 11, 18, 14, 12],
    "CondRed": [22, 20, 23, 2, 0, 3, 13, 10, 12, 7],
    "CMIM_brown_numpy": [22, 24, 27, 21, 7, 9, 13, 26, 1, 3],
}

#: The last of the ten scores, in bits (DISR: a sum of shares, which have no unit).
LAST_SCORE = {
    "MIM": 0.490595398,
    "MIFS_beta1": -1.0536950545,
    "MIFS_beta0.7": -0.5628032844,
    "mRMR": -0.0212927244,
    "CMIM": 0.0318188886,
    "JMI": 5.8825769844,
    "DISR": 1.3972751027,
    "CIFE": 0.168529919,
    "ICAP": -0.0027597584,
    "CondRed": 2.0617304019,
    "CMIM_brown_numpy": 0.0319679731,
}

#: After the fourth feature the CMI criterion has exact ties, which FEAST breaks by rounding.
CMI_SCORES = [0.6401428641, 0.1057511132, 0.1098779785, 0.0731201525, 0.0202280756, 0.0035149385]


def equal_frequency(table, bins=5):
    cut = [
        np.searchsorted(np.unique(np.quantile(x, np.arange(1, bins) / bins)), x) for x in table.T
    ]
    return np.column_stack(cut)


def equal_width(table, bins):
    low, high = table.min(axis=0), table.max(axis=0)
    return np.minimum(np.floor(bins * ((table - low) / (high - low))), bins - 1).astype(int)


def in_nats(name, bits):
    """Convert; the ratios of DISR have no unit, its first score is an information all the same."""
    nats = np.asarray(bits) * np.log(2)
    if name == "DISR":
        nats[1:] = bits[1:]
    return nats


@pytest.fixture(scope="module")
def breast_cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize("name", BREAST_CANCER)
def test_breast_cancer(name, breast_cancer):
    table, labels = breast_cancer
    criterion, options = NAMES[name]
    path = select_by_criterion(equal_frequency(table), labels, criterion, 10, **options)
    assert path.order.tolist() == BREAST_CANCER[name]
    first_and_last = in_nats(name, np.array([0.6401428641, LAST_SCORE[name]]))
    np.testing.assert_allclose(path.scores[[0, -1]], first_and_last, rtol=0, atol=TOLERANCE)


def test_breast_cancer_given_the_chosen_set(breast_cancer):
    table, labels = breast_cancer
    path = select_by_criterion(equal_frequency(table), labels, "cmi", 10)
    assert path.order[:4].tolist() == [22, 24, 1, 19]
    np.testing.assert_allclose(path.scores, in_nats("CMI", CMI_SCORES), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(
    ("criterion", "options", "one_based"),
    [
        ("jmi", {}, [28, 21, 8, 27, 23]),
        ("mrmr", {}, [28, 24, 22, 8, 27, 21, 29, 4, 7, 25]),
        ("mifs", {"beta": 0.7}, [28, 24, 22, 20, 29]),
    ],
)
def test_the_examples_printed_by_feast(criterion, options, one_based, breast_cancer):
    table, labels = breast_cancer
    k = len(one_based)
    path = select_by_criterion(equal_width(table, 5), labels, criterion, k, **options)
    assert (path.order + 1).tolist() == one_based


def reference_cases():
    sets = ["breast_cancer_eqfreq5", "breast_cancer_eqwidth5", "breast_cancer_eqwidth10"]
    sets += ["wine_eqfreq5", "wine_eqwidth5", "wine_eqwidth10", "digits_raw17"]
    return [(data, name) for data in sets for name in NAMES]


@cache
def reference_table(data):
    """Return the table that FEAST was run on, and its classes."""
    name, _, binning = data.rpartition("_")
    loaders = {"breast_cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
    table, labels = loaders[name](return_X_y=True)
    if name == "digits":
        return table.astype(int), labels
    bins = int(binning.removeprefix("eqfreq").removeprefix("eqwidth"))
    cut = equal_frequency if "freq" in binning else equal_width
    return cut(table, bins), labels


@pytest.mark.parametrize(("data", "name"), reference_cases())
def test_every_reference_selection(data, name):
    want = FIGURES[data][name]
    criterion, options = NAMES[name]
    path = select_by_criterion(*reference_table(data), criterion, 10, **options)
    scores = in_nats(name, np.array(want["bits"]))
    np.testing.assert_allclose(path.scores, scores, rtol=0, atol=TOLERANCE)
    if name != "CMI":  # exact ties, broken by rounding there and by index here
        assert path.order.tolist() == want["selected"]


@pytest.mark.parametrize("data", FIGURES)
def test_the_tables_are_those_that_feast_was_run_on(data):
    table = np.column_stack(reference_table(data)).astype(np.int8)
    assert sha256(np.ascontiguousarray(table).tobytes()).hexdigest() == TABLES[data]
