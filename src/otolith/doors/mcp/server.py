"""MCP over streamable HTTP on this machine, by the official SDK's low-level server; `stdio` needs no SDK.

Both offer what `offer` says. An unknown tool or resource is an error of the protocol, everything else that
goes wrong in a tool is a tool error. Only this module loads the SDK, and only when a server over HTTP starts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from otolith import __version__
from otolith.doors import calls
from otolith.doors.agents.answering import answering
from otolith.doors.keeper import Keeper
from otolith.doors.mcp import offer, protocol
from otolith.errors import NotFound, OtolithError

if TYPE_CHECKING:
    from otolith.verbs.table import Verb


def build(keeper: Keeper, tools: Sequence[Verb]) -> Server[Any]:
    """The server of a home."""

    async def list_tools(_: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": offer.list_tools(tools)})

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        row = next((row for row in tools if calls.call_name(row) == params.name), None)
        if row is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name[:60]}")
        given, client = params.arguments or {}, _client(context)
        answer = await keeper.ask(lambda mem: offer.call_tool(mem, row, given, client))
        return types.CallToolResult.model_validate(answer)

    async def list_resources(_: Any, _params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult.model_validate({"resources": offer.list_resources(keeper.path)})

    async def list_templates(_: Any, _params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": offer.TEMPLATES})

    async def read_resource(context: Any,
                            params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri, enveloped = str(params.uri), context.protocol_version in protocol.ENVELOPED
        page = await _guarded(keeper.ask(lambda mem: offer.read_resource(mem, uri)),
                              types.INVALID_PARAMS if enveloped else protocol.NO_RESOURCE)
        return types.ReadResourceResult.model_validate(page)

    async def list_prompts(_: Any, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate({"prompts": offer.PROMPTS})

    async def get_prompt(_: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        given = dict(params.arguments or {})
        prompt = await _guarded(keeper.ask(lambda mem: offer.get_prompt(mem, params.name, given)))
        return types.GetPromptResult.model_validate(prompt)

    return Server("otolith", version=__version__, instructions=offer.INSTRUCTIONS, on_list_tools=list_tools,
                  on_call_tool=call_tool, on_list_resources=list_resources,
                  on_list_resource_templates=list_templates, on_read_resource=read_resource,
                  on_list_prompts=list_prompts, on_get_prompt=get_prompt)


def _client(context: Any) -> str:
    """What the client calls itself."""
    client = getattr(getattr(getattr(context, "session", None), "client_params", None), "client_info", None)
    return str(getattr(client, "name", "") or "")


async def _guarded(waiting: Any, missing: int = types.INVALID_PARAMS) -> Any:
    """Resources and prompts have no errors of their own: a refusal becomes the protocol's, in our words."""
    try:
        return await waiting
    except Exception as error:
        code = (missing if isinstance(error, NotFound) else
                types.INVALID_PARAMS if isinstance(error, OtolithError) else types.INTERNAL_ERROR)
        raise MCPError(code=code, message=offer.complaint(error)) from None


def serve_http(home: str | None, which: str, *, port: int, tell: Any) -> None:
    """Serve many clients over streamable HTTP, on loopback only, behind the gate."""
    import uvicorn

    from otolith.doors.web import gate
    from otolith.doors.web.caller import SETTINGS, Caller

    token = gate.TokenFile()
    with closing(gate.listen("127.0.0.1", port)) as listening, answering(home), \
            closing(Keeper(home, door="mcp", trust="agent")) as keeper:
        port = listening.getsockname()[1]
        app = gate.Gate(http_app(keeper, which, gate.names_of(port)), token, gate.names_of(port))
        tell(f"MCP at http://127.0.0.1:{port}/mcp; the token is in {gate.token_file()}")
        config = uvicorn.Config(app, http=Caller, timeout_graceful_shutdown=30, **SETTINGS)
        uvicorn.Server(config).run(sockets=[listening])


def http_app(keeper: Keeper, which: str, hosts: Collection[str]) -> Any:
    """The ASGI application of the tools, without the gate."""
    from mcp.server.transport_security import TransportSecuritySettings

    from otolith.doors.web.gate import MAX_BODY

    names = sorted(hosts)
    security = TransportSecuritySettings(allowed_hosts=names,
                                         allowed_origins=[f"http://{name}" for name in names])
    return build(keeper, calls.offered("mcp", which)).streamable_http_app(
        json_response=True, max_request_body_size=MAX_BODY, transport_security=security)
