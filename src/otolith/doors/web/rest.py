"""REST, the page and MCP in one application: translate a request, ask a keeper, translate the answer back.

Statuses are those of the error tree. A record's ETag is the fingerprint of its file: a change says which one
it read, and a stale one gets 409 with the record as it is now. The event loop never waits for the home.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from otolith.doors import calls
from otolith.doors.calls import call, check_arguments, once
from otolith.doors.keeper import Keepers
from otolith.doors.web import gate, routes, viewing, views
from otolith.doors.web.feed import Feed, error_parts
from otolith.errors import Conflict, Invalid, NeedsConfirmation, OtolithError, WrongUsage
from otolith.model.record import log
from otolith.verbs.table import Verb

if TYPE_CHECKING:
    from otolith.doors.web.serving import Assets
    from otolith.memory import Memory

MAX_BODY = 2 << 20
Endpoint = Callable[[Request], Awaitable[Response]]


class Door:
    """What the routes share: the home's keepers, the feed, the assets, and whether the server is to stop."""

    def __init__(self, keepers: Keepers, assets: Assets, token: Callable[[], str], *,
                 stopping: Callable[[], bool] = lambda: False, cookie: str = gate.COOKIE) -> None:
        self.keepers, self.assets, self.token, self.cookie = keepers, assets, token, cookie
        self.feed, self.stopping = Feed(), stopping
        self.codes = gate.Codes(token)
        self.running: set[str] = set()

    async def ask(self, request: Request, act: Callable[[Memory], Any], *, long: bool = False) -> Any:
        return await self.keepers.ask(act, door=request.state.door, long=long)


def make_app(door: Door, mcp: Any = None) -> Starlette:
    """The application behind the gate; `mcp` is the agents' own, mounted as it is."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001 (Starlette's signature)
        async with AsyncExitStack() as stack:
            if mcp is not None:
                await stack.enter_async_context(mcp.router.lifespan_context(mcp))
            watching = asyncio.create_task(door.feed.watch(door.keepers, views.today))
            yield
            door.feed.close()
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    agents = mcp.routes if mcp is not None else []
    today, *pages = _page_routes(door)  # the first is asked for most, and routes are tried in their order
    every = [today, *_verb_routes(door), *_other_routes(door), *pages, *agents]
    refuse: Any = partial(_refuse, door)
    return Starlette(routes=every, lifespan=lifespan, exception_handlers={HTTPException: refuse})


async def _refuse(door: Door, request: Request, error: HTTPException) -> Response:
    asks_for_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    if error.status_code == 404 and asks_for_page and door.assets.is_for_people(request.url.path):
        return Response(door.assets.missing, 404, media_type="text/html")
    code = "not_found" if error.status_code == 404 else "usage"
    body = {"error": {"code": code, "message": str(error.detail), "hint": "see /api/openapi.json"}}
    return answer(body, error.status_code, dict(error.headers or {}))


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    data = text.encode("utf-8", "replace")
    return Response(data, status, headers=dict(headers or {}), media_type="application/json")


def guarded(act: Callable[..., Awaitable[Response]], *given: Any) -> Endpoint:
    """An endpoint whose every failure is one JSON object with what to do."""

    async def endpoint(request: Request) -> Response:
        started = time.perf_counter()
        try:
            made = await act(*given, request)
        except OtolithError as error:
            body = {"error": error_parts(error), **getattr(error, "more", {})}
            made = answer(body, getattr(error, "status", error.http_status))
        except Exception as error:  # a door: whatever happens, the server goes on
            log.warning("rest: %r", error)
            trouble = OtolithError(f"this is a bug in Otolith: {type(error).__name__}: {str(error)[:300]}",
                                   "please report it, with what you asked for")
            made = answer({"error": error_parts(trouble)}, 500)
        made.headers["server-timing"] = f"total;dur={1000 * (time.perf_counter() - started):.1f}"
        return made

    return endpoint


class HttpRefusal(WrongUsage):
    """A request that HTTP has a status of its own for."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status


class Stale(Conflict):
    """An edit of something that has moved on; carries how it stands now."""

    def __init__(self, error: Conflict, current: Mapping[str, Any]) -> None:
        super().__init__(error.message, error.hint)
        self.more = {"current": current}


async def read_json(request: Request, limit: int = MAX_BODY) -> dict[str, Any]:
    """The body, which must be one JSON object; nothing a foreign form could send."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise HttpRefusal(415, f"a write is JSON; got {media[:60] or 'nothing'!r}",
                          "send Content-Type: application/json")
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > limit:
            raise HttpRefusal(413, f"a request may have {limit >> 20} MB", "split it into several")
    try:
        body = json.loads(data or b"{}", parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise WrongUsage(f"the body is not JSON: {str(error)[:120]}") from None
    if not isinstance(body, dict):
        raise WrongUsage("the body must be a JSON object")
    return body


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= 200:
        raise Invalid("an Idempotency-Key has 1 to 200 characters")
    return key


# Verbs

def _verb_routes(door: Door) -> list[Route]:
    ways: dict[bool, tuple[Any, str]] = {True: (_read, "GET"), False: (_write, "POST")}
    return [Route(routes.path_of(row), guarded(act, door, row), methods=[method])
            for row in calls.offered("rest") for act, method in [ways[row.only_reads("rest")]]]


async def _read(door: Door, row: Verb, request: Request) -> Response:
    given = routes.read_query(calls.takes(row, "rest"), request.query_params.multi_items())
    return await _run(door, row, given, request)


async def _run(door: Door, row: Verb, given: Mapping[str, Any], request: Request) -> Response:
    def act(mem: Memory) -> Any:
        return _with_notices(mem, call(mem, row, "rest", given))

    return _answer_verb(row, await door.ask(request, act, long=row.long))


async def _write(door: Door, row: Verb, request: Request) -> Response:
    given = await read_json(request, gate.MAX_BODY if row.roomy else MAX_BODY)
    if (key := _key(request)) is not None:
        given.setdefault("key", key)
    check_arguments(row, "rest", given)
    if row.person and request.state.door != "page":
        raise HttpRefusal(403, "agents propose; a person accepts",
                          "do it on the page, or on the command line")
    made = await (_write_long if row.long else _run)(door, row, given, request)
    door.feed.nudge()
    return made


async def _write_long(door: Door, row: Verb, given: dict[str, Any], request: Request) -> Response:
    """One at a time of each; who listens sees it go on."""
    if row.name in door.running:
        raise HttpRefusal(503, f"{row.name} is running already", "wait until it is done")
    door.running.add(row.name)
    tell = partial(door.feed.publish_from_thread, "progress")

    def run(mem: Memory) -> Any:
        return viewing.as_json(getattr(mem, row.python)(
            progress=lambda done, total: tell({"job": row.name, "done": done, "total": total})))

    def act(mem: Memory) -> Any:
        if row.name not in ("upkeep", "reindex"):
            return _with_notices(mem, call(mem, row, "rest", given))
        key = given.get("key")
        return _with_notices(mem, run(mem) if key is None else once(mem, row.name, key, {}, lambda: run(mem)))

    try:
        return _answer_verb(row, await door.ask(request, act, long=True))
    finally:
        door.running.discard(row.name)
        door.feed.publish("progress", {"job": row.name, "done": 1, "total": 1, "ended": True})


def _with_notices(mem: Memory, value: Any) -> tuple[Any, list[str]]:
    return value, mem.notices


def _answer_verb(row: Verb, value: tuple[Any, list[str]]) -> Response:
    shown = routes.shape(row, value[0])
    if value[1] and isinstance(shown, dict):
        shown = {**shown, "notices": value[1]}
    return answer(shown)


# Records as resources, views, events, sign-in

def _other_routes(door: Door) -> list[Route]:
    paths = [("GET", "records/{id:path}", _get_record), ("PATCH", "records/{id:path}", _change_record),
             ("DELETE", "records/{id:path}", _forget_record), ("GET", "events", _events),
             ("GET", "openapi.json", _document), ("POST", "signin", _sign_in), ("POST", "signout", _sign_out)]
    paths += [("GET", f"views/{name}", partial(_view, name)) for name in routes.VIEWS]
    return [Route(f"{routes.API}/{path}", guarded(act, door), methods=[method])
            for method, path, act in paths]


async def _get_record(door: Door, request: Request) -> Response:
    given = routes.read_query({"depth": {"type": "string"}}, request.query_params.multi_items())
    record = request.path_params["id"]
    value, tag = await door.ask(request, lambda mem: views.read_record(mem, record, **given))
    if request.headers.get("if-none-match") in (f'"{tag}"', "*"):
        return Response(status_code=304, headers={"etag": f'"{tag}"'})
    return answer(value, headers={"etag": f'"{tag}"'})


async def _change_record(door: Door, request: Request) -> Response:
    changes = await read_json(request)
    match = request.headers.get("if-match")
    if match is None:
        raise NeedsConfirmation("a change says what it read",
                                "send If-Match with the record's ETag, or * to overwrite")
    expect = None if match.strip() == "*" else match.strip().removeprefix("W/").strip('"')
    record, key = request.path_params["id"], _key(request)
    try:
        value, tag = await door.ask(
            request, lambda mem: views.change_record(mem, record, changes, expect, key))
    except Conflict as error:
        now, _ = await door.ask(request, lambda mem: views.read_record(mem, record, counted=False))
        raise Stale(error, now) from None
    door.feed.nudge()
    return answer(value, headers={"etag": f'"{tag}"'})


async def _forget_record(door: Door, request: Request) -> Response:
    row = calls.find(calls.offered("rest"), "forget")
    given = {"id": request.path_params["id"], **({"key": key} if (key := _key(request)) is not None else {})}
    made = await _run(door, row, given, request)
    door.feed.nudge()
    return made


async def _view(name: str, door: Door, request: Request) -> Response:
    given = routes.read_query(routes.VIEWS[name], request.query_params.multi_items())
    if "id" in routes.VIEWS[name] and "id" not in given:
        raise Invalid(f"the view {name} needs 'id'", f"it takes {', '.join(routes.VIEWS[name])}")
    value = await door.ask(request, lambda mem: views.VIEWS[name](mem, **given))
    return answer(value, headers={"etag": f'"{value["etag"]}"'} if value.get("etag") else None)


async def _events(door: Door, request: Request) -> Response:  # noqa: ARG001
    began = door.token()
    stream = door.feed.listen(lambda: door.stopping() or door.token() != began)
    first = await anext(stream)  # a refusal must come before the stream begins

    async def events() -> AsyncIterator[bytes]:
        yield first
        async for item in stream:
            yield item

    return StreamingResponse(events(), media_type="text/event-stream", headers={"cache-control": "no-store"})


async def _document(door: Door, request: Request) -> Response:  # noqa: ARG001
    return JSONResponse(routes.describe())


async def _sign_in(door: Door, request: Request) -> Response:
    code = (await read_json(request)).get("code")
    if not isinstance(code, str) or not door.codes.spend(code):
        raise HttpRefusal(401, "this link was used before or is too old", "run: otolith serve --link")
    made = answer({"signed_in": True})
    made.set_cookie(door.cookie, gate.make_cookie(door.token(), time.time()), max_age=gate.COOKIE_SECONDS,
                    path="/", httponly=True, samesite="strict")
    return made


async def _sign_out(door: Door, request: Request) -> Response:
    await read_json(request)
    made = answer({"signed_in": False})
    made.delete_cookie(door.cookie, path="/", httponly=True, samesite="strict")
    return made


# The page

def _page_routes(door: Door) -> list[Route]:
    pages = [Route(path, guarded(_page, door), methods=["GET"]) for path in door.assets.pages]
    return [Route("/", guarded(_today, door), methods=["GET"]), *pages,
            Route("/record/{id:path}", guarded(_page, door), methods=["GET"]),
            *(Route(path, guarded(_asset, door), methods=["GET"]) for path in door.assets.files)]


async def _today(door: Door, request: Request) -> Response:
    """The first page comes with its data, so that it is painted at once."""
    value = await door.ask(request, views.today)
    return Response(door.assets.shell(value), media_type="text/html")


async def _page(door: Door, request: Request) -> Response:
    return Response(door.assets.page(request.url.path), media_type="text/html")


async def _asset(door: Door, request: Request) -> Response:
    data, media = door.assets.files[request.url.path]
    return Response(data, media_type=media, headers={"cache-control": "private, max-age=31536000, immutable"})
