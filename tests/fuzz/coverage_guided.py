"""Coverage-guided fuzzing of the file readers and of the kernels' boundary, with Atheris.

Run: ``make fuzz-guided SECONDS=600`` (installs Atheris, and the package as a wheel: code of an
editable install is not instrumented). Only errors of `pinsker.exceptions` may come out, and the
process may not crash.
"""

import sys
from importlib import import_module
from tempfile import TemporaryDirectory


def main():
    import atheris

    with atheris.instrument_imports(include=["pinsker"]):
        inputs = import_module("fuzz.inputs")
        inputs.run("--version")  # what the command imports when it runs is instrumented too
    with TemporaryDirectory() as corpus:
        inputs.write_seeds(corpus)
        arguments = [*sys.argv, "-max_len=4100", "-rss_limit_mb=4096", corpus]
        atheris.Setup(arguments, lambda content: inputs.call_with(_provider(atheris, content)))
        atheris.Fuzz()


def _provider(atheris, content):
    return atheris.FuzzedDataProvider(content)


if __name__ == "__main__":
    main()
