"""``python -m pinsker`` is the command ``pinsker``."""

from pinsker_command import main

main()
