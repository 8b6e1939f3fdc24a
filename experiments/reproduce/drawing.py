"""How all figures look."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

#: One colour per recipe in every figure (Okabe and Ito's, told apart by colour-blind readers).
COLOURS = {
    "published": "#7f7f7f",
    "as published": "#E69F00",
    "as printed": "#D55E00",
    "default": "#0072B2",
    "all features": "#000000",
}
LABELS = {"default": "pinsker's default", "as published": "as published, run again"}


@contextmanager
def new_figure() -> Iterator[Any]:
    """Yield an empty figure that no window belongs to."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained", figsize=(9.0, 3.6))
    yield figure
    figure.clear()


def label_of(recipe: str) -> str:
    """Return what a recipe is called in a legend."""
    return LABELS.get(recipe, recipe)


def plain_axes(axes: Any, title: str, across: str, upwards: str) -> None:
    """Name an axes and take away what says nothing."""
    axes.set(title=title, xlabel=across, ylabel=upwards)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, alpha=0.25, linewidth=0.6)


def line(axes: Any, recipe: str, x: Sequence[float], y: Sequence[float], **style: Any) -> None:
    """Draw one curve of a recipe."""
    style = {"marker": "o", "markersize": 3.5, "linewidth": 1.4, "label": label_of(recipe)} | style
    axes.plot(x, y, color=COLOURS[recipe], **style)
