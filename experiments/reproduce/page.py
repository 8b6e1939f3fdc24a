"""docs/paper.md: every table of it is generated from the CSVs of a run, and its figures copied."""

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from experiments.reproduce.results import KNOWN, Row, Settings, read_csv
from experiments.reproduce.running import PARTS, check_table, part_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "paper.md"
#: What is generated stands between two comments that name it.
_BLOCK = re.compile(r"(<!-- begin (\w+)[^>]*-->\n).*?(<!-- end \2 -->)", re.DOTALL)


def publish(parts: Iterable[str], settings: Settings, page: Path = PAGE) -> None:
    """Keep the CSVs and figures of a run with the docs, and write the page anew."""
    known = settings.known
    known.mkdir(parents=True, exist_ok=True)
    about = read_about(known)
    for part in parts:
        folder = settings.output / part
        shutil.copyfile(folder / f"{part}.csv", known / f"{part}.csv")
        picture = folder / f"{part}.png"
        if picture.is_file():
            shutil.copyfile(picture, known.parent / f"paper_{part}.png")
        ran = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if not settings.only:
            about[part] = {"all": ran}
        elif ran["tasks"]:
            about.setdefault(part, {})[settings.only] = ran
    (known / "runs.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    page.write_text(rendered(page.read_text(encoding="utf-8"), known), encoding="utf-8")


def read_about(known: Path) -> dict[str, Row]:
    """Return when and at which commit each part ran."""
    path = known / "runs.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def rendered(text: str, known: Path = KNOWN) -> str:
    """Return the page with its generated blocks written anew."""
    blocks = generated(known)
    return _BLOCK.sub(lambda m: f"{m[1]}\n{blocks[m[2]]}\n\n{m[3]}", text)


def generated(known: Path = KNOWN) -> dict[str, str]:
    """Return every generated block by its name."""
    reports = {part: part_of(part).report(read_csv(known / f"{part}.csv")) for part in PARTS}
    checks = [(part, check) for part, report in reports.items() for check in report.checks]
    missed = sum(check.held is False for _, check in checks)
    blocks = {part: report.block for part, report in reports.items()}
    named = [type(c)(f"{part}: {c.claim}", c.reached, c.held) for part, c in checks]
    blocks["claims"] = f"{missed} of {len(checks)} claims are missed.\n\n{check_table(named)}"
    blocks["runs"] = _runs(read_about(known))
    return blocks


def _runs(about: dict[str, Row]) -> str:
    """Say what ran when, and how long it took."""
    lines, total = [], 0
    for part, groups in about.items():
        for group, ran in groups.items():
            words = "" if group == "all" else f", {group} recipes anew"
            tasks = f"{ran['tasks']} of {ran['of']} runs, {ran['cpu_seconds']} s"
            lines.append(f"* {part}{words}: commit `{ran['commit']}`, {tasks}")
            total += ran["cpu_seconds"] if group == "all" else 0
    return f"Processor time of the runs below: {total / 60:.1f} minutes.\n\n" + "\n".join(lines)
