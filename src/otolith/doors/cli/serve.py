"""The command `serve`: REST, the page and MCP on one port of this machine."""

from __future__ import annotations

import argparse

from otolith.doors.cli.desk import Command, Desk
from otolith.errors import NotFound, Usage

PORT = 7518


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=PORT, help=f"which port (default: {PORT}; 0 takes a free one)")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="which address (default: 127.0.0.1)")
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME[:PORT]",
                        help="a further name under which browsers may call this server; may be given again")
    parser.add_argument("--no-mcp", action="store_true", help="leave the agents' door closed")
    parser.add_argument("--link", action="store_true", help="only print a fresh sign-in link for a server that runs")


def _serve(desk: Desk) -> None:
    args = desk.args
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise Usage(f"the server needs the package {error.name}", "in Otolith's folder run: pip install '.[serve]'") from None
    if not 0 <= args.port <= 65_535:
        raise Usage(f"there is no port {args.port}")
    from otolith.doors.web import gate, serving

    if args.link:
        if not serving.answers(args.host, args.port):
            raise NotFound(f"no server of Otolith answers at {serving.address(args.host, args.port)}", "start one with: otolith serve")
        address = serving.link(args.host, args.port)
        desk.answer({"link": address}, address)
        return
    if args.host not in gate.LOOPBACK:
        desk.tell(f"{args.host} can be reached from other machines, and what travels is not encrypted")

    def tell(port: int) -> None:
        address = serving.link(args.host, port)
        told = {"url": serving.address(args.host, port), "link": address, "token": str(gate.token_file())}
        desk.answer(told, f"Otolith is at {told['url']}\nSign in once, within ten minutes:  {address}\n"
                          f"Programs: REST at {told['url']}/api/openapi.json, MCP at {told['url']}/mcp, "
                          f"token in {told['token']}\nStop with Ctrl-C.")
        import sys

        sys.stdout.flush()

    serving.serve(args.home, port=args.port, tell=tell, host=args.host, names=args.allow_host, agents=not args.no_mcp)


COMMANDS = {
    "serve": Command(_serve_arguments, _serve, "  otolith serve\n  otolith serve --port 8080\n  otolith serve --link"),
}
