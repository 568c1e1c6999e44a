"""The page's files, read once: served under a name that holds their fingerprint, so a browser may keep them
for good.

Only what is listed here is ever served; a path is looked up, never joined.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from otolith.model.kinds import as_json

TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
VIEWS = ("recall", "review", "graph", "timeline", "health")
FREE = ("style.css", "signin.js", "icon.svg")  # what the sign-in page itself needs
# what a person sees who is not inside, each in the frame of door.html
DOORS = ("signin", "locked", "missing")
_DATA = b"<!--data-->"


def _kinds() -> dict[str, bytes]:
    """What the page has to know of kinds, out of the one table: a module and a sheet of colours."""
    table = as_json()
    names = [row["name"] for row in table["kinds"]]
    light, dark = (" ".join(f"--{row['name']}: {row[shade]};" for row in table["kinds"])
                   for shade in ("colour", "dark"))
    marks = "".join(f".k-{name} {{ --k: var(--{name}); }} .chart .{name} {{ fill: var(--{name}); }}\n"
                    for name in names)
    sheet = f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{marks}"
    return {"kinds.css": sheet.encode(), "kinds.js": f"export default {json.dumps(table)};\n".encode()}


class Assets:
    """The page's files by the path they are served under."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or Path(__file__).parent / "page"
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*"))
                 if path.suffix in TYPES} | _kinds()
        html = {name: (folder / f"{name}.html").read_bytes() for name in ("index", "door", *DOORS)}
        html |= {name: html["door"].replace(b"{inner}", html[name]) for name in DOORS}
        digest = hashlib.sha256(b"\0".join([name.encode() + data for name,
                                            data in found.items()])).hexdigest()[:12]
        self.base = f"/assets/{digest}"
        self.files = {f"{self.base}/{name}": (data, TYPES[Path(name).suffix]) for name, data in found.items()}
        self._html = {name: data.replace(b"{assets}", self.base.encode()) for name, data in html.items()}
        self.pages = ("/today", *(f"/{name}" for name in VIEWS), "/in")
        self.free = frozenset(["/in", *(f"{self.base}/{name}" for name in FREE)])

    @property
    def locked(self) -> bytes:
        """What a person sees who has not signed in."""
        return self._html["locked"]

    @property
    def missing(self) -> bytes:
        """What a person sees at an address that is none."""
        return self._html["missing"]

    def is_for_people(self, path: str) -> bool:
        """Whether a browser may be sent a page for it, be it one that says there is none."""
        return not path.startswith(("/api", "/mcp", "/assets"))

    def page(self, path: str) -> bytes:
        return self._html["signin" if path == "/in" else "index"]

    def shell(self, value: Any) -> bytes:
        """The page with the data of its first view in it, as a block that no browser executes."""
        data = json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)
        safe = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
        return self._html["index"].replace(_DATA,
                                           f'<script type="application/json" id="today">{safe}</script>'.encode(), 1)
