"""The gate: a table and a target in, `Encoded` out; or columns in, `Columns` out."""

import contextlib
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from pinsker._notes import Note
from pinsker._types import (
    AnyArray,
    BoolArray,
    Fields,
    FloatArray,
    IntArray,
    Missing,
    RowLabels,
    Scale,
    TableLike,
    TargetLike,
    Task,
    Weights,
)
from pinsker.encoding._encoded import (
    Columns,
    Encoded,
    Kind,
    Profile,
    Target,
    category_text,
    check_weights,
    column_notes,
    constant_columns,
    drop_note,
    frozen,
    gap_note,
    identifier_note,
    match_features,
    near_unique_columns,
    take_features,
    usable_rows,
    weights_in_rows,
)
from pinsker.encoding._kinds import (
    CategoricalFeatures,
    FeatureGroups,
    choose_kinds,
    declared_categories,
    find_columns,
    make_features,
    with_written_values,
)
from pinsker.encoding._read import (
    Origin,
    RawTable,
    most_filled,
    object_array,
    read_table,
    sparse_names,
)
from pinsker.encoding._target import (
    build_target,
    check_scale,
    read_target,
    refuse_far,
    scale_columns,
    units_behind,
)
from pinsker.exceptions import DataError, ParameterError

#: Multipliers of splitmix64, which spreads every bit over all others.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


#: Digits of numbers that rows are compared by, of what a column varies by, or of what is rare in
#: it: in one half of the columns fewer, for files of two decimals; and digits of the number itself,
#: which is all that float32 and files keep.
_DIGITS, _FILE_DIGITS = (4, 3), 7
#: Integers at most that only name rows, and rows from which on a column without repeats does.
_MOST_NAMES, _FEWEST_NAMED = 2, 20
#: Cells at most that the profile of a table is made from, and rows at least and at most.
_PROFILED_CELLS, _FEWEST_PROFILED, _MOST_PROFILED = 2_000_000, 200, 2000
#: Categories of a column that a profile names: the most frequent ones.
_MOST_PROFILED_CATEGORIES = 20


def hash_rows(table: RawTable, target: Target, like: Profile) -> AnyArray:
    """Return a 64-bit hash of every row, the same of a copy in float32 or with renamed classes."""
    halves, n_hashed = [np.zeros(table.n_rows, dtype=np.uint64) for _ in range(3)], 0
    for j, (origin, known) in enumerate(zip(table.origins, table.categories, strict=True)):
        if origin is Origin.TIME or table.names[j] in like.unhashed:
            continue
        column, bins = table.values[:, j], like.bins.get(table.names[j], ())
        digits = _DIGITS[n_hashed % 2]
        if origin is Origin.BOOLEAN or known is None:
            bits = _bits(_rounded(column, digits, bins))
        else:
            bits = _categories(column, known, digits, bins)
        halves[n_hashed % 2] = _mix(halves[n_hashed % 2] * np.uint64(3) + bits)
        n_hashed += 1
    for part in target.parts or (target,):
        held = part.raw if part.labels is None else part.labels[:, None]
        assert held is not None  # a target has classes or values
        for column in np.asarray(held, dtype=np.float64).T:
            halves[2] = _mix(halves[2] * np.uint64(3) + _bits(_rounded(column, _DIGITS[0])))
    halves[1] = halves[1] if n_hashed > 1 else _mix(halves[0])
    shifts = zip(halves, _HASHED_BITS, strict=True)
    first, second, last = (half >> np.uint64(64 - n_bits) for half, n_bits in shifts)
    return np.asarray(first << np.uint64(40) | second << np.uint64(16) | last)


#: Bits of a hash from one half of the columns, from the other, and from the target.
_HASHED_BITS = 24, 24, 16


def halves_of_hashes(hashes: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return what a hash knows of each half of the columns, without the target."""
    return hashes >> np.uint64(40), hashes >> np.uint64(16) & np.uint64(2**24 - 1)


def _columns_that_name_rows(table: RawTable) -> tuple[str, ...]:
    """Return the times of a table, and the few integers and texts that differ in all rows."""
    # Times are read relative to the first one of a table; new customers have new numbers.
    times = [j for j, origin in enumerate(table.origins) if origin is Origin.TIME]
    others = [j for j in range(table.n_columns) if j not in times]
    parts = [table.values[:n] for n in (_FEWEST_NAMED, 50 * _FEWEST_NAMED, table.n_rows)]
    distinct = [j for j in others if all(_are_distinct(part[:, j]) for part in parts)]
    if len(distinct) > _MOST_NAMES:  # then some may be amounts
        distinct = [
            j
            for j in distinct
            if table.categories[j] is not None or (np.diff(table.values[:, j]) > 0.0).all()
        ]
    if len(distinct) == len(others) or table.n_rows < _FEWEST_NAMED:
        distinct = []
    return tuple(table.names[j] for j in (*times, *distinct))


def _are_distinct(column: FloatArray) -> bool:
    return bool((column == np.floor(column)).all()) and len(np.unique(column)) == len(column)


def hash_numbers(columns: Iterable[FloatArray]) -> AnyArray:
    """Return a hash of every row of columns of numbers; comparable within one table only."""
    hashes: Any = np.uint64(0)
    for column in columns:
        hashes = _mix(hashes * np.uint64(3) + _bits(column))
    return np.asarray(hashes)


def _rounded(column: FloatArray, n_digits: int, bins: Sequence[Any] = ()) -> FloatArray:
    """Return numbers as exact as a column's deciles, or else their own digits, ask for."""
    has_spread = len(bins) > 4 and not isinstance(bins[0], str)
    spread = bins[-2] - bins[1] if has_spread else 0.0
    with np.errstate(all="ignore"):
        own = np.floor(np.log10(np.abs(column))) + 1.0
        digits = np.maximum(np.floor(np.log10(spread)) + 1.0 - n_digits, own - _FILE_DIGITS)
        digits = digits if spread > 0.0 else own - n_digits
        # First as files have it: 12.35 lies between 12.3 and 12.4, in float32 on one side.
        in_file = np.round(column / 10.0 ** (own - _FILE_DIGITS))
        kept = np.round(in_file / 10.0 ** (digits - (own - _FILE_DIGITS)))
        rounded = (kept * 10.0**digits).astype(np.float32)  # infinite where too large
    plain = (column == np.floor(column)) | ~np.isfinite(rounded)
    return np.where(plain, column, rounded)


def _bits(column: FloatArray) -> AnyArray:
    same = np.where(np.isnan(column), np.nan, column + 0.0)
    return np.ascontiguousarray(same).view(np.uint64)


def _categories(
    column: FloatArray, known: AnyArray, n_digits: int, bins: Sequence[Any]
) -> AnyArray:
    """Return bits of categories: those that are written as numbers have the bits of the number."""
    texts = [category_text(one) for one in known.tolist()]
    coded = [text.encode(errors="surrogatepass") for text in texts]
    each = [int.from_bytes(hashlib.blake2b(one, digest_size=8).digest(), "little") for one in coded]
    numbers = _numbers_of(texts)
    bits = _bits(_rounded(numbers, n_digits, bins))
    own = np.where(np.isnan(numbers), np.array(each, np.uint64), bits)
    codes = np.where(np.isnan(column), len(known), column).astype(np.int64)
    return np.append(own, _bits(np.array([np.nan])))[codes]


def _numbers_of(texts: Sequence[str]) -> FloatArray:
    """Return texts as the numbers that they write; NaN of others."""
    numbers = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        with contextlib.suppress(ValueError):
            numbers[place] = float(text)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _mix(values: AnyArray) -> AnyArray:
    mixed = values + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


#: What the categories that occur once become.
RARE = "(values that occur once)"


def drop_uninformative(encoded: Encoded, fixed: tuple[int, ...] = ()) -> Encoded:
    """Return a table without constants, and without categories that only name one row."""
    columns = _merge_single_values(encoded.columns)
    constant = constant_columns(columns)
    varies = [
        feature
        for feature, own in enumerate(encoded.features)
        if feature in fixed or not constant[list(own)].all()
    ]
    merged = replace(encoded, columns=columns)
    if not varies or len(varies) == encoded.n_features:
        return merged
    gone = sorted(set(range(encoded.n_features)) - set(varies))
    note = Note("left out before the search", tuple(encoded.feature_names[j] for j in gone))
    kept = take_features(merged, varies)
    near = [j for j in near_unique_columns(encoded.columns) if not constant[j]]
    notes = [one for one in columns.notes if one.kind not in ("constant", "identifiers")]
    notes += identifier_note([columns.names[j] for j in near])
    return replace(kept, columns=replace(kept.columns, notes=(*notes, note)))


def _merge_single_values(columns: Columns) -> Columns:
    near = near_unique_columns(columns)
    if not near:
        return columns
    values, categories, kinds = columns.values.copy(), list(columns.categories), list(columns.kinds)
    for j in near:
        values[:, j], categories[j] = _merged(values[:, j], columns.categories[j])
        kinds[j] = Kind.NOMINAL
    return replace(columns, values=frozen(values), categories=tuple(categories), kinds=tuple(kinds))


def _merged(values: FloatArray, known: Any) -> tuple[IntArray, AnyArray]:
    codes = values.astype(np.int64)
    counts = np.bincount(codes, minlength=len(known))
    repeated = np.flatnonzero(counts > 1)
    code = np.full(len(known), len(repeated), dtype=np.int64)
    code[repeated] = np.arange(len(repeated))
    return code[codes], object_array([*(known[c] for c in repeated), RARE])


def encode(
    X: TableLike,
    y: TargetLike,
    *,
    scale: Scale = "copula",
    categorical_features: CategoricalFeatures = "from_dtype",
    missing: Missing = "error",
    feature_groups: FeatureGroups | None = None,
    task: Literal["auto"] | Task = "auto",
    columns: IntArray | None = None,
    sample_weight: RowLabels = None,
    read_text: bool = True,
    like: Profile | None = None,
) -> Encoded:
    """Turn a table and its target into what the engine works on, profiled in the bins of `like`."""
    if y is None:
        raise DataError("requires y to be passed, but the target y is None")
    table = read_table(X, label="X", prefix="x", two_dimensional=True, columns=columns)
    target_table, task = read_target(y, task)
    check_lengths({"X": table.n_rows, "y": target_table.n_rows})
    if table.n_rows < 2:
        raise DataError(
            f"<Found array with 1 sample(s) (shape={table.values.shape}) while a minimum of 2 is "
            "required|the table has one row: pass two at least, and a hundred to learn from>."
        )
    weights = None if sample_weight is None else check_weights(sample_weight, table.n_rows)
    rows = usable_rows([table], missing, target=target_table, weights=weights)
    notes = drop_note(len(rows), table.n_rows, missing)
    if weights is not None:
        used = rows[weights[rows] > 0]
        if len(used) < len(rows):
            notes.append(Note("weight zero", figures={"left_out": len(rows) - len(used)}))
        rows, weights = used, weights[used]
        if len(rows) < 2:
            raise DataError("fewer than two rows have a weight above zero.")
    given_names = table.names if columns is None else sparse_names(X.shape[1], "x")
    features, feature_names = make_features(given_names, feature_groups)
    if columns is not None:
        if not isinstance(categorical_features, str | bool):  # positions mean other columns then
            raise ParameterError(
                "categorical_features lists columns, but only some columns of this large sparse "
                "table are read: use 'from_dtype', 'all' or 'none', or fewer rows or columns.",
                parameter="categorical_features",
            )
        features, feature_names = _features_among(columns, features, feature_names)
    n_given, table, target_table = table.n_rows, table.keep(rows), target_table.keep(rows)
    if missing == "auto":
        notes += gap_note(table)
    written = _as_written(table, categorical_features) if read_text else table
    target = build_target(target_table, task=task, scale=scale, notes=[])
    profile, hashes = _describe(written, target, like)
    return Encoded(
        columns=build_columns(written, scale, categorical_features, notes, weights),
        target=target,
        features=features,
        feature_names=feature_names,
        rows=frozen(rows),
        n_given=n_given,
        hashes=frozen(hashes),
        profile=profile,
        sources=None if columns is None else frozen(columns),
        given_names=given_names,
        weights=None if weights is None else frozen(weights),
    )


def _as_written(table: RawTable, categorical_features: CategoricalFeatures) -> RawTable:
    """Read text that holds dates or numbers, unless the user declares it categories."""
    if Origin.TEXT not in table.origins:
        return table
    return with_written_values(table, declared_categories(table, categorical_features))


def profile_of(
    X: TableLike, y: TargetLike, task: Literal["auto"] | Task = "auto", like: Profile | None = None
) -> tuple[Profile, AnyArray]:
    """Return the profile of rows, and their hashes: those of `encode` for the same rows."""
    table = read_table(X, label="X", prefix="x", two_dimensional=True)
    if y is None:  # rows without labels
        nothing = Target("regression", None, None, None, np.zeros((table.n_rows, 0)), ())
        return _describe(_as_written(table, "from_dtype"), nothing, like)
    target_table, task = read_target(y, task)
    check_lengths({"X": table.n_rows, "y": target_table.n_rows})
    # A batch of a rare class may have one value.
    target = build_target(target_table, task=task, scale="none", notes=[], is_learned=False)
    return _describe(_as_written(table, "from_dtype"), target, like)


def _describe(table: RawTable, target: Target, like: Profile | None) -> tuple[Profile, AnyArray]:
    if like is not None and len(like.bins) == table.n_columns:  # of an array names are others
        table = replace(table, names=tuple(like.bins))
    profile = _profile(table, target, like)
    return profile, hash_rows(table, target, like or profile)


def _profile(table: RawTable, target: Target, like: Profile | None) -> Profile:
    """Return how columns and target are distributed, by deciles and by frequent categories."""
    n_rows = max(min(_PROFILED_CELLS // max(table.n_columns, 1), _MOST_PROFILED), _FEWEST_PROFILED)
    rows = np.arange(table.n_rows)
    if table.n_rows > n_rows:  # any of them: each second row may be of another kind
        rows = np.random.default_rng(0).choice(table.n_rows, n_rows, replace=False)
    profile = _profile_columns(table, rows, like)
    parts = () if target.labels is None else target.parts or (target,)
    known_classes = (() if part.classes is None else part.classes for part in parts)
    classes = tuple(tuple(map(category_text, own)) for own in known_classes)
    unhashed = _columns_that_name_rows(table) if like is None else like.unhashed
    labels = [part.labels for part in parts if part.labels is not None]
    held = np.stack(labels, axis=1) if labels else target.raw
    assert held is not None  # a target has classes or values
    names = tuple(map(str, range(held.shape[1])))
    known = tuple(part.classes for part in parts) or (None,) * len(names)
    raw = RawTable(held.astype(np.float64), (Origin.NUMBER,) * len(names), known, names, "y")
    targets = _profile_columns(raw, rows, None if like is None else like.targets)
    return replace(profile, classes=classes, targets=targets, unhashed=unhashed)


def _profile_columns(table: RawTable, rows: IntArray, like: Profile | None) -> Profile:
    values = table.values[rows]
    bins = {} if like is None else like.bins
    shares, modes = {}, {}
    for j, name in enumerate(table.names):
        known = None if table.origins[j] is Origin.BOOLEAN else table.categories[j]
        if like is not None and name not in bins:
            continue
        present = values[~np.isnan(values[:, j]), j]
        cells, counts = np.unique(present, return_counts=True)
        modes[name] = float(counts.max(initial=0) / len(values))
        cells = _cells(cells, known, bins.get(name))
        if like is None:
            bins[name] = _bins(cells, counts) if table.origins[j] is not Origin.TIME else ()
        found = _shares(cells, counts, bins[name]) * (len(present) / len(values))
        shares[name] = (1.0 - len(present) / len(values), *found.tolist())
    own = {name: tuple(bins[name]) for name in shares}
    return Profile(len(values), own, shares, modes, compared=tuple(shares))


def _cells(own: FloatArray, known: AnyArray | None, bins: Sequence[Any] | None) -> AnyArray:
    """Return values as numbers where they and the bins are, else as text."""
    in_text = bins is not None and len(bins) > 0 and isinstance(bins[0], str)
    if known is None and not in_text:
        return own
    values = own.tolist() if known is None else known[own.astype(np.int64)].tolist()
    texts = [category_text(one) for one in values]
    numbers = _numbers_of(texts)
    return object_array(texts) if in_text or np.isnan(numbers).any() else numbers


def _bins(cells: AnyArray, counts: IntArray) -> tuple[float | str, ...]:
    """Return the ends of the bins of numbers, or the categories that have one each."""
    if cells.dtype == object:
        most: Counter[str] = Counter()
        for text, count in zip(cells.tolist(), counts.tolist(), strict=True):
            most[text] += count  # 1 and "1" are one
        return tuple(sorted(most, key=lambda text: (-most[text], text))[:_MOST_PROFILED_CATEGORIES])
    order = np.argsort(cells)  # those that text writes are in the order of the text
    cells, counts = cells[order], counts[order]
    at_deciles = np.linspace(0, counts.sum() - 1, 11 if len(cells) else 0).astype(np.int64)
    return tuple(np.unique(cells[np.searchsorted(counts.cumsum(), at_deciles, "right")]).tolist())


def _shares(cells: AnyArray, counts: IntArray, bins: tuple[float | str, ...]) -> FloatArray:
    """Return the share of the rows in each bin, and in none of them."""
    texts = bool(bins) and isinstance(bins[0], str)
    places = np.full(len(cells), len(bins), dtype=np.int64)
    if bins and texts == (cells.dtype == object):
        place = {value: i for i, value in enumerate(bins)}
        places = np.searchsorted(np.asarray(bins), cells) if not texts else places
        if texts:
            places[:] = [place.get(one, len(bins)) for one in cells]
    n_rows = max(int(counts.sum()), 1)
    return np.asarray(np.bincount(places, counts, minlength=len(bins) + 1) / n_rows)


def encode_again(
    X: TableLike, y: TargetLike, feature_columns: Sequence[Sequence[int]], **encoding: Any
) -> Encoded:
    """Encode other rows of a table with the features that a fit searched, numbered as there."""
    columns = columns_to_read(X)
    if columns is not None:
        columns = np.sort([j for own in feature_columns for j in own]).astype(np.int64)
    return match_features(encode(X, y, **encoding, columns=columns), feature_columns)


def columns_to_read(
    X: TableLike, fixed: Iterable[Any] | None = None, feature_groups: FeatureGroups | None = None
) -> IntArray | None:
    """Return which columns of a large sparse table to read: fixed ones, groups, the fullest."""
    is_sparse = sparse.issparse(X)
    if not is_sparse or len(X.shape) != 2:
        return None
    names = sparse_names(X.shape[1], "x")
    features, feature_names = make_features(names, feature_groups)
    always = {j for columns in features if len(columns) > 1 for j in columns}
    given = () if fixed is None else fixed
    single = [item for item in given if item in names or item not in feature_names]
    return most_filled(X, always | set(find_columns(single, names, "fixed_features")))


def _features_among(
    columns: IntArray, features: tuple[tuple[int, ...], ...], names: tuple[str, ...]
) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    place = {int(column): i for i, column in enumerate(columns)}
    read = [i for i, own in enumerate(features) if all(j in place for j in own)]
    among = tuple(tuple(place[j] for j in features[i]) for i in read)
    return among, tuple(names[i] for i in read)


def encode_columns(
    x: TableLike,
    *,
    name: str = "x",
    scale: Scale = "copula",
    categorical_features: CategoricalFeatures = "from_dtype",
    missing: Missing = "error",
) -> Columns:
    """Turn one or several columns of any kind into validated, scaled, frozen `Columns`."""
    kinds = {name: categorical_features}
    how: Fields = {"scale": scale, "categorical_features": kinds, "missing": missing}
    return encode_together({name: x}, **how)[0][name]


def encode_together(
    tables: Mapping[str, Any],
    *,
    scale: Scale = "copula",
    categorical_features: Mapping[str, CategoricalFeatures] | None = None,
    missing: Missing = "error",
) -> tuple[dict[str, Columns], IntArray]:
    """Encode tables that share their rows, so that ``missing="drop"`` drops the same ones."""
    read = {key: read_table(data, label=key, prefix=key) for key, data in tables.items()}
    check_lengths({key: table.n_rows for key, table in read.items()})
    rows = usable_rows(list(read.values()), missing)
    encoded = {}
    for key, table in read.items():
        kinds = (categorical_features or {}).get(key, "from_dtype")
        notes = drop_note(len(rows), table.n_rows)
        encoded[key] = build_columns(table.keep(rows), scale, kinds, notes)
    return encoded, frozen(rows)


def check_lengths(n_rows: Mapping[str, int]) -> None:
    """Refuse tables of different lengths, by their names, with scikit-learn's message."""
    lengths = list(n_rows.values())
    if len(set(lengths)) > 1:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: {lengths} rows in "
            f"{' and '.join(n_rows)}. Every row needs an entry in each."
        )


def build_columns(
    table: RawTable,
    scale: Scale,
    categorical_features: CategoricalFeatures,
    notes: list[Note],
    weights: Weights = None,
) -> Columns:
    """Choose kinds, scale numbers, code categories, and note what a user should know."""
    check_scale(scale)
    n_rows = table.n_rows if weights is None else int(weights_in_rows(weights).sum())
    kinds, doubts = choose_kinds(table, categorical_features, n_rows)
    numeric = np.array([kind.is_numeric for kind in kinds])
    ranked = np.array([kind is Kind.CONTINUOUS for kind in kinds])
    values = scale_columns(table.values, numeric, ranked, scale, weights)
    units = tuple(
        units_behind(values[:, j], table.values[:, j], weights) if by_rank else None
        for j, by_rank in enumerate(ranked & (scale == "copula"))
    )
    if scale == "none":
        refuse_far(values, numeric, table)
    categories: list[AnyArray | None] = [None] * table.n_columns
    for j in np.flatnonzero(~numeric):
        values[:, j], categories[j] = _code_categories(table, int(j), kinds[j])
    gaps = np.isnan(values)
    values[gaps] = 0.0
    values.flags.writeable = False
    # A boolean column whose missing values are a third value is boolean no longer.
    kinds = tuple(
        Kind.NOMINAL if known is not None and len(known) > 2 else kind
        for kind, known in zip(kinds, categories, strict=True)
    )
    missing, held = frozen(gaps) if gaps.any() else None, tuple(categories)
    columns = Columns(values, kinds, table.names, held, scale, missing=missing, units=units)
    return replace(columns, notes=(*notes, *table.notes, *doubts, *column_notes(columns)))


def _code_categories(table: RawTable, j: int, kind: Kind) -> tuple[FloatArray, AnyArray]:
    """Return codes 0, 1, ... of the categories in use, missing last, and the categories."""
    column, known = table.values[:, j], table.categories[j]
    gaps: BoolArray = np.isnan(column)
    if kind is Kind.BOOLEAN and known is not None and len(known) == 2:
        codes, categories = column.copy(), known  # False stays 0 and True 1, whichever occur
    else:
        used, inverse = np.unique(column[~gaps], return_inverse=True)
        codes = np.zeros(len(column))
        codes[~gaps] = inverse
        categories = used if known is None else known[used.astype(np.int64)]
    if gaps.any():
        codes[gaps] = len(categories)
        categories = object_array([*categories.tolist(), None])
    categories.flags.writeable = False
    return codes, categories
