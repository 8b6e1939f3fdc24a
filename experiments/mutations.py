"""Mutations of the paper's layer, each of which a test must kill.

python experiments/mutations.py         all of them, a minute or two
python experiments/mutations.py 3 7     some of them, by number

Sign, constant, off by one, patience: a mutation is applied to a copy of the clone, and the tests
named beside it must fail there. The exit code is the number of those that survive.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RULES, KNN, PATH = (f"src/pinsker/search/_{name}.py" for name in ("rules", "knn", "path"))
BOUNDS = "src/pinsker/bounds"
CERTIFY = "src/pinsker/holdout/_certify.py"
REPRODUCE = "experiments/reproduce"
PUBLISHED = "tests/selectors/test_as_published.py"
RECIPES = "tests/experiments/test_recipes.py"
RELEASED = "tests/experiments/test_released_code.py"
BY_HAND = "tests/search/test_rules.py"


class Mutation(NamedTuple):
    """A change of one place, and the tests that must see it."""

    file: str
    before: str
    after: str
    tests: str


MUTATIONS = [
    # search
    Mutation(KNN, "change if self._grows else -change", "change", PUBLISHED),
    Mutation(KNN, "() if grows else range(problem.n_features)",
             "() if grows else range(1, problem.n_features)", PUBLISHED),
    Mutation(KNN, 'method="gao", **given', 'method="knn", **given', PUBLISHED),
    Mutation(PATH, "np.maximum(np.asarray(self.scores, dtype=np.float64), 0.0)",
             "np.asarray(self.scores, dtype=np.float64)", f"{BY_HAND} tests/search/test_path.py"),
    Mutation(PATH, "lost = most - np.asarray(self.information, dtype=np.float64)",
             "lost = np.asarray(self.information, dtype=np.float64) - most", BY_HAND),
    Mutation(PATH, "- 1 - best >= patience", "- 1 - best > patience",
             "tests/search/test_greedy.py"),
    # rules
    Mutation(RULES, "path.spent[1:] >= budget", "path.spent[1:] > budget", BY_HAND),
    Mutation(RULES, "return int(path.sizes[reached[0]]) if len(reached) else 0",
             "return int(path.sizes[reached[0] + 1]) if len(reached) else 0", BY_HAND),
    Mutation(RULES, 'return "mse" if printed', 'return "r2" if printed', PUBLISHED),
    Mutation(RULES, 'path.spent if path.direction == "backward" else path.spent[-1] - path.spent',
             "path.spent", PUBLISHED),
    Mutation(RULES, "np.asarray(path.scores) > self.nats", "np.asarray(path.scores) >= self.nats",
             BY_HAND),
    Mutation(RULES, "np.diff(scores, prepend=0.0) <= self.nats",
             "np.diff(scores, prepend=scores[:1]) <= self.nats", BY_HAND),
    # bounds and certificates
    Mutation(f"{BOUNDS}/_error_rate.py", "np.sqrt(2.0 * nu)", "np.sqrt(nu)",
             "tests/bounds/test_error_rate.py"),
    Mutation(f"{BOUNDS}/_squared_error.py", "2.0 * float(self.target_bound) ** 2 * nu",
             "float(self.target_bound) ** 2 * nu",
             "tests/bounds/test_squared_error.py tests/bounds/test_bound.py"),
    Mutation(f"{BOUNDS}/_error_interval.py", "entropy / (2.0 * LOG2)", "entropy / LOG2",
             "tests/bounds/test_error_interval.py"),
    Mutation(CERTIFY, "_ERRORS = 2.0", "_ERRORS = 1.0", PUBLISHED),
    Mutation(CERTIFY, "entropy - path.information[position]",
             "entropy + path.information[position]", PUBLISHED),
    Mutation(CERTIFY, "lost = budget.lost(path) if budget else path.lost()",
             "lost = path.lost()", PUBLISHED),
    # patience
    Mutation("src/pinsker/selectors/_knn_selectors.py", "selector.patience = None",
             "selector.patience = 10", PUBLISHED),
    Mutation(f"{REPRODUCE}/recipes.py", "knn=printed_score(n_neighbors), patience=None",
             "knn=printed_score(n_neighbors), patience=10", RECIPES),
    # the reproduction
    Mutation(f"{REPRODUCE}/released_code.py", "np.sqrt(2.0 * spent)", "np.sqrt(spent)", RELEASED),
    Mutation(f"{REPRODUCE}/released_code.py", "2.0 * largest**2 * spent", "largest**2 * spent",
             RELEASED),
    Mutation(f"{REPRODUCE}/released_code.py", "fall = -np.diff", "fall = np.diff", RELEASED),
    Mutation(f"{REPRODUCE}/problems.py", '"lost": whole[0] - accuracy',
             '"lost": accuracy - whole[0]', RECIPES),
    Mutation(f"{REPRODUCE}/results.py", 'bool(lost <= row["threshold"])',
             'bool(lost >= row["threshold"])', RECIPES),
    Mutation(f"{REPRODUCE}/table1.py", "return y + 1 if", "return y if", RECIPES),
    Mutation(f"{REPRODUCE}/exact_distributions.py", "kept = path.set_at(rule.size(path, facts))",
             "kept = path.set_at(3)", RECIPES),
]  # fmt: skip


def survives(mutation: Mutation, copy: Path) -> bool:
    """Apply a mutation to a copy, run its tests, and undo it."""
    path = copy / mutation.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.before) != 1:
        raise SystemExit(
            f"{mutation.file}: {mutation.before!r} is there {text.count(mutation.before)} times"
        )
    path.write_text(text.replace(mutation.before, mutation.after), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    known = {"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, *mutation.tests.split()], cwd=copy, capture_output=True, text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **known},
    )  # fmt: skip
    path.write_text(text, encoding="utf-8")
    if done.returncode not in (0, 1):
        raise SystemExit(f"{mutation.tests}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 0


def main() -> int:
    """Print every mutation with whether it was killed."""
    asked = [int(number) for number in sys.argv[1:]] or range(1, len(MUTATIONS) + 1)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        skipped = shutil.ignore_patterns(
            ".git", "__pycache__", "_build", ".*_cache", "reproduction"
        )
        shutil.copytree(ROOT, copy, dirs_exist_ok=True, ignore=skipped)
        for number in asked:
            mutation = MUTATIONS[number - 1]
            alive = survives(mutation, copy)
            survivors += alive
            said = "SURVIVES" if alive else "killed"
            change = f"{mutation.before} -> {mutation.after}"
            print(f"{number:2d} {said:<8} {mutation.file}: {change}", flush=True)
    print(f"{survivors} of {len(asked)} survive")
    return survivors


if __name__ == "__main__":
    raise SystemExit(main())
