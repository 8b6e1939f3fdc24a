"""How Sphinx builds these pages: `make docs` from the root of the repository.

Nothing is fetched while building or reading: no intersphinx, formulas are MathML, no data sets
beyond those that ship with scikit-learn.
"""

import inspect
import logging
import os
import re
import sys
import warnings
from pathlib import Path

import pinsker

# Examples draw into files, and none of them needs a display or a second thread.
os.environ.setdefault("MPLBACKEND", "agg")

sys.path.insert(0, str(Path(__file__).parent))  # formulas.py, figures.py

project = "pinsker"
author = "The pinsker developers"
project_copyright = "The pinsker developers"
version = release = pinsker.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "formulas",
]
exclude_patterns = ["_build", "sg_*.rst", "Thumbs.db", ".DS_Store", "gallery/**/*.ipynb"]

# Pages are Markdown; `dollarmath` for formulas, anchors so that pages can link to sections.
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections name the types in words
numpydoc_show_class_members = False  # autodoc lists members once; numpydoc would list them again
add_module_names = False
default_role = "code"  # docstrings write names in single backticks

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "image_scrapers": ("figures.described",),
    "ignore_pattern": r"(demo|readme_figure)\.py",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # a page of times that fetches its own programs
    "min_reported_time": 10_000,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}
logging.getLogger("pinsker").setLevel(logging.WARNING)  # Sphinx would print every fit
# A gallery page that warns shows it to the reader: make it an error instead.
warnings.filterwarnings("error", category=pinsker.exceptions.PinskerWarning)

templates_path = ["_templates"]
# Pages link to sections of the benchmarks that are written when their numbers are measured.
_BENCHMARKS = (Path(__file__).parent / "benchmarks.md").read_text(encoding="utf-8")
if "\n## Engine" not in _BENCHMARKS:
    suppress_warnings = ["myst.xref_missing"]

html_theme = "furo"
html_math_renderer = "mathml"
html_title = "pinsker"
html_static_path = ["_static"]
html_css_files = ["dark.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}


def plain_words(_app, _what, _name, _obj, _options, lines):
    """Keep reStructuredText from reading markup into docstrings that are written as plain text.

    ``shape (n_features_in_,)`` is not a reference, and ``|Σ|`` is a determinant.
    """
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"\((n_\w+_)(?=[,)])", r"(``\1``", line).replace("|Σ", r"\|Σ")


def wide_enough(_app, _what, _name, _obj, _options, lines):
    """Widen the first column of a simple table of two columns to its longest entry."""
    rules = [i for i, line in enumerate(lines) if re.fullmatch(r" *=+ +=+", line)]
    for first, last in zip(rules[::2], rules[1::2], strict=False):
        rows = [re.fullmatch(r"( *)(\S+) +(\S.*)", line) for line in lines[first + 1 : last]]
        if all(rows):
            width = max(len(row[2]) for row in rows)
            longest = max(len(row[3]) for row in rows)
            lines[first] = lines[last] = f"{rows[0][1]}{'=' * width} {'=' * longest}"
            lines[first + 1 : last] = [f"{row[1]}{row[2]:{width}} {row[3]}" for row in rows]


def only_ours(_app, _what, _name, obj, _skip, _options):
    """Leave out what a class inherits from elsewhere: its own page says it better."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    foreign = inspect.isbuiltin(function) or inspect.ismethoddescriptor(function)
    module = getattr(function, "__module__", None) or ""
    return True if foreign or (module and not module.startswith("pinsker")) else None


def setup(app):
    """Let Sphinx know of the above."""
    app.connect("autodoc-process-docstring", plain_words, priority=400)  # before numpydoc
    app.connect("autodoc-process-docstring", wide_enough, priority=401)
    app.connect("autodoc-skip-member", only_ours)
