"""Example 1: what information drops, a linear model may need; and what the example says wrongly.

    Y = a X1 + b X2,   X1 = Z,   X2 = exp(Z),   Z ~ N(0, sigma^2)

Given one of the features the other tells nothing more about Y, so a model of any form can do
without one of them; a linear model cannot, when `a` is scaled so that both parts of Y vary alike.
"""

import math
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor

from experiments.reproduce.recipes import example1_selectors
from experiments.reproduce.results import (
    COLOURS,
    DEFAULT,
    Check,
    Report,
    Row,
    Settings,
    Task,
    chosen,
    markdown_table,
    number,
    plain_axes,
)

NAMES = np.array(["X1", "X2"])
VARIANCES = (0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 9.0)


def draw_rows(n: int, sigma: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of the example, `a` scaled so that both parts of Y vary alike."""
    z = np.random.default_rng(seed).normal(scale=sigma, size=n)
    X = np.column_stack([z, np.exp(z)])
    a = np.exp(z).std() / z.std()
    return X, a * X[:, 0] + X[:, 1]


def kept_and_reached(X: np.ndarray, y: np.ndarray) -> list[Row]:
    """Return a row per selector: what it keeps, and R2 of a free and of a linear model with it."""
    rows = []
    for name, grade, selector in example1_selectors():
        kept = selector.fit(X, y).get_support()
        free, linear = (
            float(cross_val_score(model, X[:, kept], y, cv=5).mean())
            for model in (KNeighborsRegressor(), LinearRegression())
        )
        row = {"recipe": name, "selector": name, "grade": grade, "kept": " ".join(NAMES[kept])}
        rows.append({**row, "r2_neighbors": free, "r2_linear": linear})
    return rows


def squared_correlations(variance: float, scaled: bool = False) -> tuple[float, float, float]:
    """Return rho^2 of (X1, X2), (X1, Y) and (X2, Y), exactly, by the moments of the lognormal.

    a = b = 1, or with `scaled` a = sd(X2) / sd(X1).
    """
    spread = math.exp(variance) * math.expm1(variance)
    shared = variance * math.exp(variance / 2)
    a = math.sqrt(spread / variance) if scaled else 1.0
    target = a**2 * variance + spread + 2 * a * shared
    return (
        shared**2 / (variance * spread),
        (a * variance + shared) ** 2 / (variance * target),
        (spread + a * shared) ** 2 / (spread * target),
    )


def tasks(settings: Settings) -> list[Task]:
    """Return one run."""
    return [Task("selectors", run, (150 if settings.quick else 500, settings.seed), DEFAULT)]


def run(n_rows: int, seed: int) -> list[Row]:
    """Return what each selector keeps, and what a free and a linear model make of it."""
    return kept_and_reached(*draw_rows(n_rows, 1.0, seed))


def summary(rows: list[Row]) -> list[Row]:
    """Return the selectors, and exact correlations beside the claim."""
    return [*rows, *correlations()]


def their_rows() -> list[Row]:
    """Return nothing: the paper prints no numbers."""
    return []


def report(found: list[Row]) -> Report:
    """Show selectors, and the exact correlations beside the claim."""
    rows = [row for row in found if row.get("selector")]
    exact = [row for row in found if row.get("variance") is not None]
    page = (
        "# Example 1\n\nPublished: both scores are nearly zero, and a linear model needs both "
        f"features.\n\n{block(found)}\n\nPublished: for a large σ² both squared "
        "correlations with Y are high, that between the features is small. Exact, a = b = 1, and "
        f"with a = sd(X2)/sd(X1):\n\n{_exact_table(exact)}\n"
    )
    return Report(page, block(found), lambda figure: draw(figure, rows, exact), checks(rows))


def block(found: list[Row]) -> str:
    """Return the table of docs/paper.md."""
    lines = [
        (row["selector"], row["grade"], row["kept"], number(row["r2_neighbors"]),
         number(row["r2_linear"]))
        for row in found
        if row.get("selector")
    ]  # fmt: skip
    head = ("selector", "grade", "kept", "R² of 5 neighbors", "R² of a linear model")
    return markdown_table(head, lines)


def correlations() -> list[Row]:
    """Return exact squared correlations for several variances, plain and scaled."""
    found = []
    for scaled in (False, True):
        for variance in VARIANCES:
            between, first, second = squared_correlations(variance, scaled)
            about = {"recipe": "exact", "variance": variance, "scaled": scaled}
            found.append({**about, "between": between, "first": first, "second": second})
    return found


def _exact_table(exact: list[Row]) -> str:
    lines = [
        ("a = sd(X2)/sd(X1)" if row["scaled"] else "a = 1", f"{row['variance']:g}",
         *(number(row[name], 4) for name in ("between", "first", "second")))
        for row in exact
    ]  # fmt: skip
    return markdown_table(("", "σ²", "ρ²(X1, X2)", "ρ²(X1, Y)", "ρ²(X2, Y)"), lines)


def checks(rows: list[Row]) -> list[Check]:
    """Return what must hold: information keeps one feature, linear selection both."""
    one = [row for row in rows if row["grade"] != "as printed" and "Linear" not in row["selector"]]
    two = [row for row in rows if "Linear" in row["selector"]]
    kept = "; ".join(f"{row['selector']}: {row['kept']}" for row in one)
    alone = all(" " not in row["kept"] for row in one)
    linear = f"R² of a linear model {one[0]['r2_linear']:.3f} with one, {two[0]['r2_linear']:.3f}"
    return [
        Check("information keeps one of two features", kept, alone),
        Check("linear elimination keeps both", f"{linear} with both",
              all(row["kept"] == "X1 X2" for row in two)),
    ]  # fmt: skip


def draw(figure: Any, rows: list[Row], exact: list[Row]) -> None:
    """Draw exact correlations, plain and scaled, and R2 with what is kept."""
    left, middle, right = figure.subplots(1, 3)
    figure.set_size_inches(10.5, 3.4)
    for axes, scaled, title in ((left, False, "a = b = 1"), (middle, True, "a = sd(X2)/sd(X1)")):
        group = chosen(exact, scaled=scaled)
        for name, label in (("between", "X1, X2"), ("first", "X1, Y"), ("second", "X2, Y")):
            x = [row["variance"] for row in group]
            axes.plot(x, [row[name] for row in group], marker="o", markersize=3, label=label)
        plain_axes(axes, title, "σ²", "squared correlation")
        axes.legend(frameon=False, fontsize="small")
    places = range(len(rows))
    right.barh(places, [row["r2_linear"] for row in rows], color=COLOURS["default"])
    right.set_yticks(places, [f"{row['selector']}: {row['kept']}" for row in rows],
                     fontsize="x-small")  # fmt: skip
    right.invert_yaxis()
    plain_axes(right, "Linear model on what is kept", "R²", "")
