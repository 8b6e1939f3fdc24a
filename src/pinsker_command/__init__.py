"""The process of the command ``pinsker``, from before its first import to its end.

A package of its own: ``import pinsker`` takes seconds, and an interrupt within them must end in
one line too.
"""

# What `signal` wraps: that imports more, while nothing is ready for an interrupt.
import _signal as signal  # type: ignore[import-not-found]
import os
import sys

_INTERRUPTED = 130
_BAD_INPUT = 2
#: Bytes of addresses that the libraries take (``ulimit -v``); with little more, one thread each:
#: OpenBLAS reserves some for every thread, and tries again and again where it gets none.
_LEAST, _FOR_MANY_THREADS = 10**9, 4 * 10**9


def main() -> None:
    """Run the command ``pinsker``; an interrupt ends it without a traceback, at any time."""
    # Imports lose an exception, or turn it into another one: there it is none.
    signal.signal(signal.SIGINT, _end)
    _open_streams()
    _check_memory()
    from pinsker.cli import load_app

    app = load_app()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app(prog_name="pinsker")
    except KeyboardInterrupt:  # before the command runs, or once more while it ends
        _end()
    finally:
        # All files are written: one more interrupt ends the process at once.
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _end(*_: object) -> None:
    """End at once: nothing has been written, or everything."""
    os.write(2, b"pinsker: interrupted\n")
    os._exit(_INTERRUPTED)


def _check_memory() -> None:
    """Refuse a limit of memory under which the libraries cannot be loaded."""
    try:
        import resource
    except ImportError:  # of Unix only
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY or limit >= _FOR_MANY_THREADS:
        return
    if limit < _LEAST:
        found = f"pinsker: memory is limited to {limit // 1024} KB (ulimit -v): allow 1000000\n"
        os.write(2, found.encode())
        os._exit(_BAD_INPUT)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _open_streams() -> None:
    """Read nothing from standard streams that are closed, and write nowhere.

    They must not stay closed: the next files that are opened would take their numbers.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 (for good)
