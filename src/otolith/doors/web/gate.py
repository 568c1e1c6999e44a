"""The gate before every HTTP door: loopback names only, no foreign pages, the person's own token, no body
without end.

A request passes if its Host is one of this server's names, its Origin (a browser sends one) is this server
itself, it brings the bearer token, and its body is small enough. Anything else is refused before the
application sees it. The token lies in the user's configuration folder, readable by the user alone.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from pathlib import Path
from typing import Any

from otolith.config import config_folder
from otolith.errors import CannotWrite, Invalid

MAX_BODY = 4 << 20
LOOPBACK = ("127.0.0.1", "localhost", "::1")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def token_file() -> Path:
    return config_folder() / "token"


def read_token() -> str:
    """The token; made on first use, refused if others could read it."""
    path = token_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600),
                           "w") as file:
                file.write(secrets.token_urlsafe(32) + "\n")
        except FileExistsError:
            pass
    except OSError as error:
        raise CannotWrite(f"{path} cannot be used: {error.strerror}", "fix or remove it") from None
    return _load(path)


def _load(path: Path) -> str:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), errors="replace") as file:
            found = os.fstat(file.fileno())
            token = file.read(1000).strip()
    except OSError as error:
        raise CannotWrite(f"{path} cannot be used: {error.strerror}", "fix or remove it") from None
    if stat.S_IMODE(found.st_mode) & 0o077 or found.st_uid != os.getuid():
        raise Invalid(f"others can read {path}", f"chmod 600 {path}, or remove it to get a new one")
    if len(token) < 20:
        raise Invalid(f"{path} contains no usable token", "remove it to get a new one")
    return token


class TokenFile:
    """The token as its file has it now: while it is gone, or others could read it, nobody is let in."""

    def __init__(self) -> None:
        self._path, self._token = token_file(), read_token()
        self._seen: tuple[int, ...] | None = None

    def __call__(self) -> str:
        seen = self._look()
        if seen is None or seen != self._seen:
            self._seen = seen
            try:
                self._token = _load(self._path)
            except (CannotWrite, Invalid):
                self._token = secrets.token_urlsafe(32)  # which nobody knows
        return self._token

    def _look(self) -> tuple[int, ...] | None:
        try:
            found = os.lstat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size


def place(host: str, port: int) -> str:
    """Host and port as addresses write them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def names_of(port: int, *more: str) -> frozenset[str]:
    """The Host values by which a server is called: the loopback's, and the address it was told to listen
    at.
    """
    return frozenset(place(name.lower(), port) for name in (*LOOPBACK, *more))


class Gate:
    """An ASGI application that lets through what may pass to another one."""

    def __init__(self, app: Any, token: Callable[[], str], hosts: Collection[str], *,
                 free: Collection[str] = (), max_body: int = MAX_BODY) -> None:
        self.app, self.token, self.hosts, self.max_body = app, token, frozenset(hosts), max_body
        self.origins = frozenset(f"http://{host}" for host in hosts)
        self.free = frozenset(free)  # paths that need no token, such as a page that asks for it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal:
            await _refuse(send, *refusal)
            return
        await self._limited(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        found: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.lower(), []).append(value)
        host = found.get(b"host", [])
        if len(host) != 1 or host[0].decode("latin-1").lower() not in self.hosts:
            return 421, "misdirected", "this server answers to loopback names only"
        origins = found.get(b"origin", [])
        if any(origin.decode("latin-1").lower() not in self.origins for origin in origins):
            return 403, "forbidden", "requests from other pages are refused"
        if scope["path"] not in self.free:
            given = found.get(b"authorization", [])
            scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
            if (scheme.lower() != b"bearer" or not secrets.compare_digest(token.strip(),
                                                                          self.token().encode())):
                return 401, "unauthorized", "send the token of otolith's configuration folder as: Authorization: Bearer TOKEN"
        length = found.get(b"content-length", [b"0"])
        if not length[0].isdigit() or int(length[0]) > self.max_body:
            return 413, "too_large", f"a request may have {self.max_body >> 20} MB"
        return None

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the body in before anybody else sees it; one that turns out too long ends the request."""
        body, last = bytearray(), False
        while not last:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client went away in the middle
            body += message.get("body", b"")
            last = not message.get("more_body", False)
            if len(body) > self.max_body:
                await _refuse(send, 413, "too_large", f"a request may have {self.max_body >> 20} MB")
                return
        waiting = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def replayed() -> MutableMapping[str, Any]:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, replayed, send)


async def _refuse(send: Send, status: int, code: str, message: str) -> None:
    body = json.dumps({"error": {"code": code, "message": message, "hint": ""}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()),
               (b"connection", b"close")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
