"""Write the outputs of the examples on the pages anew, after a change that moves numbers.

    python docs/refresh_outputs.py README.md docs/quickstart.md docs/howto/*.md

Read the difference before you commit it: the text around an output may have to change as well.
Expected errors, and outputs with an ellipsis that still fit, are left as they are.
"""

import contextlib
import doctest
import io
import re
import sys
from pathlib import Path

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def refresh_readme(text):
    """Run the first block of Python and put what it prints into the block that follows."""
    block = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", text, flags=re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block[1], "README.md", "exec"), {"__name__": "__main__"})
    return text[: block.start(2)] + printed.getvalue() + text[block.end(2) :]


def refresh_page(text):
    """Run the examples with prompts in one session, and write what each of them gives."""
    names = {"__name__": "__main__"}
    pieces = doctest.DocTestParser().parse(text)
    return "".join(
        piece if isinstance(piece, str) else with_output(piece, names) for piece in pieces
    )


def with_output(example, names):
    """Return the source of an example with its prompts, followed by its output of today."""
    first, *rest = example.source.rstrip("\n").split("\n")
    shown = "".join(f"{line}\n" for line in (f">>> {first}", *(f"... {more}" for more in rest)))
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, "<page>", "single"), names)
    except Exception:
        if example.exc_msg is None:
            raise
        return shown + example.want
    fits = doctest.OutputChecker().check_output(example.want, printed.getvalue(), FLAGS)
    return shown + (example.want if fits else printed.getvalue())


def main(paths):
    """Refresh the files named, and say which of them changed."""
    for path in map(Path, paths):
        old = path.read_text(encoding="utf-8")
        new = refresh_readme(old) if path.name == "README.md" else refresh_page(old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            sys.stdout.write(f"{path} changed\n")


if __name__ == "__main__":
    main(sys.argv[1:])
