"""MCP's messages: one client's requests in, answers out, in both eras of the protocol.

A request that carries the envelope of 2026-07-28 stands for itself; any other belongs to the era that begins
with `initialize`. What needs the home is handed back as something to do there, so that a server has named
its tools before anything of a home is loaded. Pure but for the list of resources, which looks which pages
there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith import __version__
from otolith.doors import calls
from otolith.doors.mcp import offer
from otolith.errors import NotFound, OtolithError

if TYPE_CHECKING:
    from otolith.memory import Memory
    from otolith.verbs.table import Verb

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # versions that begin with `initialize`
BATCHED = HANDSHAKE[:2]  # those in which several messages may come in one list
ENVELOPED = ("2026-07-28",)  # versions in which every request says what it is
_VERSION, _CLIENT, _CAPABILITIES, _SERVER = (
    f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities",
                                                   "serverInfo"))
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NO_RESOURCE = -32002  # until 2025-11-25; since then such a request has invalid params
NO_VERSION = -32022
SERVER = {"name": "otolith", "version": __version__}
CAPABILITIES = {"tools": {"listChanged": False}, "resources": {"listChanged": False, "subscribe": False},
                "prompts": {"listChanged": False}}
_KEPT = ("server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read",
         "prompts/list")  # whose answers say how long they may be kept
Message = dict[str, Any]


class Refusal(Exception):
    """An error of the protocol itself."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Pending(NamedTuple):
    """A request that is answered in the home."""

    id: str | int
    act: Callable[[Memory], Message]
    finish: Callable[[Message], Message]
    missing: int  # the code for what is not there

    def answer(self, mem: Memory) -> Message:
        try:
            return self.finish(self.act(mem))
        except Exception as error:  # a door: whatever happens, the client hears of it
            return self.refuse(error)

    def refuse(self, error: Exception) -> Message:
        code = (self.missing if isinstance(error, NotFound)
                else INVALID_PARAMS if isinstance(error, OtolithError) else INTERNAL)
        return failure(self.id, code, offer.complaint(error))


class Conversation:
    """What one client has said of itself, and what its messages are answered with."""

    def __init__(self, home: str | None, rows: Sequence[Verb]) -> None:
        self._home, self._rows = home, rows
        self.version = HANDSHAKE[-1]
        self._client = ""

    def take(self, message: Any) -> Message | Pending | None:
        """The answer to a message, or what has to be done for it, or nothing where none is due."""
        id = as_id(message.get("id")) if isinstance(message, dict) else None
        try:
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                raise Refusal(INVALID_REQUEST, "this is not a JSON-RPC 2.0 message")
            if "method" not in message and ("result" in message or "error" in message):
                return None  # an answer to something that was never asked
            if "id" not in message:
                return None  # a notification
            if id is None or not isinstance(message.get("method"), str):
                raise Refusal(INVALID_REQUEST, "a request has a method, and an id that is a text or a number")
            params = message.get("params", {})
            if not isinstance(params, dict):
                raise Refusal(INVALID_PARAMS, "params must be an object")
            return self._request(id, message["method"], params)
        except Refusal as refusal:
            return failure(id, refusal.code, str(refusal), refusal.data)

    def _request(self, id: str | int, method: str, params: Message) -> Message | Pending:
        meta = params.get("_meta")
        enveloped = isinstance(meta, dict) and _VERSION in meta and method != "initialize"
        client = _check_envelope(meta or {}) if enveloped else self._client
        served = _ENVELOPED if enveloped else _HANDSHAKE
        if method not in served:
            raise Refusal(NO_METHOD, "Method not found", method)

        def finish(result: Message) -> Message:
            return {"jsonrpc": "2.0", "id": id, "result": _stamped(method, result) if enveloped else result}

        result = served[method](self, params, client)
        if not callable(result):
            return finish(result)
        legacy = method == "resources/read" and not enveloped
        return Pending(id, result, finish, NO_RESOURCE if legacy else INVALID_PARAMS)

    def _initialize(self, params: Message, _client: str) -> Message:
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise Refusal(INVALID_PARAMS, "initialize needs protocolVersion, a text")
        self.version = asked if asked in HANDSHAKE else HANDSHAKE[-1]
        self._client = _name_of(params.get("clientInfo"))
        return {"protocolVersion": self.version, "capabilities": CAPABILITIES, "serverInfo": SERVER,
                "instructions": offer.INSTRUCTIONS}

    def _discover(self, _params: Message, _client: str) -> Message:
        return {"supportedVersions": list(ENVELOPED), "capabilities": CAPABILITIES,
                "instructions": offer.INSTRUCTIONS}

    def _ping(self, _params: Message, _client: str) -> Message:
        return {}

    def _tools(self, _params: Message, _client: str) -> Message:
        return {"tools": offer.list_tools(self._rows)}

    def _call(self, params: Message, client: str) -> Callable[[Memory], Message]:
        name, arguments = _text_of(params, "name"), _object_of(params, "arguments")
        row = next((row for row in self._rows if calls.call_name(row) == name), None)
        if row is None:
            names = ", ".join(map(calls.call_name, self._rows))
            raise Refusal(INVALID_PARAMS, f"Unknown tool: {name[:60]}; there are {names}")
        return lambda mem: offer.call_tool(mem, row, arguments, client)

    def _resources(self, _params: Message, _client: str) -> Message:
        return {"resources": offer.list_resources(self._home)}

    def _templates(self, _params: Message, _client: str) -> Message:
        return {"resourceTemplates": offer.TEMPLATES}

    def _read(self, params: Message, _client: str) -> Callable[[Memory], Message]:
        uri = _text_of(params, "uri")
        return lambda mem: offer.read_resource(mem, uri)

    def _prompts(self, _params: Message, _client: str) -> Message:
        return {"prompts": offer.PROMPTS}

    def _prompt(self, params: Message, _client: str) -> Callable[[Memory], Message]:
        name, arguments = _text_of(params, "name"), _object_of(params, "arguments")
        return lambda mem: offer.get_prompt(mem, name, arguments)


_Act = Callable[[Conversation, Message, str], "Message | Callable[[Memory], Message]"]
_BOTH: dict[str, _Act] = {
    "tools/list": Conversation._tools, "tools/call": Conversation._call,
    "resources/list": Conversation._resources, "resources/templates/list": Conversation._templates,
    "resources/read": Conversation._read, "prompts/list": Conversation._prompts,
    "prompts/get": Conversation._prompt,
}
_HANDSHAKE: dict[str, _Act] = {**_BOTH, "initialize": Conversation._initialize, "ping": Conversation._ping}
_ENVELOPED: dict[str, _Act] = {**_BOTH, "server/discover": Conversation._discover}


def failure(id: str | int | None, code: int, message: str, data: Any = None) -> Message:
    error = {"code": code, "message": message, **({"data": data} if data is not None else {})}
    return {"jsonrpc": "2.0", "id": id, "error": error}


def as_id(value: object) -> str | int | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _check_envelope(meta: Mapping[str, Any]) -> str:
    """The client's name from the envelope of a request, which must be whole and of a version we speak."""
    version = meta[_VERSION]
    if _CAPABILITIES not in meta or not isinstance(version, str):
        raise Refusal(INVALID_PARAMS, f"params._meta needs {_VERSION}, a text, and {_CAPABILITIES}")
    if version not in ENVELOPED:
        raise Refusal(NO_VERSION, "Unsupported protocol version",
                      {"supported": list(ENVELOPED), "requested": version})
    return _name_of(meta.get(_CLIENT))


def _stamped(method: str, result: Message) -> Message:
    """What every result of the newer era says besides its own."""
    kept = {"ttlMs": 0, "cacheScope": "private"} if method in _KEPT else {}
    meta = {**result.get("_meta", {}), _SERVER: SERVER}
    return {"resultType": "complete", **kept, **result, "_meta": meta}


def _name_of(client: object) -> str:
    return str(client.get("name") or "") if isinstance(client, dict) else ""


def _text_of(params: Message, name: str) -> str:
    if not isinstance(params.get(name), str):
        raise Refusal(INVALID_PARAMS, f"params.{name} must be a text")
    return str(params[name])


def _object_of(params: Message, name: str) -> Message:
    value = params.get(name)
    if value is not None and not isinstance(value, dict):
        raise Refusal(INVALID_PARAMS, f"params.{name} must be an object")
    return value or {}
