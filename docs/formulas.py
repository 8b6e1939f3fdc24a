"""Formulas as MathML, made while the pages are built.

Sphinx's default fetches a program from another server whenever a page is read. Browsers show MathML
by themselves, so pages need no network and screen readers can read the formulas.
"""

import re

from latex2mathml.converter import convert

#: Commands that the converter does not know, or gives a sign that few fonts have.
SYNONYMS = {r"\arg": r"\mathrm{arg}\,", r"\setminus": r"\backslash"}


def to_mathml(latex, display):
    r"""Return a formula as MathML; refuse what would show as source.

    >>> to_mathml(r"\frac12", "inline")[-55:]
    '<mrow><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow></math>'
    """
    for command, synonym in SYNONYMS.items():
        latex = re.sub(re.escape(command) + r"(?![a-zA-Z])", lambda _, s=synonym: s, latex)
    mathml = convert(latex, display=display)
    unknown = re.findall(r"\\[a-zA-Z]+", mathml)
    if unknown:
        raise ValueError(f"no MathML for {', '.join(unknown)} in {latex!r}")
    return mathml


def visit_inline(translator, node):
    """Write a formula inside a sentence."""
    from docutils.nodes import SkipNode

    translator.body.append(to_mathml(node.astext(), "inline"))
    raise SkipNode


def visit_display(translator, node):
    """Write a formula on a line of its own."""
    from docutils.nodes import SkipNode

    formula = to_mathml(node.astext(), "block")
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(formula + "</div>")
    raise SkipNode


def setup(app):
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    app.add_css_file("formulas.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
