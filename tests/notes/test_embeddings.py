"""embed and _embeddings.json: the notes' vectors in the seed's shape, whichever embedder made them."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy
import pytest

from otolith.memory import Memory


def embeddings(home):
    return json.loads((home / "_embeddings.json").read_text())


@contextmanager
def ollama(dimension=768, fails=lambda: False):
    """A server that speaks as Ollama does; its address and the texts it got."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            seen.append(texts)
            rows = [[1.0 + (hash(text) + place) % 7 for place in range(dimension)] for text in texts]
            data = json.dumps({"embeddings": rows}).encode()
            self.send_response(500 if fails() else 200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    web = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{web.server_port}", seen
    finally:
        web.shutdown()
        thread.join()
        web.server_close()


@pytest.mark.clause("notes-79", "notes-80")
def test_embed_writes_one_vector_a_note_in_the_seeds_shape(mem, home):
    notes = [mem.note(f"Note {at}", f"About {word}.") for at, word in enumerate(("tea", "redis", "bread"))]
    mem.embed()
    found = embeddings(home)

    assert found["model"] == "wordllama-l2-supercat"
    assert found["updated"] == "2026-02-10T21:37:00+00:00"
    assert found["entries"].keys() == {note.id for note in notes}
    assert {len(row) for row in found["entries"].values()} == {256}


@pytest.mark.clause("notes-80")
def test_embed_adds_new_notes_and_forgets_old_ones(mem, home):
    old = mem.note("Old", "About tea.")
    mem.embed()
    new = mem.note("New", "About coffee.")
    mem.forget(old.id)
    mem.embed()

    assert embeddings(home)["entries"].keys() == {new.id}
    (home / "_embeddings.json").unlink()
    mem.embed()
    assert embeddings(home)["entries"].keys() == {new.id}


@pytest.mark.clause("notes-81")
def test_a_notes_vector_is_made_from_its_title_and_text(mem, home):
    from otolith.providers.embedders import Static

    note = mem.note("Green tea", "Steep for three minutes.")
    mem.embed()
    made = Static().embed(["Green tea. Steep for three minutes."])[0]

    assert numpy.dot(embeddings(home)["entries"][note.id], made) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.clause("notes-82", "notes-91")
def test_another_provider_embeds_everything_anew_and_nothing_is_mixed(home, clock, run):
    with ollama() as (address, seen):
        with Memory(home, clock=clock) as mem:
            note = mem.note("Green tea", "Steep.")
            mem.embed()
        small = len(embeddings(home)["entries"][note.id])
        env = {"OTOLITH_OLLAMA_URL": address}
        assert run("config", "--provider", "ollama").code == 0
        told = run("embed", env=env)
        found = embeddings(home)
        again = run("embed", env=env)

    assert small == 256
    assert (found["model"], len(found["entries"][note.id])) == ("nomic-embed-text", 768)
    assert "Green tea. Steep." in [text for texts in seen for text in texts]
    assert f"to ollama at {address}" in told.err
    assert again.code == 0
    assert [texts for texts in seen[1:] if texts != ["otolith"]] == []  # asked how it answers, and sent nothing again


@pytest.mark.clause("notes-84")
def test_without_ollama_everything_still_works(home, run):
    home.mkdir()
    (home / "_config.json").write_text('{"embedding_provider": "ollama"}\n')
    env = {"OTOLITH_OLLAMA_URL": "http://127.0.0.1:9"}
    kept = run("note", "Green tea", "--text", "Steep for three minutes.", "--json", env=env)
    embedded = run("embed", env=env)

    assert kept.code == embedded.code == 0
    assert run("recall", "how long to steep", "--json", env=env).json["hits"][0]["id"] == kept.json["id"]
    assert run("upkeep", env=env).code == 0
    assert embeddings(home)["model"] == "wordllama-l2-supercat"


@pytest.mark.clause("notes-84")
def test_a_provider_that_came_back_is_used_again(home, clock, monkeypatch):
    down = [True]
    home.mkdir()
    (home / "_config.json").write_text('{"embedding_provider": "ollama"}\n')
    with ollama(fails=lambda: down[0]) as (address, _):
        monkeypatch.setenv("OTOLITH_OLLAMA_URL", address)
        with Memory(home, clock=clock) as mem:
            note = mem.note("Green tea", "Steep.")
            first = mem.embed()
            down[0] = False
            second = mem.embed()

    assert first["notices"]
    assert second["notices"] == []
    assert len(embeddings(home)["entries"][note.id]) == 768


def test_upkeep_brings_the_vectors_up_and_rests_when_nothing_changed(mem, home, snapshot):
    note = mem.note("Green tea", "Steep.")
    mem.upkeep()
    before = snapshot()
    report = mem.upkeep()

    assert embeddings(home)["entries"].keys() == {note.id}
    assert snapshot() == before
    assert "embeddings" in report.skipped


def test_none_means_words_alone(home, clock):
    home.mkdir()
    (home / "_config.json").write_text('{"embedding_provider": "none"}\n')
    with Memory(home, clock=clock) as mem:
        mem.note("Green tea", "Steep.")
        mem.embed()
        mem.upkeep()

    assert not (home / "_embeddings.json").exists()
