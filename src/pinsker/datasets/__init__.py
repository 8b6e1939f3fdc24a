"""The data sets of the paper, and two problems whose relevant columns are known.

The loaders read real data from a local folder, else from its public home (extra ``data``). More
problems with a known truth are in `pinsker.testing`.
"""

from pinsker.datasets._files import data_folders
from pinsker.datasets._loaders import (
    PublishedProblem,
    load_allaml,
    load_glass,
    load_orl,
    load_published,
    load_warp_ar10p,
    load_wine,
)
from pinsker.datasets._problems import LabelledSample, NoisyXor, Radial, SelectionProblem

__all__ = [
    "LabelledSample",
    "NoisyXor",
    "PublishedProblem",
    "Radial",
    "SelectionProblem",
    "data_folders",
    "load_allaml",
    "load_glass",
    "load_orl",
    "load_published",
    "load_warp_ar10p",
    "load_wine",
]
