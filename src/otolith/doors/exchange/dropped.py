"""Files that came with a request: laid into a folder of their own, read as `otolith import` does, removed."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from otolith.doors.exchange import detect
from otolith.doors.exchange.importing import Import, receiving
from otolith.errors import Invalid
from otolith.model.text import has_controls

if TYPE_CHECKING:
    from otolith.memory import Memory

MOST = 2_000  # files


def take(mem: Memory, files: Sequence[Any], *, dry_run: bool = False,
         format: str | None = None) -> dict[str, Any]:
    """Count what is in the files; without `dry_run`, keep it. A name may have folders in it."""
    if not 0 < len(files) <= MOST:
        raise Invalid(f"give from 1 to {MOST} files",
                      "import a folder at the terminal: otolith import FOLDER")
    with tempfile.TemporaryDirectory(prefix="otolith-") as scratch:
        folder = Path(scratch) / "dropped"
        places = [_lay_down(folder, file) for file in files]
        try:
            source = _source(folder, places)
            done = Import(None).run(source, format) if dry_run else _keep(mem, source, format)
        except Invalid as error:
            raise Invalid(_without(error.message, scratch), error.hint) from None
    return {**_without(done.to_dict(), scratch), "dry_run": dry_run}


def _lay_down(folder: Path, file: Any) -> Path:
    if not isinstance(file, dict) or not all(isinstance(file.get(key), str) for key in ("name", "data")):
        raise Invalid("a file has a name and data", 'send {"name": "notes.md", "data": "…in base64…"}')
    name = PurePosixPath(file["name"])
    odd = has_controls(file["name"]) or "\\" in file["name"]
    if odd or name.is_absolute() or not name.parts or ".." in name.parts:
        raise Invalid(f"{file['name'][:80]!r} is not a name that a file can have here", "rename it")
    try:
        data = base64.b64decode(file["data"], validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(f"the data of {name} is not base64") from None
    place = folder / name
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    except OSError as error:
        raise Invalid(f"{str(name)[:80]!r} cannot be laid down: {error.strerror}", "rename it") from None
    return place


def _source(folder: Path, places: Sequence[Path]) -> Path:
    """What is read: the folder, or the one file where it has a format; a page of Markdown has none."""
    if len(places) > 1 or (places[0].suffix.lower() == ".md" and not _is_known(places[0])):
        return folder
    return places[0]


def _is_known(place: Path) -> bool:
    try:
        return bool(detect(place))
    except Invalid:
        return False


def _keep(mem: Memory, source: Path, format: str | None) -> Import:
    with receiving(mem.home.tree.folder or mem.home.tree.name) as own:
        done = Import(own).run(source, format)
        mem.home.notices += own.notices
    mem.home.sweep()
    return done


def _without(value: Any, scratch: str) -> Any:
    """An answer that does not tell where the files lay for a moment."""
    if isinstance(value, dict):
        return {key: _without(inner, scratch) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, scratch) for inner in value]
    return value.replace(f"{scratch}/dropped/", "").replace(scratch, "") if isinstance(value, str) else value
