"""The same turns and questions put to other memories, each in its own environment, with the same vectors where it takes them.

    python bench/peers.py DATA.json [--models FOLDER] [--dialogs N] [--install]

Each has an environment of its own, NAME in OTOLITH_PEERS or in `peers` of the folder for temporary files; `--install` makes
those that are missing, everything after that is offline. A peer that has none or does not run says why; no figure is
guessed. One memory a turn, as its speaker and words; each peer's own recall call; the embedder is Otolith's static one, or
MiniLM if its weights are named, handed over as vectors or served at an OpenAI-compatible address on this machine.
"""

from __future__ import annotations

import argparse
import hashlib
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

PEERS = ("chromadb", "mem0ai", "mcp-memory-service", "txtai", "basic-memory")
# what pip is asked for where the name alone does not install: the newest fastmcp wants a certifi that not every registry has
PACKAGES = {"basic-memory": ("basic-memory", "fastmcp<3")}
# what a peer's Python must be able to do
NEEDS = {"mcp-memory-service": "import sqlite3; sqlite3.Connection.enable_load_extension",
         "basic-memory": "import sys; assert sys.version_info >= (3, 12)"}
OWN_WORDS = ("basic-memory",)  # it has vectors only by a model that it downloads, so it is asked by words, once
MEASURED = Path(__file__).parent / ".cache" / "peers.json"
FOLDER = Path(os.environ.get("OTOLITH_PEERS") or Path(tempfile.gettempdir(), "peers"))
WANTED = 50
SECONDS, INSTALLING = 300, 600  # after which a peer is left out


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


def ask_txtai(dialog: dict[str, Any], _: str, address: str) -> list[list[int]]:
    from urllib.request import Request, urlopen

    import numpy as np
    from txtai import Embeddings

    def embed(texts: list[str]) -> Any:
        asked = Request(f"{address}/embeddings", json.dumps({"input": list(texts)}).encode(), {"Content-Type": "application/json"})
        with urlopen(asked) as answer:
            return np.array([row["embedding"] for row in json.load(answer)["data"]], np.float32)

    index = Embeddings({"method": "external", "transform": embed, "hybrid": True})
    index.index([(n, text, None) for n, text in enumerate(dialog["texts"])])
    return [[int(n) for n, _ in index.search(question, WANTED)] for question in dialog["questions"]]


def ask_basic_memory(dialog: dict[str, Any], folder: str, _: str) -> list[list[int]]:
    import asyncio

    os.environ |= {"HOME": folder, "BASIC_MEMORY_HOME": f"{folder}/notes", "BASIC_MEMORY_CONFIG_DIR": f"{folder}/settings"}
    command = [str(Path(sys.executable).with_name("basic-memory")), "project", "add", "turns", f"{folder}/notes"]
    subprocess.run(command, check=True, capture_output=True)
    from basic_memory.mcp import tools

    write, search = tools.write_note.fn, tools.search_notes.fn

    async def run() -> list[list[int]]:
        for n, text in enumerate(dialog["texts"]):
            await write(title=f"turn {n}", content=text, directory="said", project="turns")
        answers = []
        for question in dialog["questions"]:
            words = " OR ".join(re.findall(r"\w+", question))  # a question as it is would have to be met in every word
            found = await search(query=words, page_size=WANTED, project="turns")
            titles = [] if isinstance(found, str) else [one.title for one in found.results]
            answers.append([int(title.removeprefix("turn ")) for title in dict.fromkeys(titles) if title.startswith("turn ")])
        return answers

    return asyncio.run(run())


ASK: dict[str, Callable[[dict[str, Any], str, str], list[list[int]]]] = {
    "chromadb": ask_chromadb, "mem0ai": ask_mem0ai, "mcp-memory-service": ask_mcp_memory_service,
    "txtai": ask_txtai, "basic-memory": ask_basic_memory}


def child(peer: str, data: str, address: str) -> None:
    sys.path.remove(str(Path(__file__).parent))  # a module of ours must not be taken for a package of theirs
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
    from cached import CachedMiniLM
    from locomo import DEPTHS, read_dialogs

    from otolith.providers.embedders import Static

    embedder, dialogs = CachedMiniLM(models) if models else Static(), read_dialogs(data)[:count]
    with tempfile.TemporaryDirectory() as folder, serve(embedder) as address:
        put = Path(folder, "dialogs.json")
        put.write_text(json.dumps([{
            "texts": [turn.spoken for turn in dialog.turns], "questions": [asked.text for asked in dialog.asked],
            "vectors": embedder.embed([turn.spoken for turn in dialog.turns]).tolist(),
            "question_vectors": embedder.embed([asked.text for asked in dialog.asked]).tolist()} for dialog in dialogs]))
        for peer in peers:
            if peer in OWN_WORDS and models:
                continue
            vectors = "words alone" if peer in OWN_WORDS else embedder.name
            key = f"{_version(peer)}, {vectors}, {count} dialogs, {hashlib.sha256(data.read_bytes()).hexdigest()[:12]}"
            known = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
            if key in known:  # nothing of ours is in it
                yield known[key]
                continue
            answers = _run(peer, put, address, Path(folder))
            if isinstance(answers, str):
                yield f"| {peer} | {vectors}: {answers} | | | | |"
                continue
            rows = [[len(asked.evidence.intersection(order[:depth])) / len(asked.evidence) for depth in DEPTHS]
                    for dialog, answered in zip(dialogs, answers, strict=True)
                    for asked, order in zip(dialog.asked, answered, strict=True) if asked.category != 5]
            cells = " | ".join(f"{value:.1f}" for value in 100 * np.mean(rows, axis=0))
            MEASURED.write_text(json.dumps({**known, key: f"| {_version(peer)} | {vectors} | {cells} |"}, indent=1))
            yield f"| {_version(peer)} | {vectors} | {cells} |"


def install(peers: list[str]) -> None:
    """Make the environments that are missing; the end of what was said is kept beside one that could not be made."""
    for peer in peers:
        if not (FOLDER / peer / "bin" / "python").exists():
            FOLDER.mkdir(parents=True, exist_ok=True)
            failed = _install(peer)
            if failed:
                shutil.rmtree(FOLDER / peer, ignore_errors=True)
                (FOLDER / f"{peer}.txt").write_text(failed[-100_000:])


def _install(peer: str) -> str:
    """Why not, or nothing."""
    python = next((each for each in _pythons() if _can(each, NEEDS.get(peer, ""))), None)
    if python is None:
        return f"no Python here can: {NEEDS[peer]}"
    try:
        subprocess.run([python, "-m", "venv", str(FOLDER / peer)], check=True, capture_output=True, timeout=INSTALLING)
        command = [FOLDER / peer / "bin" / "pip", "install", "--quiet", *PACKAGES.get(peer, (peer,))]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALLING)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stderr or "pip failed" if done.returncode else ""


def _pythons() -> list[str]:
    """This one, then others that are here."""
    versions = sorted(Path.home().glob(".pyenv/versions/3.1[1-3].*/bin/python"))
    others = [str(path) for path in versions] + [f"/usr/bin/python3.{n}" for n in (11, 12, 13)]
    return [sys.executable, *(each for each in others if Path(each).exists())]


def _can(python: str, task: str) -> bool:
    return subprocess.run([python, "-c", f"import venv, ensurepip; {task}"], capture_output=True, check=False).returncode == 0


def _why_not(peer: str) -> str:
    said = FOLDER / f"{peer}.txt"
    if not said.exists():
        return "no environment was made for it"
    lines = [line for line in said.read_text().splitlines() if line.strip() and "is ignored" not in line]
    return f"not installed: {re.sub(r' *[(]from versions.*', '', lines[-1])[:200]}" if lines else "not installed"


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
    parser.add_argument("--dialogs", type=int, help="only so many")
    parser.add_argument("--peer", action="append", choices=PEERS)
    given = parser.parse_args()
    MEASURED.parent.mkdir(parents=True, exist_ok=True)
    if given.install:
        install(given.peer or list(PEERS))
    for line in measure(given.data, given.models, given.dialogs, given.peer or list(PEERS)):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
