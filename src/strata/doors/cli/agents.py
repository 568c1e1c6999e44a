"""Commands for agents and for moving house: mcp, hook, install, uninstall, import, export."""

from __future__ import annotations

import argparse

from strata.doors.cli.desk import Command, Desk
from strata.errors import Usage

PORT = 7517


def _mcp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tools", default="all", metavar="all|core", help="which tools to offer (default: all)")
    parser.add_argument("--http", action="store_true", help="streamable HTTP on 127.0.0.1 instead of stdin and stdout")
    parser.add_argument("--port", type=int, default=PORT, help=f"with --http (default: {PORT}; 0 takes a free one)")


def _mcp(desk: Desk) -> None:
    args = desk.args
    try:
        from strata.doors import mcp
    except ModuleNotFoundError as error:
        raise Usage(f"the MCP server needs the package {error.name}", "pip install 'strata-memory[mcp]'") from None
    if args.http:
        mcp.serve_http(args.home, args.tools, port=args.port, tell=desk.tell)
    else:
        mcp.serve_stdio(args.home, args.tools)


COMMANDS = {
    "mcp": Command(_mcp_arguments, _mcp, "  strata mcp\n  strata mcp --tools core\n  strata mcp --http --port 7517"),
}
