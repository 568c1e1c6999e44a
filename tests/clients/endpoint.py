"""A scripted language model on loopback, in the four dialects that coding agents speak.

Anthropic's Messages, OpenAI's Responses and Chat Completions, Gemini's generateContent, streamed where the
client asks for a stream. It says what the script says, one step a request: a text, or calls of tools. Requests
that a client makes on the side (titles, summaries, counting) are not steps. Every request is kept as it came,
so that a test can see what the model saw.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

SIDE = "A short title"  # what a request on the side is answered with


class Call(NamedTuple):
    """The model calls a tool of the client."""

    tool: str
    arguments: dict[str, Any] | str  # a text for a tool that takes free text


Step = str | Call | Sequence[Call]


class Asked(NamedTuple):
    """One request of the client."""

    path: str
    body: dict[str, Any]

    @property
    def tools(self) -> list[str]:
        """The names of the tools that the model was offered."""
        return list(_tool_names(self.body))

    @property
    def text(self) -> str:
        """Every string in the conversation and the instructions, one a line; tools are left out. Signs that a
        client escapes are read as what they are.
        """
        return unescape("\n".join(_strings({name: value for name, value in self.body.items() if name != "tools"})))

    @property
    def main(self) -> bool:
        """Whether the conversation itself goes on here, and not something on the side."""
        return bool(self.tools)


class Endpoint:
    """The server, as long as a `with` lasts."""

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self.steps: list[Step] = list(steps)
        self.asked: list[Asked] = []
        self.other: list[str] = []  # requests that are no question to a model
        self.used = 100  # tokens that a request is said to have had; many of them make a client compact
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"endpoint": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Endpoint:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def main(self) -> list[Asked]:
        """The requests of the conversation itself."""
        return [asked for asked in self.asked if asked.main]

    def say(self, *steps: Step) -> None:
        """What the model does next, after what it was to do already."""
        self.steps += steps

    def answer(self, asked: Asked) -> Sequence[Call] | str:
        with self._lock:
            self.asked.append(asked)
            if not asked.main:
                return SIDE
            step = self.steps.pop(0) if self.steps else "Done."
        return [step] if isinstance(step, Call) else step


def _tool_names(body: dict[str, Any]) -> Iterator[str]:
    for tool in body.get("tools") or ():
        if "functionDeclarations" in tool:
            yield from (inner["name"] for inner in tool["functionDeclarations"])
        elif tool.get("type") == "namespace":
            yield from (f"{tool['name']}{inner['name']}" for inner in tool.get("tools", ()))
        else:
            yield str(tool.get("name") or tool.get("function", {}).get("name") or tool.get("type"))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.endpoint.other.append(f"GET {self.path}")
        self._send(json.dumps({"data": [], "models": []}), "application/json")

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(data)
        except ValueError:
            body = {}
        path = self.path.partition("?")[0]
        dialect = next((act for ending, act in DIALECTS.items() if path.endswith(ending)), None)
        if dialect is None:
            self.endpoint.other.append(f"POST {path}")
            return self._send(json.dumps({"input_tokens": 10, "totalTokens": 10}), "application/json")
        asked = Asked(path, body)
        step = self.endpoint.answer(asked)
        streamed = body.get("stream") is True or ":stream" in path
        used = self.endpoint.used if asked.main else 100
        events = list(dialect(step, streamed, str(len(self.endpoint.asked)), used))
        if not streamed:
            return self._send(json.dumps(events[0][1]), "application/json")
        lines = [(f"event: {name}\n" if name else "") + f"data: {json.dumps(event)}\n\n" for name, event in events]
        if path.endswith("/chat/completions"):
            lines.append("data: [DONE]\n\n")
        return self._send("".join(lines), "text/event-stream")

    def _send(self, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


Event = tuple[str, dict[str, Any]]


def messages(step: Sequence[Call] | str, streamed: bool, number: str, used: int) -> Iterator[Event]:
    """Anthropic's Messages."""
    usage = {"input_tokens": used, "output_tokens": 10}
    blocks: list[dict[str, Any]] = (
        [{"type": "text", "text": step}] if isinstance(step, str) else
        [{"type": "tool_use", "id": f"toolu_{number}_{at}", "name": call.tool, "input": call.arguments}
         for at, call in enumerate(step)])
    stop = "end_turn" if isinstance(step, str) else "tool_use"
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "usage": usage}
    if not streamed:
        yield "", {**message, "content": blocks, "stop_reason": stop, "stop_sequence": None}
        return
    yield "message_start", {"type": "message_start", "message": {**message, "content": [], "stop_reason": None,
                                                                 "stop_sequence": None}}
    for at, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield "content_block_start", {"type": "content_block_start", "index": at, "content_block": empty}
        yield "content_block_delta", {"type": "content_block_delta", "index": at, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": at}
    yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
                            "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def responses(step: Sequence[Call] | str, streamed: bool, number: str, used: int) -> Iterator[Event]:
    """OpenAI's Responses."""
    items: list[dict[str, Any]] = []
    if isinstance(step, str):
        items.append({"type": "message", "role": "assistant", "id": f"msg_{number}", "status": "completed",
                      "content": [{"type": "output_text", "text": step, "annotations": []}]})
    else:
        for at, call in enumerate(step):
            same = {"id": f"fc_{number}_{at}", "call_id": f"call_{number}_{at}", "status": "completed"}
            space, _, name = call.tool.rpartition("/")  # a tool inside a namespace
            named = {"name": name, **({"namespace": space} if space else {})}
            items.append({"type": "custom_tool_call", "input": call.arguments, **named, **same}
                         if isinstance(call.arguments, str) else
                         {"type": "function_call", "arguments": json.dumps(call.arguments), **named, **same})
    usage = {"input_tokens": used, "output_tokens": 10, "total_tokens": used + 10, "input_tokens_details": None,
             "output_tokens_details": None}
    whole = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": items, "usage": usage}
    if not streamed:
        yield "", whole
        return
    yield "response.created", {"type": "response.created", "response": {"id": whole["id"]}}
    for at, item in enumerate(items):
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": at, "item": item}
    yield "response.completed", {"type": "response.completed", "response": whole}


def completions(step: Sequence[Call] | str, streamed: bool, number: str, used: int) -> Iterator[Event]:
    """OpenAI's Chat Completions."""
    if isinstance(step, str):
        message: dict[str, Any] = {"role": "assistant", "content": step}
        stop = "stop"
    else:
        called = [{"index": at, "id": f"call_{number}_{at}", "type": "function",
                   "function": {"name": call.tool, "arguments": json.dumps(call.arguments)}}
                  for at, call in enumerate(step)]
        message, stop = {"role": "assistant", "content": None, "tool_calls": called}, "tool_calls"
    usage = {"prompt_tokens": used, "completion_tokens": 10, "total_tokens": used + 10}
    same = {"id": f"chat_{number}", "created": 0, "model": "scripted"}
    if not streamed:
        choice = {"index": 0, "message": message, "finish_reason": stop}
        yield "", {**same, "object": "chat.completion", "choices": [choice], "usage": usage}
        return
    chunk = {**same, "object": "chat.completion.chunk"}
    yield "", {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
    yield "", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage}


def generate(step: Sequence[Call] | str, streamed: bool, number: str, used: int) -> Iterator[Event]:
    """Gemini's generateContent and streamGenerateContent."""
    parts = ([{"text": step}] if isinstance(step, str) else
             [{"functionCall": {"name": call.tool, "args": call.arguments}} for call in step])
    yield "", {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
               "usageMetadata": {"promptTokenCount": used, "candidatesTokenCount": 10,
                                 "totalTokenCount": used + 10},
               "modelVersion": "scripted"}


DIALECTS = {"/v1/messages": messages, "/responses": responses, "/chat/completions": completions,
            ":generateContent": generate, ":streamGenerateContent": generate}
