"""How fast the agents' doors open: an MCP server against a bare one of the same SDK, a hook against a bare Python.

Each is a fresh process on a small home, run in turn, so that a busy machine is busy for both; medians and the best run.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 9
BARE = '''
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="echo", description="Echo.", input_schema={"type": "object"})])

async def main():
    server = Server("bare", on_list_tools=list_tools)
    async with stdio_server() as (received, sending):
        await server.run(received, sending, server.create_initialization_options())

anyio.run(main)
'''
ABOUT = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
         "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"}}
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ABOUT}}).encode() + b"\n"


def first_answer(command: list[str], env: dict[str, str]) -> float:
    """Seconds from the start of a server to its first answer."""
    began = time.perf_counter()
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    assert server.stdin
    assert server.stdout
    server.stdin.write(LIST)
    server.stdin.flush()
    assert b"tools" in server.stdout.readline()
    took = time.perf_counter() - began
    server.communicate(timeout=30)
    return took


def whole_life(command: list[str], env: dict[str, str], given: bytes) -> float:
    """Seconds from the start of a process to its end."""
    began = time.perf_counter()
    subprocess.run(command, input=given, capture_output=True, check=True, env=env)
    return time.perf_counter() - began


def line(name: str, seconds: list[float], base: list[float]) -> str:
    middle, best = statistics.median(seconds), min(seconds)
    return (f"| {name} | {middle * 1000:.0f} | {best * 1000:.0f} | {middle / statistics.median(base):.2f} | "
            f"{best / min(base):.2f} |")


def main() -> None:
    from otolith.memory import Memory

    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "OTOLITH_HOME": f"{folder}/home", "XDG_CACHE_HOME": f"{folder}/cache",
               "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode, and so has this one
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        with Memory(f"{folder}/home") as mem:
            for number in range(200):
                mem.note(f"Note {number}", f"The kettle number {number} whistles at dawn.", project="default")
                mem.record(intent={"goal": f"g{number}", "task_type": "bug_fix"}, files=[f"src/{number % 20}.ts"],
                           outcome={"success": number % 2 == 0, "summary": "s"})
        bare = Path(folder, "bare.py")
        bare.write_text(BARE)
        python = sys.executable
        servers: dict[str, list[float]] = {"bare server of the SDK": [], "otolith mcp": [], "otolith mcp --tools core": []}
        commands = ([python, str(bare)], [python, "-m", "otolith", "mcp"], [python, "-m", "otolith", "mcp", "--tools", "core"])
        events = {"SessionStart": {}, "UserPromptSubmit": {"prompt": "when does the kettle number 7 whistle"},
                  "PreToolUse": {"tool_name": "Edit", "tool_input": {"file_path": "src/3.ts"}}, "Stop": {}}
        lives: dict[str, list[float]] = {"python, sqlite3, json": [], **{f"hook {event}": [] for event in events}}
        for at in range(RUNS + 1):
            if at == 1:  # the first round only fills the caches
                for seconds in (*servers.values(), *lives.values()):
                    seconds.clear()
            for name, command in zip(servers, commands, strict=True):
                servers[name].append(first_answer(command, env))
            lives["python, sqlite3, json"].append(whole_life([python, "-c", "import sqlite3, json"], env, b""))
            for event, more in events.items():
                given = json.dumps({"session_id": "s", "cwd": folder, **more}).encode()
                lives[f"hook {event}"].append(whole_life([python, "-m", "otolith", "hook", event], env, given))
        print("| | median ms | best ms | × bare (median) | × bare (best) |\n|---|---|---|---|---|")
        for table in (servers, lives):
            base = next(iter(table.values()))
            for name, seconds in table.items():
                print(line(name, seconds, base))


if __name__ == "__main__":
    main()
