"""``python -m pinsker`` is the command ``pinsker``."""

from pinsker.cli import main

main()
