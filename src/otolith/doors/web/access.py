"""Who may come in by HTTP, and how often: a person's browser by a signed cookie, a program by the token.

The person signs in once by a link with a one-time code; both code and cookie are signed with the token, so a
token that is new or gone ends every session and nothing about sessions is stored. A valid cookie stands for
the token at the gate behind this, and tells the application that a person is asking. Every answer leaves with
the headers that keep a browser from being used against the home. Nothing here knows what is behind the gate.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Callable, MutableMapping
from typing import Any

from otolith.doors.web.gate import Receive, Scope, Send

COOKIE = "otolith"
CODE_SECONDS = 600
COOKIE_SECONDS = 30 * 86_400
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "worker-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
          "trusted-types dompurify otolith")
HEADERS = [
    (b"content-security-policy", POLICY.encode()), (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"), (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"), (b"x-dns-prefetch-control", b"off"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
]


def make_code(token: str, now: float) -> str:
    """A sign-in code, good once and for ten minutes."""
    return _sign(token, "code", f"{now:.3f}", secrets.token_urlsafe(16))


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
    """Sign-in codes, each taken once: none from before this server began is taken, so a restart forgets
    nothing.
    """

    def __init__(self, token: Callable[[], str], clock: Callable[[], float] = time.time) -> None:
        self._token, self._clock, self._began = token, clock, clock()
        self._spent: dict[str, float] = {}

    def spend(self, code: str) -> bool:
        now = self._clock()
        issued = check_signed(self._token(), "code", code, now, CODE_SECONDS)
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
        found = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        person = self._person(found)
        scope.setdefault("state", {})["door"] = "page" if person else "rest"
        secured = _with_headers(send)
        if not self._may_ask(found, scope["path"]):
            await _answer(secured, 403, "forbidden", "requests from other pages are refused")
            return
        known = person or self._has_token(found)
        bucket = (self.strangers if not known else self.reads if scope["method"] in ("GET", "HEAD")
                  else self.writes)
        if not bucket.take():
            await _answer(secured, 429, "too_many", "too many requests; wait a moment",
                          [(b"retry-after", b"1")])
            return
        if person:
            kept = [(name, value) for name, value in scope["headers"] if name.lower() != b"authorization"]
            scope["headers"] = [*kept, (b"authorization", b"Bearer " + self.token().encode())]
        if (not known and scope["method"] == "GET" and self.pages(scope["path"])
            and "text/html" in found.get(b"accept", "")):
            secured = _instead_of_401(secured, self.locked_page)
        await self.app(scope, receive, secured)

    def _person(self, found: MutableMapping[bytes, str]) -> bool:
        if b"authorization" in found:
            return False
        for part in found.get(b"cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            if (name == self.cookie and check_signed(self.token(), "cookie", value, time.time(),
                                                     COOKIE_SECONDS)):
                return True
        return False

    def _has_token(self, found: MutableMapping[bytes, str]) -> bool:
        given = found.get(b"authorization", "")
        return hmac.compare_digest(given[7:].strip().encode("utf-8", "replace"), self.token().encode())

    def _may_ask(self, found: MutableMapping[bytes, str], path: str) -> bool:
        """Browsers say where a request comes from: from this page, from the address bar, or as a plain
        visit.
        """
        if found.get(b"sec-fetch-site", "none") in ("same-origin", "none"):
            return True
        visit = found.get(b"sec-fetch-mode") == "navigate" and found.get(b"sec-fetch-dest") == "document"
        return visit and self.pages(path)


def _with_headers(send: Send) -> Send:
    async def secured(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            fresh = [] if b"cache-control" in given else [(b"cache-control", b"no-store")]
            message["headers"] = [*message["headers"], *fresh, *HEADERS]
        await send(message)

    return secured


def _instead_of_401(send: Send, page: bytes) -> Send:
    """A person without a session gets a page that says what to do."""
    locked = False

    async def dressed(message: MutableMapping[str, Any]) -> None:
        nonlocal locked
        if message["type"] == "http.response.start" and message["status"] == 401:
            locked = True
            message["headers"] = [(b"content-type", b"text/html; charset=utf-8"),
                                  (b"content-length", str(len(page)).encode()), (b"connection", b"close")]
        elif locked:
            message["body"] = page
        await send(message)

    return dressed


async def _answer(send: Send, status: int, code: str, message: str,
                  more: list[tuple[bytes, bytes]] | None = None) -> None:
    body = json.dumps({"error": {"code": code, "message": message, "hint": ""}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()),
               *(more or [])]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
