"""Who may come in by HTTP, and how often: loopback names only, no foreign pages, no body without end; a
program by the token, a person's browser by a signed cookie.

The token lies in the user's configuration folder, readable by the user alone. A person signs in once by a
link with a one-time code; code and cookie are signed with the token, so a token that is new or gone ends
every session, and nothing about sessions is stored. `Access`, the outer layer, turns a valid cookie into the
token and marks the request as a person's; `Gate` refuses what may not pass before the application sees it.
Every answer leaves with the headers that keep a browser from being used against the home. Nothing here knows
what is behind the gate.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import secrets
import socket
import stat
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from otolith.config import config_folder
from otolith.errors import CannotWrite, Invalid, WrongUsage

MAX_BODY = 4 << 20
LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "otolith"
CODE_SECONDS = 600
COOKIE_SECONDS = 30 * 86_400
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify otolith")
Headers = list[tuple[bytes, bytes]]
HEADERS: Headers = [
    (b"content-security-policy", POLICY.encode()), (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"), (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"), (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-dns-prefetch-control", b"off"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
]
FOREIGN = (403, "forbidden", "requests from other pages are refused")
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


# The token


def token_file() -> Path:
    return config_folder() / "token"


def read_token() -> str:
    """The token; made on first use, refused if others could read it."""
    path = token_file()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(path, flags, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
    except FileExistsError:
        pass
    except OSError as error:
        raise CannotWrite(f"{path} cannot be used: {error.strerror}", "fix or remove it") from None
    return _load(path)


def _load(path: Path) -> str:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), errors="replace") as file:
            state = os.fstat(file.fileno())
            token = file.read(1000).strip()
    except OSError as error:
        raise CannotWrite(f"{path} cannot be used: {error.strerror}", "fix or remove it") from None
    if stat.S_IMODE(state.st_mode) & 0o077 or state.st_uid != os.getuid():
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
            state = os.lstat(self._path)
        except OSError:
            return None
        return state.st_mtime_ns, state.st_ctime_ns, state.st_ino, state.st_size


# Codes and cookies


def make_code(token: str, now: float) -> str:
    """A sign-in code, good once and for ten minutes, short enough to be typed: four bytes each of the second
    and of chance, and eight of the signature. Nobody guesses one of 2⁶⁴ at forty tries a second.
    """
    head = int(now).to_bytes(4, "big") + secrets.token_bytes(4)
    return base64.urlsafe_b64encode(head + _seal(token, head)).decode().rstrip("=")


def _seal(token: str, head: bytes) -> bytes:
    return hmac.new(token.encode(), b"code " + head, "sha256").digest()[:8]


def check_code(token: str, given: str, now: float) -> float | None:
    """When a sign-in code was made, if it is ours and still good."""
    try:
        data = base64.b64decode(f"{given}==", altchars=b"-_", validate=True) if len(given) == 22 else b""
    except (ValueError, UnicodeError):
        return None
    if len(data) != 16 or not hmac.compare_digest(_seal(token, data[:8]), data[8:]):
        return None
    issued = int.from_bytes(data[:4], "big")
    return issued if issued <= now + 1 and now - issued <= CODE_SECONDS else None


def make_cookie(token: str, now: float) -> str:
    return _sign(token, "cookie", f"{now:.0f}", secrets.token_urlsafe(12))


def _sign(token: str, purpose: str, stamp: str, nonce: str) -> str:
    mac = hmac.new(token.encode(), f"{purpose} {stamp} {nonce}".encode(), "sha256").hexdigest()
    return f"{stamp}~{nonce}~{mac}"


def check_signed(token: str, purpose: str, given: str, now: float, lasts: float) -> float | None:
    """When something was signed, if it was signed by us for this purpose and still holds."""
    parts = given.split("~")
    if len(parts) != 3 or not given.isascii():
        return None
    if not hmac.compare_digest(_sign(token, purpose, parts[0], parts[1]), given):
        return None
    issued = float(parts[0])
    return issued if issued <= now + 1 and now - issued <= lasts else None


class Codes:
    """Sign-in codes, each taken once; none from before this server began, so a restart forgets nothing."""

    def __init__(self, token: Callable[[], str], clock: Callable[[], float] = time.time) -> None:
        self._token, self._clock, self._began = token, clock, clock()
        self._spent: dict[str, float] = {}

    def spend(self, code: str) -> bool:
        now = self._clock()
        issued = check_code(self._token(), code, now)
        self._spent = {old: when for old, when in self._spent.items() if now - when <= CODE_SECONDS}
        if issued is None or issued < self._began - 1 or code in self._spent:
            return False
        self._spent[code] = issued
        return True


class Bucket:
    """So many at once, so many a second after that."""

    def __init__(self, burst: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._left, self._seen = burst, clock()

    def take(self) -> bool:
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._seen) * self._rate)
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


# The layers


class Access:
    """The outermost ASGI layer, around the gate."""

    def __init__(self, app: Any, token: Callable[[], str], *, pages: Callable[[str], bool],
                 locked_page: bytes, cookie: str = COOKIE) -> None:
        self.app, self.token, self.cookie = app, token, cookie
        self.pages, self.locked_page = pages, locked_page
        self.strangers, self.reads, self.writes = Bucket(400, 40), Bucket(6_000, 3_000), Bucket(1_000, 200)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        person = self._is_person(headers)
        scope.setdefault("state", {})["door"] = "page" if person else "rest"
        send = _with_headers(send)
        if not self._may_ask(headers, scope["path"]):
            await _refuse(send, *FOREIGN)
            return
        stranger = not person and not self._has_token(headers)
        reads = scope["method"] in ("GET", "HEAD")
        if not (self.strangers if stranger else self.reads if reads else self.writes).take():
            await _refuse(send, 429, "too_many", "too many requests; wait a moment", (b"retry-after", b"1"))
            return
        if person:
            kept = [(name, value) for name, value in scope["headers"] if name.lower() != b"authorization"]
            scope["headers"] = [*kept, (b"authorization", b"Bearer " + self.token().encode())]
        asks_for_page = scope["method"] == "GET" and "text/html" in headers.get(b"accept", "")
        if stranger and asks_for_page and self.pages(scope["path"]):
            send = _instead_of_401(send, self.locked_page)
        await self.app(scope, receive, send)

    def _is_person(self, headers: Mapping[bytes, str]) -> bool:
        if b"authorization" in headers:
            return False
        cookies = (part.strip().partition("=") for part in headers.get(b"cookie", "").split(";"))
        now, token = time.time(), self.token()
        return any(name == self.cookie and check_signed(token, "cookie", value, now, COOKIE_SECONDS)
                   for name, _, value in cookies)

    def _has_token(self, headers: Mapping[bytes, str]) -> bool:
        given = headers.get(b"authorization", "")
        return hmac.compare_digest(given[7:].strip().encode("utf-8", "replace"), self.token().encode())

    def _may_ask(self, headers: Mapping[bytes, str], path: str) -> bool:
        """Browsers say where a request comes from: this page, the address bar, or a plain visit."""
        if headers.get(b"sec-fetch-site", "none") in ("same-origin", "none"):
            return True
        visit = headers.get(b"sec-fetch-mode") == "navigate" and headers.get(b"sec-fetch-dest") == "document"
        return visit and self.pages(path)


def _with_headers(send: Send) -> Send:
    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {name.lower() for name, _ in message["headers"]}
            fresh = [] if b"cache-control" in names else [(b"cache-control", b"no-store")]
            message["headers"] = [*message["headers"], *fresh, *HEADERS]
        await send(message)

    return secured


def _instead_of_401(send: Send, page: bytes) -> Send:
    """A person without a session gets a page that says what to do."""
    locked = False

    async def shown(message: Message) -> None:
        nonlocal locked
        if message["type"] == "http.response.start" and message["status"] == 401:
            locked = True
            message["headers"] = [(b"content-type", b"text/html; charset=utf-8"),
                                  (b"content-length", str(len(page)).encode()), (b"connection", b"close")]
        elif locked:
            message["body"] = page
        await send(message)

    return shown


def place(host: str, port: int) -> str:
    """Host and port as addresses write them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def names_of(port: int, *more: str) -> frozenset[str]:
    """The Host values by which a server is called: the loopback's, and the address it listens at."""
    return frozenset(place(name.lower(), port) for name in (*LOOPBACK, *more))


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, made before anything is announced: a port that is taken is an error at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # the protocol is named, or asyncio leaves Nagle on: 40 ms
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


class Gate:
    """An ASGI application that lets through what may pass to another one."""

    def __init__(self, app: Any, token: Callable[[], str], hosts: Collection[str], *,
                 free: Collection[str] = (), max_body: int = MAX_BODY) -> None:
        self.app, self.token, self.hosts, self.max_body = app, token, frozenset(hosts), max_body
        self.origins = frozenset(f"http://{host}" for host in hosts)
        self.free = frozenset(free)  # paths that need no token, such as a page that asks for it
        self.too_large = (413, "too_large", f"a request may have {max_body >> 20} MB")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            if refusal := self._refusal(scope):
                await _turn_away(send, *refusal)
            else:
                await self._limited(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        host = headers.get(b"host", [])
        if len(host) != 1 or host[0].decode("latin-1").lower() not in self.hosts:
            return 421, "misdirected", "this server answers to loopback names only"
        if any(origin.decode("latin-1").lower() not in self.origins for origin in headers.get(b"origin", [])):
            return FOREIGN
        if scope["path"] not in self.free and not self._has_token(headers.get(b"authorization", [])):
            return (401, "unauthorized",
                    "send the token of otolith's configuration folder as: Authorization: Bearer TOKEN")
        length = headers.get(b"content-length", [b"0"])[0]
        return self.too_large if not length.isdigit() or int(length) > self.max_body else None

    def _has_token(self, given: list[bytes]) -> bool:
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self.token().encode())

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
                await _turn_away(send, *self.too_large)
                return
        waiting = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def replayed() -> Message:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, replayed, send)


async def _turn_away(send: Send, status: int, code: str, message: str) -> None:
    """Refuse, and read no more from this client."""
    challenge: Headers = [(b"www-authenticate", b"Bearer")] if status == 401 else []
    await _refuse(send, status, code, message, (b"connection", b"close"), *challenge)


async def _refuse(send: Send, status: int, code: str, message: str, *more: tuple[bytes, bytes]) -> None:
    body = json.dumps({"error": {"code": code, "message": message, "hint": ""}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
