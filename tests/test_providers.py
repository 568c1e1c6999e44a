"""Embedders and the count of tokens: offline ones as they are, remote ones against a real server on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otolith.errors import Invalid, Provider
from otolith.providers import tokens
from otolith.providers.embedders import Choice, Static, chain, make_embedder
from otolith.providers.remote import BATCH, FIRST_SECONDS, Ollama, OpenAI
from otolith.providers.tokens import TOKENIZER, count_many, count_tokens

ROOT = Path(__file__).parent.parent
Answer = Callable[[dict[str, Any]], tuple[int, Any]]


@contextmanager
def server(answer: Answer) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A web server that answers as told; its address and the requests it got."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({"path": self.path, "key": self.headers["Authorization"], **body})
            status, said = answer(body)
            data = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
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


def vectors(body: dict[str, Any]) -> tuple[int, Any]:
    return 200, {"embeddings": [[3.0, 4.0, float(len(text))] for text in body["input"]]}


def test_tokens_are_counted_the_same_alone_and_together():
    texts = ["One sentence.", "", "Two paragraphs\n\nof text", "東京 und Grüße 🙂", "lone \ud800 surrogate"]

    assert count_many(texts) == [count_tokens(text) for text in texts]
    assert count_tokens("") == 0
    assert 2 <= count_tokens("One sentence.") <= 5
    assert TOKENIZER


LETTERS = st.sampled_from("ab x.y\n\t-=0123<>/sunkéßж東の🙂▁\u200b\x00\x85")
WORDS = st.sampled_from(["the", " house", "  ", "’s", "Grüße", "<s>", "</s>", "<unk>", "<0x0A>", "東京", "()", "¶", "ing", "\n"])


@pytest.fixture(scope="module")
def library():
    """The library that the vocabulary was made for."""
    from tokenizers import Tokenizer

    read = Tokenizer.from_file(str(tokens.package_file("wordllama", "tokenizers/l2_supercat_tokenizer_config.json")))
    return lambda text: read.encode(text, add_special_tokens=False).ids


@given(st.text(max_size=200) | st.text(alphabet=LETTERS, max_size=200) | st.lists(WORDS, max_size=40).map("".join))
def test_a_text_has_the_tokens_that_the_library_counts(library, text):
    assert tokens.load_tokenizer().encode(tokens.writable(text)) == library(tokens.writable(text))


def test_pages_and_code_have_the_tokens_that_the_library_counts(library):
    for path in [*ROOT.glob("*.md"), *ROOT.glob("src/otolith/**/*.py")]:
        text = path.read_text("utf-8")
        assert tokens.load_tokenizer().encode(text) == library(text), path


def test_counting_tokens_loads_no_library_of_tokens():
    code = ("import sys; from otolith.providers.tokens import count_tokens; count_tokens('a b'); "
            "print('tokenizers' in sys.modules)")

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_counting_tokens_imports_neither_numpy_nor_the_package_that_carries_the_tokenizer():
    code = ("import sys; from otolith.providers.tokens import count_tokens; count_tokens('a b'); "
            "print([name for name in ('numpy', 'wordllama') if name in sys.modules])")

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_static_vectors_are_unit_length_and_alike_for_like_meaning():
    dog, puppy, tax = Static().embed(["my dog barks", "a puppy is barking", "quarterly tax report"])

    assert np.linalg.norm(dog) == pytest.approx(1, abs=1e-5)
    assert dog @ puppy > dog @ tax + 0.3


def test_a_text_has_the_same_static_vector_whatever_stands_beside_it():
    texts = [f"text number {at} about something" for at in range(100)]

    together, alone = Static().embed(texts), Static().embed(texts[42:43])[0]

    assert np.array_equal(together[42], alone)


def test_an_empty_text_has_a_zero_vector():
    assert not Static().embed(["", "word"])[0].any()


def test_a_megabyte_of_text_is_embedded():
    assert Static().embed(["word " * 200_000]).shape == (1, 256)


@pytest.mark.clause("notes-02")
@pytest.mark.parametrize(("choice", "order"), [
    (Choice(), ["static"]),
    (Choice(name="none"), []),
    (Choice(name="minilm"), ["minilm", "static"]),
    (Choice(name="ollama"), ["ollama", "static"]),
    (Choice(name="ollama", openai_key="k"), ["ollama", "openai", "static"]),
    (Choice(name="openai", openai_key="k"), ["openai", "static"]),
    (Choice(name="openai", openai_key="k", ollama_url="http://x"), ["openai", "ollama", "static"]),
])
def test_the_other_remote_stands_in_only_if_the_user_set_it_up(choice, order):
    assert chain(choice) == order


def test_an_unknown_embedder_is_refused_by_name():
    with pytest.raises(Invalid, match="unknown embedder 'cohere'"):
        chain(Choice(name="cohere"))


def test_minilm_that_is_not_set_up_says_how_to_set_it_up(tmp_path):
    with pytest.raises(Provider, match="otolith embed --model minilm"):
        make_embedder("minilm", Choice(minilm_folder=tmp_path)).embed(["a"])


@pytest.mark.clause("notes-83")
def test_ollama_gets_fifty_texts_at_a_time_and_its_vectors_come_back_normalised():
    with server(vectors) as (url, seen):
        found = Ollama(url=url).embed([f"text {at}" for at in range(120)])

    assert [len(request["input"]) for request in seen] == [50, 50, 20]
    assert (BATCH, FIRST_SECONDS) == (50, 300)
    assert {(request["path"], request["model"]) for request in seen} == {("/api/embed", "nomic-embed-text")}
    assert found.shape == (120, 3)
    assert np.allclose(np.linalg.norm(found, axis=1), 1)


def test_openai_rows_are_put_in_the_order_of_their_index():
    def answer(body):
        return 200, {"data": [{"index": at, "embedding": [1.0, float(at)]} for at in reversed(range(len(body["input"])))]}

    with server(answer) as (url, seen):
        found = OpenAI(key="secret", url=url).embed(["a", "b"])

    assert found[0].tolist() == [1, 0]
    assert (seen[0]["path"], seen[0]["key"]) == ("/embeddings", "Bearer secret")


def test_openai_without_a_key_is_not_asked():
    with pytest.raises(Provider, match="no key"):
        OpenAI(key=None)


@pytest.mark.parametrize("said", [
    b"<html>", {"error": "x"}, {"embeddings": []}, {"embeddings": [[1.0], [1.0, 2.0]]}, {"embeddings": [["a"], ["b"]]},
    {"embeddings": [[0.0, 0.0], [1.0, 0.0]]}, {"embeddings": [[1e999, 1.0], [1.0, 0.0]]},
    {"embeddings": [[1.0, 0.0]]}, [], None,
])
def test_rubbish_is_an_error_of_the_provider(said):
    with server(lambda _: (200, said)) as (url, _), pytest.raises(Provider):
        Ollama(url=url).embed(["a", "b"])


@pytest.mark.parametrize("status", [302, 401, 404, 500])
def test_a_refusal_is_an_error_of_the_provider_and_redirects_are_not_followed(status):
    with server(lambda _: (status, {})) as (url, seen), pytest.raises(Provider, match=str(status)):
        OpenAI(key="secret", url=url).embed(["a"])

    assert [request["path"] for request in seen] == ["/embeddings"]


def test_a_change_of_dimension_is_an_error_of_the_provider():
    with server(vectors) as (url, _), pytest.raises(Provider, match="length 3 where 768 was known"):
        Ollama(url=url, dimension=768).embed(["a"])


def test_a_slow_server_is_given_up_and_asked_again_next_time():
    hold = threading.Event()
    calls = []

    def answer(body):
        calls.append(1)
        if len(calls) == 1:
            hold.wait(5)
        return vectors(body)

    with server(answer) as (url, _):
        ollama = Ollama(url=url, first_seconds=0.2)
        with pytest.raises(Provider, match="did not answer"):
            ollama.embed(["a"])
        hold.set()
        ollama._first_seconds = 5  # the second answer must only come, not come fast
        assert ollama.embed(["a"]).shape == (1, 3)


@pytest.mark.clause("notes-82")
def test_ollama_is_the_local_one_unless_told():
    ollama = Ollama()

    assert (ollama.model, ollama._url) == ("nomic-embed-text", "http://localhost:11434/api/embed")


def test_nobody_listening_is_an_error_of_the_provider():
    with server(vectors) as (url, _):
        pass
    with pytest.raises(Provider, match="did not answer"):
        Ollama(url=url).embed(["a"])


def test_an_address_that_is_not_of_the_web_is_refused(tmp_path):
    with pytest.raises(Provider):
        Ollama(url=f"file://{tmp_path}").embed(["a"])
