"""`otolith import FILE --restore`: the home that an export holds, byte for byte, where there is none yet.

An export of a whole home carries a manifest of hashes. Everything is written beside the place, read again and
compared, and only then renamed into it, so there is a whole home or none. Anything else than such an export
is an import, which comes from outside.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from otolith.errors import CannotWrite, Conflict, Damaged, Invalid, NotFound
from otolith.files.paths import check_path

if TYPE_CHECKING:
    from otolith.doors.exchange.bundle import Bundle

MANIFEST, SCHEMA = "manifest.json", "otolith_export.v1"
Progress = Callable[[int, int], None]


def write_manifest(hashes: Mapping[str, str]) -> bytes:
    """The manifest of an export."""
    shape = {"schema": SCHEMA, "files": dict(sorted(hashes.items()))}
    return json.dumps(shape, indent=2, ensure_ascii=False).encode() + b"\n"


def restore(source: Path, home: Path, *, dry_run: bool = False,
            progress: Progress | None = None) -> list[str]:
    """Give an export's home back; returns its files. A dry run only checks them."""
    from otolith.doors.exchange.zipped import open_bundle

    if not source.exists():
        raise NotFound(f"there is no file {source}")
    bundle = open_bundle(source)
    hashes = _read_manifest(bundle, source.name)
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise Conflict(f"{home} is not empty; a restore does not touch what is there",
                       "give another place: otolith import FILE --restore --home FOLDER")
    if dry_run:
        for name, digest in hashes.items():
            _checked(bundle, name, digest)
    else:
        _write(bundle, hashes, home, progress)
    return list(hashes)


def _read_manifest(bundle: Bundle, name: str) -> dict[str, str]:
    """Path → hash, of an export that is whole."""
    if MANIFEST not in bundle.names:
        raise Invalid(f"{name} is no export of a whole home: it has no {MANIFEST}",
                      "leave out --restore to take over what it holds")
    try:
        read = json.loads(bundle.read(MANIFEST))
        hashes = {check_path(str(path)): str(digest) for path, digest in read["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Damaged(f"{MANIFEST} in {name} cannot be read", "export the home again") from None
    if read.get("schema") != SCHEMA:
        raise Invalid(f"{name} was made by another version: {str(read.get('schema'))[:40]!r}",
                      "restore it with the version that made it")
    if missing := sorted(set(hashes) - set(bundle.names)):
        raise Damaged(f"{name} lacks {len(missing)} of its files, such as {missing[0]}",
                      "export the home again")
    return hashes


def _checked(bundle: Bundle, name: str, digest: str) -> bytes:
    data = bundle.read(name)
    if sha256(data).hexdigest() != digest:
        raise Damaged(f"{name} is not what was exported: its hash differs", "export the home again")
    return data


def _write(bundle: Bundle, hashes: Mapping[str, str], home: Path, progress: Progress | None) -> None:
    try:
        home.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = Path(tempfile.mkdtemp(prefix=".otolith-restore-", dir=home.parent))
    except OSError as error:
        raise CannotWrite(f"{home.parent} cannot be written: {error.strerror}") from None
    try:
        for count, (name, digest) in enumerate(hashes.items(), 1):
            _put(made / name, _checked(bundle, name, digest), digest)
            if progress:
                progress(count, len(hashes))
        if home.exists():
            home.rmdir()  # it is empty
        os.rename(made, home)
    except OSError as error:
        raise CannotWrite(f"{home} cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _put(path: Path, data: bytes, digest: str) -> None:
    """A file, synced, and read again."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if sha256(path.read_bytes()).hexdigest() != digest:
        raise CannotWrite(f"{path.name} was not written as it was exported")
