"""Markdown tables on standard output, so that a run can be pasted into docs/benchmarks.md."""


def heading(title, *columns):
    print(f"\n### {title}\n")
    print_row(*columns)
    print_row(*["---"] * len(columns))


def print_row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)
