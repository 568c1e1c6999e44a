"""How fast the agents' doors open: an MCP server and the hooks against a bare Python, `python -c "import sqlite3, json"`.

Each is a fresh process on a small home, run in turn, so that a busy machine is busy for all; medians of processor time
(start to end) and of wall time (start to the list of tools, or to the end), as multiples of the bare Python's own.
The server is asked as clients of either era ask it; `bare server of the SDK` is what one costs that does nothing.
"""

from __future__ import annotations

import json
import os
import resource
import signal
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
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
ERAS = {
    "handshake": [{"id": 0, "method": "initialize", "params": HELLO}, {"method": "notifications/initialized"},
                  {"id": 1, "method": "tools/list", "params": {}}],
    "2026-07-28": [{"id": 1, "method": "tools/list", "params": {"_meta": ABOUT}}],
}
Took = tuple[float, float]  # processor and wall seconds


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_tools(command: list[str], env: dict[str, str], era: str) -> Took:
    """What a server takes until it has named its tools; its end is in the processor time."""
    before, began = spent(), time.perf_counter()
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    assert server.stdin
    assert server.stdout
    server.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in ERAS[era]))
    server.stdin.flush()
    while b'"tools":[' not in server.stdout.readline():
        pass
    wall = time.perf_counter() - began
    server.communicate(timeout=30)
    return spent() - before, wall


def whole_life(command: list[str], env: dict[str, str], given: bytes = b"") -> Took:
    """What a process takes from its start to its end."""
    before, began = spent(), time.perf_counter()
    subprocess.run(command, input=given, capture_output=True, check=True, env=env)
    return spent() - before, time.perf_counter() - began


def interrupted(command: list[str], env: dict[str, str]) -> float:
    """Seconds from SIGINT to the end of a server that has answered from its home."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    assert server.stdin
    assert server.stdout
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "brief", "arguments": {}, "_meta": ABOUT}}
    server.stdin.write(json.dumps(call).encode() + b"\n")
    server.stdin.flush()
    server.stdout.readline()
    began = time.perf_counter()
    server.send_signal(signal.SIGINT)
    server.wait(30)
    took = time.perf_counter() - began
    server.stdin.close()
    server.stdout.close()
    return took


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
        own = [python, "-m", "otolith", "mcp", "--tools", "core"]
        events = {"SessionStart": {}, "UserPromptSubmit": {"prompt": "when does the kettle number 7 whistle"},
                  "PreToolUse": {"tool_name": "Edit", "tool_input": {"file_path": "src/3.ts"}}, "Stop": {}, "SessionEnd": {}}
        acts = {"python, sqlite3, json": lambda: whole_life([python, "-c", "import sqlite3, json"], env)}
        for era in ERAS:
            acts[f"tools of otolith mcp, {era}"] = lambda era=era: first_tools(own, env, era)
        acts["tools of a bare server of the SDK"] = lambda: first_tools([python, str(bare)], env, "handshake")
        for event, more in events.items():
            given = json.dumps({"session_id": "s", "cwd": folder, **more}).encode()
            acts[f"hook {event}"] = lambda event=event, given=given: whole_life(
                [python, "-m", "otolith", "hook", event], env, given)
        acts["otolith recall"] = lambda: whole_life([python, "-m", "otolith", "recall", "kettle number 7"], env)
        took: dict[str, list[Took]] = {name: [] for name in acts}
        for at in range(RUNS + 1):
            for name, act in acts.items():
                took[name] += [act()] if at else act() and []  # the first round only fills the caches
        floor = [statistics.median(side) for side in zip(*took["python, sqlite3, json"], strict=True)]
        print("| | processor ms | wall ms | × bare, processor | × bare, wall |\n|---|---|---|---|---|")
        for name, runs in took.items():
            middle = [statistics.median(side) for side in zip(*runs, strict=True)]
            print(f"| {name} | {middle[0] * 1000:.0f} | {middle[1] * 1000:.0f} | {middle[0] / floor[0]:.1f} | "
                  f"{middle[1] / floor[1]:.1f} |")
        ends = [interrupted(own, env) for _ in range(RUNS)]
        print(f"\nFrom SIGINT to the end: median {statistics.median(ends) * 1000:.0f} ms, worst {max(ends) * 1000:.0f} ms.")


if __name__ == "__main__":
    main()
