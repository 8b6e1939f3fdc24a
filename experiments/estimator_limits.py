"""Print the numbers of docs/estimators.md: where estimates by neighbours and by counting fail."""

import warnings

import numpy as np

from pinsker import conditional_mutual_information, mutual_information
from pinsker.exceptions import UnreliableEstimateWarning
from pinsker.information._measure import Options, prepare
from pinsker.information._reliability import neighbor_resolution
from tests.truths import CommonCause, InformationProblem, TwoNormalClasses, information_problems

N_SAMPLES = 8


def estimate(problem: InformationProblem, n_rows: int, number: int) -> float:
    x, y, z = problem.sample(n_rows, number)
    if z is None:
        return mutual_information(x, y)
    return conditional_mutual_information(x, y, z)


def mean_estimate(problem: InformationProblem, n_rows: int) -> float:
    return float(np.mean([estimate(problem, n_rows, number) for number in range(N_SAMPLES)]))


def resolution(problem: InformationProblem, n_rows: int) -> float:
    options = Options("knn", 3, "copula", "auto", "error", "grassberger", 1)
    found = []
    for number in range(N_SAMPLES):
        prepared = prepare(*problem.sample(n_rows, number), options)
        found.append(neighbor_resolution(prepared.layout, prepared.arguments))
    return float(np.mean(found))


def print_resolution() -> None:
    print("rows   d   resolution   estimate / truth")
    for n_rows in (200, 1000, 4000):
        for d in (1, 2, 4, 8, 16):
            problem = CommonCause(1.0, d)
            ratio = mean_estimate(problem, n_rows) / problem.truth()
            print(f"{n_rows:5d} {d:3d} {resolution(problem, n_rows):10.2f} {ratio:14.2f}")


def print_counting_bias() -> None:
    rng = np.random.default_rng(0)
    for correction in ("none", "miller-madow", "grassberger"):
        values = []
        for _ in range(200):
            x, y = rng.integers(0, 10, size=(2, 200)).astype(str)
            values.append(mutual_information(x, y, method="discrete", correction=correction))
        print(f"independent 10 x 10, 200 rows, {correction}: {np.mean(values):.3f}")


def print_classes_and_numbers() -> None:
    as_classes, as_numbers = [], []
    for number in range(N_SAMPLES):
        x, y, _ = TwoNormalClasses(1.0).sample(500, number)
        table = np.hstack([x, np.random.default_rng([number, 1]).normal(size=(500, 40))])
        as_classes.append(mutual_information(table, y))
        as_numbers.append(mutual_information(table, y, categorical_features={"y": "count"}))
    truth = TwoNormalClasses(1.0).truth()
    print(f"binary target, 41 columns, 500 rows, truth {truth:.2f}:", end=" ")
    print(f"as classes {np.mean(as_classes):.2f}, as numbers {np.mean(as_numbers):.2f}")


def print_second_estimator() -> None:
    problems = information_problems()
    for name, n_rows in (("G2 chain given z", 500), ("G5 d=10 all", 1000)):
        for method in ("knn", "ksg2"):
            values = []
            for number in range(5 * N_SAMPLES):
                x, y, z = problems[name].sample(n_rows, number)
                if z is None:
                    values.append(mutual_information(x, y, method=method))
                else:
                    values.append(conditional_mutual_information(x, y, z, method=method))
            truth = problems[name].truth()
            print(f"{name}, {n_rows} rows, {method}: {np.mean(values):.3f} of {truth:.3f}")


def print_what_nobody_can_do() -> None:
    wave = CommonCause(1.0, 16, "wave")
    print(f"wave of 16 columns, 1000 rows: {mean_estimate(wave, 1000):.2f} of {wave.truth():.2f}")
    for method in ("gaussian", "copula"):
        samples = [wave.sample(1000, number) for number in range(N_SAMPLES)]
        values = [conditional_mutual_information(*rows, method=method) for rows in samples]
        print(f"the same, {method}: {np.mean(values):.2f}")
    tails = information_problems()["C2 5x5 nu=2"]
    for n_rows in (1000, 4000):
        value = mean_estimate(tails, n_rows)
        print(f"Student t, 5 x 5, {n_rows} rows: {value:.2f} of {tails.truth():.2f}")
    for name in ("C1 eps=0.1", "C1 eps=0.5", "C1 eps=0.75", "C5", "C7 1.0,2.0", "M6 given second"):
        problem = information_problems()[name]
        lost = 1 - mean_estimate(problem, 1000) / problem.truth()
        print(f"{name}: {100 * lost:.0f} % lost with 1000 rows")


if __name__ == "__main__":
    warnings.simplefilter("ignore", UnreliableEstimateWarning)
    print_resolution()
    print_counting_bias()
    print_classes_and_numbers()
    print_second_estimator()
    print_what_nobody_can_do()
