"""Figures of the gallery with a description of what they show, for those who cannot see them."""

import re

import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import matplotlib_scraper


def described(block, block_vars, gallery_conf, **settings):
    """Save the figure of a block as sphinx-gallery does, with its label as alternative text."""
    labels = [plt.figure(number).get_label() for number in plt.get_fignums()]
    rst = matplotlib_scraper(block, block_vars, gallery_conf, **settings)
    if not labels:
        return rst
    file = block_vars["src_file"]
    if len(labels) > 1:
        raise ValueError(f"{file}: one figure a block, so that each has its description")
    if len(labels[0].split()) < 8:
        raise ValueError(f"{file}: describe the figure with figure.set_label(...)")
    return re.sub(r":alt: .*", lambda _: f":alt: {labels[0]}", rst)
