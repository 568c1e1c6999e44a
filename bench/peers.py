"""The same turns and questions put to other memories, each in its own environment, with the same vectors where it takes them.

    python bench/peers.py DATA.json [--models FOLDER] [--dialogs N] [--install]

Each has an environment of its own, NAME in OTOLITH_PEERS or in `peers` of the folder for temporary files; `--install` makes
those that are missing, everything after that is offline. A peer that has none or does not run says why; no figure is
guessed. One memory a turn, as its speaker and words; each peer's own recall call; the embedder is Otolith's static one, or
MiniLM if its weights are named, handed over as vectors or served at an OpenAI-compatible address on this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PEERS = ("chromadb", "mem0ai", "mcp-memory-service", "basic-memory")
FOLDER = Path(os.environ.get("OTOLITH_PEERS") or Path(tempfile.gettempdir(), "peers"))
WANTED = 50
SECONDS = 600


# The child: runs in the peer's environment and knows nothing of Otolith

def ask_chromadb(dialog: dict[str, Any], folder: str, _: str) -> list[list[int]]:
    import chromadb

    client = chromadb.PersistentClient(path=folder, settings=chromadb.Settings(anonymized_telemetry=False))
    shelf = client.create_collection("turns", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    texts = dialog["texts"]
    for at in range(0, len(texts), 500):
        part = slice(at, at + 500)
        shelf.add(ids=[str(n) for n in range(len(texts))][part], documents=texts[part], embeddings=dialog["vectors"][part])
    answers = []
    for vector in dialog["question_vectors"]:
        found = shelf.query(query_embeddings=[vector], n_results=min(WANTED, len(texts)), include=[])
        answers.append([int(n) for n in found["ids"][0]])
    return answers


def ask_mem0ai(dialog: dict[str, Any], folder: str, address: str) -> list[list[int]]:
    from mem0 import Memory

    width = len(dialog["vectors"][0])
    openai = {"api_key": "none", "openai_base_url": address}
    memory = Memory.from_config({
        "vector_store": {"provider": "qdrant", "config": {"path": folder, "embedding_model_dims": width, "on_disk": True}},
        "embedder": {"provider": "openai", "config": {**openai, "model": "given", "embedding_dims": width}},
        "llm": {"provider": "openai", "config": {**openai, "model": "none"}}, "history_db_path": f"{folder}/history.db"})
    for n, text in enumerate(dialog["texts"]):
        memory.add(text, user_id="u", infer=False, metadata={"n": n})
    answers = []
    for question in dialog["questions"]:
        found = memory.search(question, filters={"user_id": "u"}, top_k=WANTED)
        answers.append([int(one["metadata"]["n"]) for one in found["results"]])
    return answers


def ask_mcp_memory_service(dialog: dict[str, Any], folder: str, address: str) -> list[list[int]]:
    import asyncio

    os.environ |= {"MCP_EXTERNAL_EMBEDDING_URL": f"{address}/embeddings", "MCP_EXTERNAL_EMBEDDING_MODEL": "given",
                   "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec", "MCP_SEMANTIC_DEDUP_ENABLED": "false"}
    from mcp_memory_service.models.memory import Memory
    from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
    from mcp_memory_service.utils.hashing import generate_content_hash

    async def run() -> list[list[int]]:
        store = SqliteVecMemoryStorage(f"{folder}/memory.db")
        await store.initialize()
        places = {}
        for n, text in enumerate(dialog["texts"]):
            mark = generate_content_hash(text)
            places.setdefault(mark, n)
            await store.store(Memory(content=text, content_hash=mark, tags=["turn"]))
        recall = getattr(store, "retrieve_hybrid", None) or store.retrieve
        answers = []
        for question in dialog["questions"]:
            found = await recall(question, n_results=WANTED)
            answers.append([places[one.memory.content_hash] for one in found if one.memory.content_hash in places])
        return answers

    return asyncio.run(run())


ASK: dict[str, Callable[[dict[str, Any], str, str], list[list[int]]]] = {
    "chromadb": ask_chromadb, "mem0ai": ask_mem0ai, "mcp-memory-service": ask_mcp_memory_service}


def child(peer: str, data: str, address: str) -> None:
    with open(data) as file:
        dialogs = json.load(file)
    answers = []
    for dialog in dialogs:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            answers.append(ASK[peer](dialog, folder, address))
            print(f"{peer} {time.perf_counter() - start:.0f} s", file=sys.stderr)
    with open(f"{data}.{peer}", "w") as file:
        json.dump(answers, file)


# The parent

@contextmanager
def serve(embedder: Any) -> Iterator[str]:
    """The embedder at an OpenAI-compatible address."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            texts = [given] if isinstance(given, str) else list(given)
            rows = [{"object": "embedding", "index": at, "embedding": row} for at, row in
                    enumerate(embedder.embed(texts).tolist())]
            data = json.dumps({"object": "list", "data": rows, "model": "given",
                               "usage": {"prompt_tokens": 0, "total_tokens": 0}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{web.server_port}/v1"
    finally:
        web.shutdown()
        thread.join()


def measure(data: Path, models: Path | None, count: int | None, peers: list[str]) -> Iterator[str]:
    import numpy as np
    from locomo import DEPTHS, read_dialogs

    from otolith.providers.embedders import Static
    from otolith.providers.minilm import MiniLM

    embedder, dialogs = MiniLM(models) if models else Static(), read_dialogs(data)[:count]
    with tempfile.TemporaryDirectory() as folder, serve(embedder) as address:
        put = Path(folder, "dialogs.json")
        put.write_text(json.dumps([{
            "texts": [turn.spoken for turn in dialog.turns], "questions": [asked.text for asked in dialog.asked],
            "vectors": embedder.embed([turn.spoken for turn in dialog.turns]).tolist(),
            "question_vectors": embedder.embed([asked.text for asked in dialog.asked]).tolist()} for dialog in dialogs]))
        for peer in peers:
            answers = _run(peer, put, address, Path(folder))
            if isinstance(answers, str):
                yield f"| {peer} | {answers} | | | | |"
                continue
            rows = [[len(asked.evidence.intersection(order[:depth])) / len(asked.evidence) for depth in DEPTHS]
                    for dialog, answered in zip(dialogs, answers, strict=True)
                    for asked, order in zip(dialog.asked, answered, strict=True) if asked.category != 5]
            cells = " | ".join(f"{value:.1f}" for value in 100 * np.mean(rows, axis=0))
            yield f"| {_version(peer)} | {embedder.name} | {cells} |"


def install(peers: list[str], python: str) -> None:
    """Make the environments that are missing; the end of what pip said is kept beside one that could not be made."""
    for peer in peers:
        if not (FOLDER / peer / "bin" / "python").exists():
            subprocess.run([python, "-m", "venv", str(FOLDER / peer)], check=True)
            done = subprocess.run([FOLDER / peer / "bin" / "pip", "install", "--quiet", peer], capture_output=True, text=True,
                                  check=False, timeout=SECONDS)
            if done.returncode:
                shutil.rmtree(FOLDER / peer)
                (FOLDER / f"{peer}.txt").write_text(done.stderr[-100_000:])


def _why_not(peer: str) -> str:
    said = FOLDER / f"{peer}.txt"
    if not said.exists():
        return "no environment was made for it"
    wants = re.findall(r"Requires-Python ([^;\s]+)", said.read_text())
    here = ".".join(map(str, sys.version_info[:3]))
    return f"pip found no version for Python {here}; it asks for {wants[-1]}" if wants else "pip could not install it"


def _version(peer: str) -> str:
    found = next((FOLDER / peer).glob(f"lib/python*/site-packages/{peer.replace('-', '_')}-*.dist-info"), None)
    return f"{peer} {found.name.removesuffix('.dist-info').rsplit('-', 1)[1]}" if found else peer


def _run(peer: str, put: Path, address: str, folder: Path) -> Any:
    """The peer's answers, or in a few words why there are none."""
    python = FOLDER / peer / "bin" / "python"
    if not python.exists():
        return _why_not(peer)
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    env = {**os.environ, **nowhere, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "HOME": str(folder), "HF_HUB_OFFLINE": "1",
           "ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False"}
    try:
        done = subprocess.run([python, __file__, "--child", peer, str(put), address], env=env, timeout=SECONDS, check=False,
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    except subprocess.TimeoutExpired:
        return f"did not finish in {SECONDS} s"
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        said = [line for line in done.stderr.splitlines() if "Error: " in line]
        return f"did not run here: {said[-1][:120] if said else 'no reason told'}"
    return json.loads(Path(f"{put}.{peer}").read_text())


def main() -> int:
    if "--child" in sys.argv:
        child(*sys.argv[2:5])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--models", type=Path, help="folder with the MiniLM weights")
    parser.add_argument("--install", action="store_true", help="first make the environments that are missing")
    parser.add_argument("--python", default=sys.executable, help="make them of this Python; one peer wants SQLite extensions")
    parser.add_argument("--dialogs", type=int, help="only so many")
    parser.add_argument("--peer", action="append", choices=PEERS)
    given = parser.parse_args()
    if given.install:
        install(given.peer or list(PEERS), given.python)
    for line in measure(given.data, given.models, given.dialogs, given.peer or list(PEERS)):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
