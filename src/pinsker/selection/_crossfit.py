"""Cross-fitting: paths are searched afresh without the rows that judge them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded
from pinsker.selection._crossfit_judge import Judge, Testimony, Units
from pinsker.selection._crossfit_routes import Route, search_rows
from pinsker.selection._crossfit_trials import ALL, Trial, geometric_sizes, make_trials, smallest
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._path import SelectionPath
from pinsker.selection._rules import Decision, StoppingRule

#: Sizes up to this are on the coarse grid, and are told apart one by one.
_MANY = 100
#: Larger sizes are told apart down to this ratio.
_CLOSE = 1.1


@dataclass(frozen=True, eq=False)
class Judgement:
    """What held-out rows say about the sets of several paths.

    Attributes
    ----------
    paths : dict of str to SelectionPath
        The paths on all rows.
    trials : dict of (str, int) to Trial
        What is known of each path and size that was asked about.
    facts : TargetFacts
        What the bounds know of the target.
    unit : str
        Unit of the errors.
    n_rows : int
        Held-out rows.
    """

    paths: dict[str, SelectionPath]
    trials: dict[tuple[str, int], Trial]
    facts: TargetFacts
    unit: str
    n_rows: int

    @property
    def on_paths(self) -> list[Trial]:
        """All trials but that of all features."""
        return [trial for trial in self.trials.values() if trial.path != ALL]

    @property
    def of_all(self) -> Trial:
        """The trial of all features."""
        return next(trial for trial in self.trials.values() if trial.path == ALL)

    def choose(self, rule: StoppingRule) -> tuple[Trial, Decision]:
        """Return the set that a rule takes.

        A budget takes the smallest set that keeps to it by either evidence: all features, if no
        other does and none is clearly better; and if a path does not hold them, the set with
        the most information. Another rule cuts each path by itself, and of the sizes it names the
        one with the most information on the held-out rows is taken.
        """
        if not isinstance(rule, ErrorBudget):
            cuts = {name: rule.decide(path, self.facts) for name, path in self.paths.items()}
            near = [self._nearest(name, cut.size) for name, cut in cuts.items()]
            # A note says that a path does not go where the rule asks.
            best = max(near, key=lambda trial: (not cuts[trial.path].notes, trial.information))
            return best, cuts[best.path]
        known = (rule, self.facts, self.unit)
        fewer = [trial for trial in self.on_paths if trial.size < self.of_all.size]
        passing = [trial for trial in fewer if trial.keeps_to(*known)]
        if passing:
            chosen = smallest(passing)
            return chosen, Decision(chosen.size, chosen.allowed(*known))
        note = f"no set of fewer features is shown to keep to {rule} on held-out rows; "
        for every in self._everything():
            if every.may_stay(*known):
                note += "all are kept"
                return every, Decision(every.size, every.allowed(*known), (note,))
        best = max(self.on_paths, key=lambda trial: (trial.information, -trial.size))
        note += "the one with the most information is kept"
        return best, Decision(best.size, rule.budget(self.facts), (note,))

    def _everything(self) -> list[Trial]:
        """Return the trial of all features as one of a path that holds them, if there is one."""
        size = self.of_all.size
        return [
            replace(self.of_all, path=name)
            for name, path in self.paths.items()
            if path.sizes.max() == size
        ][:1]

    def _nearest(self, name: str, size: int) -> Trial:
        own = [trial for trial in self.on_paths if trial.path == name]
        return min(own, key=lambda trial: (abs(trial.size - size), trial.size))


class CrossFit:
    """Searches paths without the held-out rows, and asks the judge about their sets.

    Parameters
    ----------
    encoded : Encoded
        The table.
    judge : Judge
        Holds folds and witnesses.
    facts : TargetFacts
        What the bounds know of the target.
    n_forced : int
        Features that must stay.
    """

    def __init__(self, encoded: Encoded, judge: Judge, facts: TargetFacts, n_forced: int) -> None:
        self.encoded, self.judge, self.facts = encoded, judge, facts
        self.smallest = max(n_forced, 1)
        self.paths: dict[str, SelectionPath] = {}
        self.orders: dict[str, list[Units]] = {}
        everything = tuple(range(encoded.n_features))
        self.heard: dict[tuple[str, int], Testimony] = {}
        self.questions = {(ALL, len(everything)): [everything] * len(judge.folds)}

    def search(self, routes: Sequence[Route], known: dict[str, SelectionPath]) -> None:
        """Search every route on all rows, unless it is known, and without each fold's rows."""
        rows = [None, *(fold.train for fold in self.judge.folds)]
        wanted = [
            (route, k) for route in routes for k in range(len(rows)) if k or route.name not in known
        ]
        calls = [(route.search, rows[k]) for route, k in wanted]
        found = self.judge.jobs.run(search_rows, self.encoded, calls)
        paths = {(route.name, k): path for (route, k), path in zip(wanted, found, strict=True)}
        for route in routes:
            name = route.name
            self.paths[name] = known[name] if name in known else paths[name, 0]
            self.orders[name] = [paths[name, k].order for k in range(1, len(rows))]

    def judge_sizes(self, rule: StoppingRule, said: Callable[[str], Any]) -> Judgement:
        """Ask about sizes from coarse to fine, until the cut of a rule is known."""
        first = next(iter(self.paths))
        self._ask(self._coarse(first, rule)[::2])  # enough to know the witnesses' worth
        self.judge.dismiss(list(self.heard.values()))
        for name in self.paths:
            said(f"judging {name}")
            self._ask(self._coarse(name, rule))
        judgement = self.judgement()
        if isinstance(rule, ErrorBudget):
            while finer := self._finer(judgement, rule):
                self._ask(finer)
                judgement = self.judgement()
        return judgement

    def judgement(self) -> Judgement:
        """Return what is known so far."""
        trials = make_trials(self.heard, self.judge.prior, self.facts, len(self.paths))
        return Judgement(self.paths, trials, self.facts, self.judge.unit, len(self.judge.rows))

    def _coarse(self, name: str, rule: StoppingRule) -> list[tuple[str, int]]:
        path = self.paths[name]
        longest = self._longest(name)
        sizes = set(geometric_sizes(self.smallest, min(longest, max(_MANY, self.smallest))))
        if not isinstance(rule, ErrorBudget):
            sizes.add(min(rule.decide(path, self.facts).size, longest))
        return [(name, size) for size in sorted(sizes) if size >= self.smallest]

    def _longest(self, name: str) -> int:
        """Return the largest size that a path has on all rows and in every fold."""
        return max(
            self.smallest, min(len(order) for order in [self.paths[name].order, *self.orders[name]])
        )

    def _finer(self, judgement: Judgement, rule: ErrorBudget) -> list[tuple[str, int]]:
        """Return the middle of every gap in which a smaller set might pass than any known one."""
        chosen, _ = judgement.choose(rule)
        finer = []
        for name in self.paths:
            own = [trial for trial in judgement.on_paths if trial.path == name]
            passing = [t.size for t in own if t.keeps_to(rule, self.facts, self.judge.unit)]
            if self._longest(name) == self.encoded.n_features:
                passing.append(self.encoded.n_features)  # kept where nothing else is
            if not passing:
                continue
            above = min(passing)
            below = max((trial.size for trial in own if trial.size < above), default=above)
            middle = between(below, above)
            if below < middle < above and middle < chosen.size + (name == chosen.path):
                finer.append((name, middle))
        return finer

    def _ask(self, keys: Sequence[tuple[str, int]]) -> None:
        """Hear about sizes: what the search finds without the judging rows, and what it found.

        The folds speak for the search; the set that would be kept is the one found on all rows.
        Where the search is unstable the two differ, so the worse testimony counts. The second one
        is kind to a set that was chosen with these rows, but a set that fails even so is no choice.
        """
        for name, size in keys:
            self.questions[name, size] = [order[:size] for order in self.orders[name]]
        new = [key for key in self.questions if key not in self.heard]
        found = self.judge.hear([self.questions[key] for key in new])
        kept = self.judge.hear([self._kept(*key) for key in new])
        for key, one, other in zip(new, found, kept, strict=True):
            self.heard[key] = one.or_worse(other)

    def _kept(self, name: str, size: int) -> list[Units]:
        """Return the set that would be kept, the same for every fold."""
        order = self.paths[name].order if name in self.paths else tuple(range(size))
        return [order[:size]] * len(self.judge.folds)


def between(below: int, above: int) -> int:
    """Return the size to ask about between two, or `below` if they are close enough.

    Up to `_MANY` the middle, so that in the end neighbours are told apart. Beyond, the geometric
    middle, until the larger is at most a tenth above the smaller.

    Examples
    --------
    >>> between(9, 13), between(9, 10), between(100, 2400), between(2200, 2400)
    (11, 9, 490, 2200)
    """
    if above <= _MANY:
        return (below + above) // 2
    return below if above <= _CLOSE * below else round((below * above) ** 0.5)
