"""Where the published data lie."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def data_folder() -> Path | None:
    """Return the folder PINSKER_DATA, else ../shared/data beside the clone, else None."""
    named = os.environ.get("PINSKER_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None
