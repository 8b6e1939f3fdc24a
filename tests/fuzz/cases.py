"""Strategies for calls: an entry point, a table, a target and options, by name and seed."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from hypothesis import strategies as st

from fuzz.calls import ENTRIES, CannotBeMadeError, Given
from fuzz.files import COMMANDS, CannotBeWrittenError
from fuzz.options import OPTIONS
from fuzz.tables import COLUMNS, CONTAINERS, TARGETS

ALL_ENTRIES = {**ENTRIES, **COMMANDS}
N_ROWS = (1, 2, 3, 5, 9, 20, 40, 60)


@dataclass(frozen=True)
class Case:
    """One call in words; its representation is an expression that makes it again."""

    entry: str
    container: str
    columns: tuple[str, ...]
    n_rows: int
    target: str
    options: tuple[tuple[str, str], ...]
    fresh: str
    seed: int

    def run(self):
        """Make the table, the target and the options, and call the entry point."""
        given, options = self._make()
        try:
            return ALL_ENTRIES[self.entry].function(given, options)
        except CannotBeWrittenError as error:
            raise CannotBeMadeError from error

    def _make(self):
        try:
            X, y, names = self._table(self.container, self.seed)
            X_new, y_new, _ = self._table(self.fresh, self.seed + 1)
        except Exception as error:
            raise CannotBeMadeError from error
        generator = np.random.default_rng(self.seed)
        given = Given(X, y, names, X_new, y_new, self.seed)
        options = {
            name: OPTIONS[name][value](self.n_rows, names, generator)
            for name, value in self.options
        }
        return given, options

    def _table(self, container, seed):
        generator = np.random.default_rng(seed)
        made = {
            f"{kind} {j}": COLUMNS[kind](generator, self.n_rows)
            for j, kind in enumerate(self.columns)
        }
        y = TARGETS[self.target](generator, self.n_rows, made)
        return CONTAINERS[container](made), y, tuple(made)


#: Most tables are those of users, so that calls get past the reading.
columns = st.sampled_from(["normal"] * 150 + ["binary", "text", "tied"] * 40 + sorted(COLUMNS))
containers = st.sampled_from(["pandas"] * 100 + ["array"] * 50 + sorted(CONTAINERS))
targets = st.sampled_from(
    ["class of the first", "binary"] * 100 + ["normal", "text"] * 50 + sorted(TARGETS)
)
entries = st.sampled_from(
    [name for name, entry in sorted(ALL_ENTRIES.items()) for _ in range(entry.weight)]
)


@st.composite
def cases(draw):
    """Return a call; half of them have an option or two."""
    entry = draw(entries)
    known = sorted(set(ALL_ENTRIES[entry].options) & set(OPTIONS))
    n_options = draw(st.sampled_from([0, 0, 0, 1, 1, 2]))
    names = draw(st.lists(st.sampled_from(known), max_size=n_options)) if known else []
    container = draw(containers)
    return Case(
        entry,
        container,
        tuple(draw(st.lists(columns, min_size=1, max_size=5))),
        draw(st.sampled_from(N_ROWS + (40, 60) * 20)),
        draw(targets),
        tuple((name, draw(st.sampled_from(sorted(OPTIONS[name])))) for name in sorted(set(names))),
        draw(st.sampled_from([container] * 150 + sorted(CONTAINERS))),
        draw(st.integers(0, 2**31)),
    )


def each_odd_thing():
    """Yield calls of every entry point with a plain table of which one thing is odd."""
    for name, entry in sorted(ALL_ENTRIES.items()):
        plain = _plain(name)
        yield from (replace(plain, columns=("normal", odd, "normal")) for odd in sorted(COLUMNS))
        yield from (replace(plain, container=odd, fresh=odd) for odd in sorted(CONTAINERS))
        yield from (replace(plain, fresh=odd) for odd in sorted(CONTAINERS))
        yield from (replace(plain, target=odd) for odd in sorted(TARGETS))
        yield from (replace(plain, n_rows=odd) for odd in N_ROWS)
        for option in sorted(set(entry.options) & set(OPTIONS)):
            yield from (replace(plain, options=((option, odd),)) for odd in sorted(OPTIONS[option]))


def each_pair_of_odd_things(entry):
    """Yield calls of one entry point with odd columns, containers and targets, two at a time."""
    plain = _plain(entry)
    for container, column in product(sorted(CONTAINERS), sorted(COLUMNS)):
        columns = ("normal", column, "normal")
        yield replace(plain, container=container, fresh=container, columns=columns)
    for container, target in product(sorted(CONTAINERS), sorted(TARGETS)):
        yield replace(plain, container=container, fresh=container, target=target)
    for column, target in product(sorted(COLUMNS), sorted(TARGETS)):
        yield replace(plain, columns=("normal", column, "normal"), target=target)


def _plain(entry):
    return Case(entry, "pandas", ("normal",) * 3, 60, "class of the first", (), "pandas", 0)
