"""Vectors and who makes them: sets that keep up with the records, and providers that are down, slow, wrong or changed."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from otolith import meaning
from otolith.index.vectors import COARSE
from otolith.memory import Memory
from otolith.providers.embedders import Static


@contextmanager
def ollama(answer):
    """A server that answers a list of texts as told."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            said = answer(texts)
            data = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.daemon_threads = True
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{web.server_port}"
    finally:
        web.shutdown()
        thread.join()
        web.server_close()


def good(texts):
    """The static vectors, cut to eight numbers: another model for all that anyone can see."""
    return {"embeddings": (Static().embed(texts)[:, :8] + 0.001).tolist()}


@pytest.fixture
def remote(home, clock, monkeypatch):
    """Open the home with Ollama as its provider, at an address."""
    opened = []

    def at(address):
        monkeypatch.setenv("OTOLITH_PROVIDER", "ollama")
        monkeypatch.setenv("OTOLITH_OLLAMA_URL", address)
        opened.append(Memory(home, clock=clock))
        return opened[-1]

    yield at
    for mem in opened:
        mem.close()


def sets(mem):
    return [(held.provider, held.dimension, mem.home.index.meaning.count_missing(held)) for held in mem.home.index.meaning.all_sets()]


# Keeping up


def test_a_record_is_found_by_meaning_alone(mem):
    note = mem.note("Garage", "Repaired the automobile's engine.")

    hit = mem.recall("car motor fixing", kind="note").hits[0]

    assert hit.id == note.id
    assert hit.why[0].startswith("meaning")


def test_a_recall_embeds_at_most_two_hundred_records_and_finds_the_rest_by_words(mem):
    settings, mem.home.config = mem.home.config, mem.home.config.replace(provider="none")  # as if no embedder were loaded
    for at in range(260):
        mem.home.create(_chunk(at), verb="remember")
    mem.home.config = settings

    found = mem.recall("marmot 259")

    assert found.hits[0].text == "Marmot number 259 whistles."
    assert mem.home.index.meaning.count_missing(mem.home.index.meaning.all_sets()[0]) == 60
    assert any("60 passages" in notice for notice in found.notices)
    assert mem.recall("marmot").notices == []


def _chunk(at):
    from otolith.model.chunk import Chunk, ChunkLinks, ChunkMetadata

    return Chunk(id=f"chunk-2026-02-10-{at:08x}", content=f"Marmot number {at} whistles.", tokens=6, type="note", links=ChunkLinks(),
                 metadata=ChunkMetadata(created="2026-02-10T21:37:00Z", conversation_id=f"c{at}"))


def test_a_changed_or_forgotten_record_leaves_no_vector_to_be_found(mem):
    note = mem.note("Pets", "The cat sleeps on the sofa.")
    other = mem.note("Cars", "The truck needs new tyres.")
    mem.recall("kitten")
    mem.edit(note.id, title="Boats", text="The yacht sails to the island.")
    mem.forget(other.id)

    loaded = mem.home.index.meaning.load(mem.home.index.meaning.all_sets()[0])
    vector = Static().embed(["The cat sleeps on the sofa."])[0]

    live = {n for n, in mem.home.index.db.execute("SELECT n FROM passages")}
    assert set(loaded.nearest(vector, 50).tolist()) <= live


def test_upkeep_writes_a_set_anew_when_much_of_it_is_gone(mem):
    made = [mem.note(f"Note {at}", f"Text {at} about tea.") for at in range(12)]
    mem.embed()
    for note in made[:8]:
        mem.forget(note.id)
    mem.embed()

    assert mem.home.index.db.execute("SELECT count(*) FROM gone").fetchone()[0] == 0
    rows = mem.home.index.db.execute("SELECT sum(size) FROM vectors").fetchone()[0]
    assert rows == mem.home.index.db.execute("SELECT count(*) FROM passages").fetchone()[0]


def test_the_newest_passage_gone_its_number_is_not_given_again(mem):
    mem.note("Cars", "The truck needs new tyres.")
    newest = mem.note("Pets", "The cat sleeps on the sofa.")
    mem.embed()
    taken = mem.home.index.db.execute("SELECT max(n) FROM passages").fetchone()[0]
    mem.forget(newest.id)
    mem.home.index.meaning.compact(force=True)
    other = mem.note("Boats", "The yacht sails to the island.")

    assert mem.home.index.db.execute("SELECT n FROM records WHERE id = ?", (other.id,)).fetchone()[0] > taken
    assert mem.recall("a vessel under sail", limit=1).hits[0].id == other.id


def test_purging_takes_the_vector_too(mem):
    note = mem.note("Secret", "The combination is 1234.")
    mem.embed()
    before = mem.home.index.db.execute("SELECT sum(size) FROM vectors").fetchone()[0]

    mem.forget(note.id, purge=True)

    assert mem.home.index.db.execute("SELECT coalesce(sum(size), 0) FROM vectors").fetchone()[0] < before


def test_what_is_embedded_little_by_little_makes_few_blocks(mem):
    for at in range(70):
        mem.remember(f"Turn {at} of the talk.", conversation_id="c")
        mem.recall("turn")

    assert mem.home.index.db.execute("SELECT count(*) FROM vectors").fetchone()[0] <= 7
    assert sets(mem)[0][2] == 0


def test_two_open_homes_see_each_others_vectors(home, clock):
    with Memory(home, clock=clock) as one, Memory(home, clock=clock) as other:
        one.note("Pets", "The cat sleeps on the sofa.")
        one.recall("kitten")
        other.recall("kitten")
        note = one.note("Garage", "Repaired the automobile's engine.")
        one.recall("kitten")

        assert other.recall("car motor fixing", kind="note").hits[0].id == note.id
        other.reindex()
        assert one.recall("car motor fixing", kind="note").hits[0].id == note.id


def test_without_a_cache_folder_the_vectors_are_in_memory(home, clock, tmp_path, monkeypatch):
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a-file"))
    with Memory(home, clock=clock) as mem:
        note = mem.note("Garage", "Repaired the automobile's engine.")

        assert mem.home.index.path is None
        assert mem.recall("car motor fixing", kind="note").hits[0].id == note.id


def test_the_nearest_are_the_same_looked_for_coarsely(mem):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((COARSE + 500, 256)).astype(np.float32)
    rows[:, :128] *= 2  # as in the table, the first dimensions say most
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    kept = mem.home.index.meaning
    with mem.home.index.writing():
        held = kept.append(kept.make_set("static", "m", 256), range(1, len(rows) + 1), rows)
    loaded = mem.home.index.meaning.load(held)
    exact = set((np.argsort(-(rows @ rows[7]))[:10] + 1).tolist())

    assert len(exact & set(loaded.nearest(rows[7], 80).tolist())) >= 9


# Providers


def test_a_provider_that_answers_is_asked_and_named(remote):
    with ollama(good) as address:
        mem = remote(address)
        note = mem.note("Garage", "Repaired the automobile's engine.")
        assert mem.embed()["notices"] == []

        found = mem.recall("automobile engine", kind="note")

    assert found.hits[0].id == note.id
    assert not found.notices
    assert sets(mem) == [("ollama", 8, 0), ("static", 256, 0)]


def test_a_remote_set_is_only_filled_when_asked_and_the_built_in_one_stands_in(remote):
    sent = []
    with ollama(lambda texts: sent.append(texts) or good(texts)) as address:
        mem = remote(address)
        mem.note("Garage", "Repaired the automobile's engine.")
        found = mem.recall("car motor fixing", kind="note")

    assert found.hits
    assert any("ollama" in notice and "otolith embed" in notice for notice in found.notices)
    assert sent == []


@pytest.mark.parametrize(("answer", "said"), [
    (lambda _: b"<html>busy</html>", "not JSON"), (lambda _: {"embeddings": [["x"]]}, "no vectors"),
    (lambda texts: {"embeddings": [[1.0, 2.0]] * len(texts)}, "dimensions"), (lambda _: {"embeddings": []}, "shape"),
    (lambda texts: {"embeddings": [[float("nan")] * 8] * len(texts)}, "not numbers"),
])
def test_rubbish_from_a_provider_is_told_and_the_built_in_one_answers(remote, answer, said):
    kind = [good]
    with ollama(lambda texts: kind[0](texts)) as address:
        mem = remote(address)
        note = mem.note("Garage", "Repaired the automobile's engine.")
        mem.embed()
        kind[0] = answer
        found = mem.recall("car motor fixing", kind="note")

    assert found.hits[0].id == note.id
    assert any(said in notice for notice in found.notices)


def test_a_provider_that_is_down_is_told_then_left_alone_for_a_moment_then_asked_again(remote, monkeypatch):
    with ollama(good) as address:
        mem = remote(address)
        mem.note("Garage", "Repaired the automobile's engine.")
        mem.embed()
    assert any("did not answer" in notice for notice in mem.recall("car motor fixing").notices)
    assert any("left alone" in notice for notice in mem.recall("car motor fixing").notices)
    monkeypatch.setattr(meaning, "PAUSE", 0.0)
    meaning._FAILED.clear()

    found = mem.recall("car motor fixing")

    assert found.hits
    assert any("did not answer" in notice for notice in found.notices)


def test_a_slow_provider_does_not_keep_a_question_waiting(remote, monkeypatch):
    monkeypatch.setattr(meaning, "ASK_SECONDS", 0.3)
    slow = [0.0]
    with ollama(lambda texts: time.sleep(slow[0]) or good(texts)) as address:
        mem = remote(address)
        mem.note("Garage", "Repaired the automobile's engine.")
        mem.embed()
        slow[0] = 3.0
        began = time.monotonic()
        found = mem.recall("car motor fixing", kind="note")
        took = time.monotonic() - began

    assert found.hits
    assert took < 2.5
    assert any("ollama" in notice for notice in found.notices)


def test_a_model_that_changed_its_size_is_embedded_anew(remote):
    with ollama(good) as address:
        mem = remote(address)
        mem.note("Garage", "Repaired the automobile's engine.")
        mem.embed()
    with ollama(lambda texts: {"embeddings": Static().embed(texts)[:, :12].tolist()}) as address:
        again = remote(address)
        again.note("Pets", "The cat sleeps.")
        again.embed()

        assert sets(again) == [("ollama", 12, 0), ("static", 256, 0)]


def test_a_model_that_answered_once_in_another_size_keeps_its_set(remote):
    size = [256]
    with ollama(lambda texts: {"embeddings": Static().embed(texts)[:, : size[0]].tolist()}) as address:
        mem = remote(address)
        mem.note("Garage", "Repaired the automobile's engine.")
        mem.embed()
        size[0] = 12
        mem.note("Pets", "The cat sleeps.")
        mem.recall("car motor fixing")
        size[0] = 256

        assert mem.embed()["sets"][0]["missing"] == 0
        assert ("ollama", 256, 0) in sets(mem)
        assert not mem.recall("car motor fixing").notices


def test_a_size_that_came_back_is_embedded_again_by_embed(remote):
    size = [256]
    with ollama(lambda texts: {"embeddings": Static().embed(texts)[:, : size[0]].tolist()}) as address:
        mem = remote(address)
        mem.note("Garage", "Repaired the automobile's engine.")
        size[0] = 12
        mem.embed()
        size[0] = 256

        assert any("otolith embed" in notice for notice in mem.recall("car motor fixing").notices)
        mem.embed()
        assert not mem.recall("car motor fixing").notices


def test_a_set_that_nobody_is_configured_for_goes_and_the_built_in_one_stays(remote, home, clock, monkeypatch):
    with ollama(good) as address:
        mem = remote(address)
        mem.note("Garage", "Repaired the automobile's engine.")
        mem.embed()
    monkeypatch.setenv("OTOLITH_PROVIDER", "static")
    with Memory(home, clock=clock) as later:
        later.embed()

        assert sets(later) == [("static", 256, 0)]


def test_a_provider_that_fails_half_way_goes_on_where_it_stopped(remote):
    count = [0]

    def tired(texts):
        count[0] += len(texts)
        return {"embeddings": []} if count[0] > 60 else good(texts)

    with ollama(tired) as address:
        mem = remote(address)
        for at in range(80):
            mem.remember(f"Turn {at} of the talk.", conversation_id="c")
        first = mem.embed()
        count[0] = -1000
        second = mem.embed()

    assert first["sets"][0]["missing"] == 30
    assert first["notices"]
    assert (second["sets"][0]["embedded"], second["sets"][0]["missing"]) == (30, 0)


def test_an_embedder_brought_along_is_asked_first(home, clock):
    class Own:
        name, model, dimension = "own", "tiny", 4

        def embed(self, texts):
            return np.array([[1.0, 0.0, 0.0, 0.0] if "zebra" in text else [0.0, 1.0, 0.0, 0.0] for text in texts], np.float32)

    with Memory(home, clock=clock, providers={"embedder": Own()}) as mem:
        note = mem.note("Stripes", "An animal with a zebra pattern.")
        mem.note("Spots", "A leopard.")
        mem.embed()

        found = mem.recall("zebra", kind="note")

    assert found.hits[0].id == note.id
    assert "meaning 1.00" in found.hits[0].why
