"""`serve`: one process on one port for REST, the page and the agents' MCP, behind the same gate.

Loopback unless another host is named; other names must be allowed by name. The page's files are read once
and served under a name that holds their fingerprint, so a browser may keep them for good. Only these are ever
served; a path is looked up, never joined. What the page knows of kinds comes from the table of kinds.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from otolith.doors.agents.answering import answering
from otolith.doors.keeper import Keeper, Keepers
from otolith.doors.web import gate
from otolith.model.kinds import as_json

PORT = 7518
CONNECTIONS = 512
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
MEDIA = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
VIEWS = ("new", "browse", "recall", "review", "work", "graph", "timeline", "history", "health")
FREE = ("style.css", "signin.js", "icon.svg")  # what the sign-in page itself needs
DOORS = ("signin", "locked", "missing")  # what a person outside sees, each in the frame of door.html
_DATA = b"<!--data-->"


class Assets:
    """The page's files by the path they are served under."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or Path(__file__).parent / "page"
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*"))
                 if path.suffix in MEDIA} | _kinds()
        html = {name: (folder / f"{name}.html").read_bytes() for name in ("index", "door", *DOORS)}
        html |= {name: html["door"].replace(b"{inner}", html[name]) for name in DOORS}
        digest = hashlib.sha256(b"\0".join(name.encode() + data for name, data in files.items())).hexdigest()
        self.base = f"/assets/{digest[:12]}"
        self.files = {f"{self.base}/{name}": (data, MEDIA[Path(name).suffix]) for name, data in files.items()}
        self._html = {name: data.replace(b"{assets}", self.base.encode()) for name, data in html.items()}
        self._shell: tuple[Any, bytes] = None, b""  # the one that was asked for last
        self.locked, self.missing = self._html["locked"], self._html["missing"]
        self.pages = ("/today", *(f"/{name}" for name in VIEWS), "/in")
        self.free = frozenset(["/in", *(f"{self.base}/{name}" for name in FREE)])

    def is_for_people(self, path: str) -> bool:
        """Whether a browser may be sent a page for it, be it one that says there is none."""
        return not path.startswith(("/api", "/mcp", "/assets"))

    def page(self, path: str) -> bytes:
        return self._html["signin" if path == "/in" else "index"]

    def shell(self, value: Any) -> bytes:
        """The page with the data of its first view in it, as a block that no browser executes."""
        if self._shell[0] != value:
            self._shell = value, self._fill(value)
        return self._shell[1]

    def _fill(self, value: Any) -> bytes:
        data = json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)
        safe = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
        block = f'<script type="application/json" id="today">{safe}</script>'
        return self._html["index"].replace(_DATA, block.encode(), 1)


def _kinds() -> dict[str, bytes]:
    """What the page has to know of kinds, out of the one table: a module and a sheet of colours."""
    table = as_json()
    light, dark = (" ".join(f"--{row['name']}: {row[shade]};" for row in table["kinds"])
                   for shade in ("colour", "dark"))
    marks = "".join(f".k-{name} {{ --k: var(--{name}); }} .chart .{name} {{ fill: var(--{name}); }}\n"
                    for name in (row["name"] for row in table["kinds"]))
    sheet = f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{marks}"
    return {"kinds.css": sheet.encode(), "kinds.js": f"export default {json.dumps(table)};\n".encode()}


# The server


def address(host: str, port: int) -> str:
    """Where the server is called; one that listens everywhere is called on this machine."""
    return f"http://{gate.place(EVERYWHERE.get(host, host), port)}"


def link(host: str, port: int) -> str:
    """The address by which a person signs in, once."""
    return f"{address(host, port)}/in#{gate.make_code(gate.read_token(), time.time())}"


def answers(host: str, port: int) -> bool:
    """Whether a server of ours runs there: it shows its sign-in page to anybody."""
    from http.client import HTTPConnection, HTTPException

    host = EVERYWHERE.get(host, host)
    with closing(HTTPConnection(host, port, timeout=10)) as wire:
        try:
            wire.request("GET", "/in", headers={"Host": gate.place(host, port)})
            return wire.getresponse().status == 200
        except (OSError, HTTPException):
            return False


def serve(home: str | None, *, port: int, tell: Callable[[int], Any], host: str = "127.0.0.1",
          names: Sequence[str] = (), agents: bool = True) -> None:
    """Serve until stopped; what was begun is finished."""
    import uvicorn

    from otolith.doors.web.caller import SETTINGS, Caller
    from otolith.doors.web.rest import Door, make_app

    token, assets = gate.TokenFile(), Assets()
    with closing(gate.listen(host, port)) as listening, closing(Keepers(home)) as keepers, \
            closing(Keeper(home, door="mcp", trust="agent")) as agent, answering(home):
        port = listening.getsockname()[1]
        hosts = gate.names_of(port, host) | {name.lower() for name in names}
        server: uvicorn.Server | None = None
        door = Door(keepers, assets, token, stopping=lambda: server is None or server.should_exit,
                    cookie=f"{gate.COOKIE}-{port}")
        app = protect(make_app(door, _agents_app(agent, hosts) if agents else None), door, hosts)
        server = uvicorn.Server(uvicorn.Config(
            app, http=Caller, lifespan="on", timeout_graceful_shutdown=10, timeout_keep_alive=75,
            limit_concurrency=CONNECTIONS, backlog=256, **SETTINGS))
        tell(port)
        server.run(sockets=[listening])


def protect(app: Any, door: Any, hosts: frozenset[str]) -> Any:
    """The application behind the gate, and the gate behind sign-in."""
    behind = gate.Gate(app, door.token, hosts, free=[*door.assets.free, "/api/signin"])
    behind.origins = behind.origins | {f"https://{host}" for host in hosts}
    return gate.Access(behind, door.token, pages=door.assets.is_for_people, locked_page=door.assets.locked,
                       cookie=door.cookie)


def _agents_app(keeper: Keeper, hosts: frozenset[str]) -> Any:
    """MCP over HTTP, where the SDK is installed."""
    try:
        from otolith.doors.mcp.server import http_app
    except ModuleNotFoundError:
        return None
    return http_app(keeper, "all", hosts)
