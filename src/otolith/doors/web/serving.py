"""`serve`: one process on one port for REST, the page and the agents' MCP, behind the same gate.

Loopback unless told otherwise; other names must be allowed by name. The listening socket is made before
anything is announced, so a port that is taken is an error and not a half-started server.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from otolith.doors.keeper import Keeper, Keepers
from otolith.doors.web import access, gate
from otolith.doors.web.assets import Assets
from otolith.errors import WrongUsage

PORT = 7518
CONNECTIONS = 512
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def address(host: str, port: int) -> str:
    """Where the server is called; one that listens everywhere is called on this machine."""
    return f"http://{gate.place(EVERYWHERE.get(host, host), port)}"


def link(host: str, port: int) -> str:
    """The address by which a person signs in, once."""
    return f"{address(host, port)}/in#{access.make_code(gate.read_token(), time.time())}"


def answers(host: str, port: int) -> bool:
    """Whether a server of ours runs there: it shows its sign-in page to anybody."""
    from http.client import HTTPConnection, HTTPException

    host = EVERYWHERE.get(host, host)
    wire = HTTPConnection(host, port, timeout=10)
    try:
        wire.request("GET", "/in", headers={"Host": gate.place(host, port)})
        return wire.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        wire.close()


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # said, or asyncio leaves Nagle on: 40 ms
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise WrongUsage(f"port {port} of {host} cannot be used: {error.strerror}",
                    "choose another with --port") from None
    listening.listen(256)  # whoever calls from now on is answered, if a moment later
    return listening


def serve(home: str | None, *, port: int, tell: Callable[[int], Any], host: str = "127.0.0.1",
          names: Sequence[str] = (), agents: bool = True) -> None:
    """Serve until told to stop; what was begun is finished."""
    import uvicorn

    from otolith.doors.web.rest import Door, make_app

    token, assets = gate.TokenFile(), Assets()
    with closing(listen(host, port)) as listening, closing(Keepers(home)) as keepers, \
            closing(Keeper(home, door="mcp", trust="agent")) as agent:
        port = listening.getsockname()[1]
        hosts = gate.names_of(port, host) | {name.lower() for name in names}
        server: uvicorn.Server | None = None
        door = Door(keepers, assets, token, stopping=lambda: server is None or server.should_exit,
                    cookie=f"{access.COOKIE}-{port}")
        app = protect(make_app(door, _agents_app(agent, hosts) if agents else None), door, hosts)
        server = uvicorn.Server(uvicorn.Config(
            app, log_level="error", server_header=False, date_header=False, lifespan="on",
            timeout_graceful_shutdown=10, timeout_keep_alive=75, limit_concurrency=CONNECTIONS, backlog=256))
        tell(port)
        server.run(sockets=[listening])


def protect(app: Any, door: Any, hosts: frozenset[str]) -> Any:
    """The application behind the gate, and the gate behind sign-in."""
    behind = gate.Gate(app, door.token, hosts, free=[*door.assets.free, "/api/signin"])
    behind.origins = behind.origins | {f"https://{host}" for host in hosts}
    return access.Access(behind, door.token, pages=door.assets.is_for_people, locked_page=door.assets.locked,
                         cookie=door.cookie)


def _agents_app(keeper: Keeper, hosts: frozenset[str]) -> Any:
    """MCP over HTTP, where the SDK is installed."""
    try:
        from otolith.doors.mcp.server import http_app
    except ModuleNotFoundError:
        return None
    return http_app(keeper, "all", hosts)
