"""Check built pages: nothing is loaded from another host, pictures are described, words are found.

``python docs/check_pages.py docs/_build/html`` prints what is wrong, a line each; ``make docs``
runs it.
"""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

#: Attributes that make a browser load something.
LOADED = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "embed": "src",
    "object": "data", "link": "href",
}  # fmt: skip
#: Words of a query, as the index stems them, and a page that a reader should find with them.
WORDS = {
    "leak": ("leak", "howto/real_project"),
    "imbalance": ("imbalanc", "howto/imbalanced_classes"),
    "AUC": ("auc", "howto/imbalanced_classes"),
    "groups": ("group", "howto/rows"),
    "time split": ("split", "howto/rows"),
}
FEWEST_WORDS = 5


class Page(HTMLParser):
    """What is wrong with one page."""

    def __init__(self):
        super().__init__()
        self.wrong = []

    def handle_starttag(self, tag, attributes):
        """Look at the start of an element."""
        attributes = dict(attributes)
        address = attributes.get(LOADED.get(tag), "") or ""
        if is_outside(address):
            self.wrong.append(f"<{tag}> loads {address}")
        described = len((attributes.get("alt") or "").split()) >= FEWEST_WORDS
        # A thumbnail stands beside the title of its page, which is read instead.
        if tag == "img" and not described and "_thumb." not in address:
            self.wrong.append(f"{address} has no description")


def is_outside(address):
    """Return whether an address is on another host.

    >>> is_outside("https://cdn.example/x.js"), is_outside("//cdn.example/x.js"), is_outside("a.js")
    (True, True, False)
    """
    return bool(re.match(r"(https?:)?//", address.strip()))


def wrong_pages(folder):
    """Return what is wrong with pages and style sheets."""
    wrong = []
    for file in sorted(folder.rglob("*.html")):
        page = Page()
        page.feed(file.read_text(encoding="utf-8"))
        wrong += [f"{file.relative_to(folder)}: {one}" for one in page.wrong]
    for file in sorted(folder.rglob("*.css")):
        text = file.read_text(encoding="utf-8")
        loaded = re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s;]+)", text)
        wrong += [f"{file.name}: loads {one}" for one in loaded if is_outside(one)]
    return wrong


def missing_words(folder):
    """Return the words of `WORDS` that the search of the pages does not find."""
    text = (folder / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    missing = []
    for word, (stem, page) in WORDS.items():
        found = index["terms"].get(stem, []), index["titleterms"].get(stem, [])
        numbers = {k for one in found for k in (one if isinstance(one, list) else [one])}
        pages = {index["docnames"][number] for number in numbers}
        missing += [
            f"search: {word!r} misses {one}" for one in ("glossary", page) if one not in pages
        ]
    return missing


if __name__ == "__main__":
    built = Path(sys.argv[1])
    found = wrong_pages(built) + missing_words(built)
    sys.exit("\n".join(found) or 0)
