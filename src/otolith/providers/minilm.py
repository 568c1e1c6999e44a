"""MiniLM: the better one of the two embedders that work offline, with BERT's word pieces, by onnxruntime.

Its model lies in the user's data folder, made once by `build_minilm`; beside it a small file with the hashes
of what was made, so that a damaged model is told and never used. Word pieces are cut here: the library that
does it takes longer to load its file than a question takes.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.errors import Provider
from otolith.model.words import STOP
from otolith.providers.tokens import KEPT, writable

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

GRAPH = "all-MiniLM-L6-v2-int8.onnx"
VOCABULARY = "all-MiniLM-L6-v2-vocab.txt"
STAMPS = "all-MiniLM-L6-v2-int8.json"  # size, time and hash of both
INSTALL = "pip install 'otolith[minilm]', then: otolith embed --model minilm"
_SET_UP = "run: otolith embed --model minilm"
_BATCH = 32  # texts at a time
_MOST_TOKENS = 256  # that MiniLM was trained to read
_CLS, _SEP = 101, 102  # what BERT has before and behind a text
WIDTH, PIECE = 384, 128  # numbers in a vector: of a text, of a word piece
# What is kept as a small integer is so many times as large: of eight bits in a passage's vector, of four in a
# word piece's, where finer ones did no better and twice the dimensions did.
_BLOCK_SCALE, _PIECE_SCALE = 400, 20
_PIECE_BYTES, _MIDDLE = PIECE // 2, 8
_MOST_IN_BLOCK, _MOST_LEAD_IN = 200, 100  # word pieces
STOP_WEIGHT = 0.3
_HAN = (("\u4e00", "\u9fff"), ("\u3400", "\u4dbf"), ("\U00020000", "\U0002ceaf"), ("\uf900", "\ufaff"),
        ("\U0002f800", "\U0002fa1f"))
_MARKS = {**dict.fromkeys((*range(32), 127)), **{ord(sign): " " for sign in "\t\n\r"},
          **{ord(sign): f" {sign} " for sign in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"}}
_LONGEST_WORD = 100  # signs; what is longer is unknown to BERT


class MiniLM:
    """all-MiniLM-L6-v2, int8, by onnxruntime: the better one, without torch. Vectors come normalised out of
    the graph.

    The model (Apache-2.0, 24 MB after quantisation) is not part of the package; `otolith embed --model
    minilm` makes it once (`build_minilm`) and writes it into `folder`.
    """

    name = "minilm"
    model = "all-MiniLM-L6-v2-int8"
    dimension = WIDTH
    piece_bytes = _PIECE_BYTES

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, vector, _ in self._run([self._cut(text) for text in texts]):
            vectors[row] = vector
        return vectors

    def ask(self, text: str) -> Asked:
        """A question's vector, and those of its word pieces."""
        import numpy as np

        _, pieces = _load_minilm(self._folder)
        ids = self._cut(text)
        for _, vector, states in self._run([ids]):
            weights = np.array([pieces.weight(number) for number in ids], np.float32)
            return Asked(vector, _reduce(states[1:-1]), weights / (weights.sum() or 1))
        return Asked(np.zeros(self.dimension, np.float32), np.zeros((0, PIECE), np.float32),
                     np.zeros(0, np.float32))

    def embed_pieces(self, texts: Sequence[str], goes_on: Sequence[bool], lead_in: str = "") -> list[bytes]:
        """For each passage its vector taken out of its block, and those of its word pieces.

        A block is a run of passages of one record (`goes_on` from the one before, the first from `lead_in`)
        that is read at once, with the last passage of the block before it: so "It was great!" knows what was.
        """
        _, pieces = _load_minilm(self._folder)
        ids = [self._cut(text) for text in texts]
        blocks = list(_blocks(ids, goes_on, self._cut(lead_in)))
        packed = [b""] * len(ids)
        for at, _, states in self._run([block for block, _ in blocks]):
            for row, start in blocks[at][1]:
                own = states[1 + start : 1 + start + len(ids[row])]
                packed[row] = _pack(own, [pieces.weight(number) > 0 for number in ids[row]])
        return packed

    def _cut(self, text: str) -> list[int]:
        _, pieces = _load_minilm(self._folder)
        return pieces.encode(writable(text[: _MOST_TOKENS * 20]))[: _MOST_TOKENS - 2]

    def _run(self, lists: Sequence[Sequence[int]]
             ) -> Iterator[tuple[int, NDArray[float32], NDArray[float32]]]:
        """(place in the list, vector, states of its word pieces and of BERT's two marks) of each that is not
        empty. Texts of like length together: a batch is padded to its longest.
        """
        session, _ = _load_minilm(self._folder)
        order = sorted((at for at in range(len(lists)) if lists[at]), key=lambda at: len(lists[at]))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            vectors, states = session.run(None, _padded([lists[row] for row in rows]))
            for at, row in enumerate(rows):
                yield row, vectors[at], states[at, : len(lists[row]) + 2]


class Asked(NamedTuple):
    """A question as it is compared with passages."""

    vector: NDArray[float32]
    pieces: NDArray[float32]  # a row for each word piece
    weights: NDArray[float32]  # of each, in sum 1

    def compare(self, packed: Sequence[bytes]) -> tuple[NDArray[float32], NDArray[float32], list[bool]]:
        """For each passage how well its best word piece matches each of the question's, by their weights
        (word pieces × passages), its likeness as a part of its block, and whether it could be read at all.
        """
        import numpy as np

        whole = [len(row) > WIDTH and not (len(row) - WIDTH) % _PIECE_BYTES for row in packed]
        matched = np.zeros((len(self.pieces), len(packed)), np.float32)
        likeness = np.zeros(len(packed), np.float32)
        rows = [row for row, good in zip(packed, whole, strict=True) if good]
        if not rows:
            return matched, likeness, whole
        vectors = np.frombuffer(b"".join(row[:WIDTH] for row in rows), np.int8).reshape(-1, WIDTH)
        likeness[whole] = vectors.astype(np.float32) @ self.vector / _BLOCK_SCALE
        pairs = np.frombuffer(b"".join(row[WIDTH:] for row in rows), np.uint8).reshape(-1, _PIECE_BYTES)
        low, high = (half.astype(np.float32) for half in (pairs & 15, pairs >> 4))
        products = low @ self.pieces[:, :_PIECE_BYTES].T + high @ self.pieces[:, _PIECE_BYTES:].T
        starts = np.cumsum([0, *((len(row) - WIDTH) // _PIECE_BYTES for row in rows[:-1])])
        best = np.maximum.reduceat(products, starts) - _MIDDLE * self.pieces.sum(axis=1)
        matched[:, whole] = (best * self.weights / _PIECE_SCALE).T
        return matched, likeness, whole


def _pack(states: NDArray[float32], telling: Sequence[bool]) -> bytes:
    """A passage's vector and, behind it, those of its word pieces that tell something, in small integers."""
    import numpy as np

    vector = states.mean(axis=0)
    vector = (vector / (np.linalg.norm(vector) or 1) * _BLOCK_SCALE).round().clip(-127, 127).astype(np.int8)
    pieces = _reduce(states[np.array(telling)] if any(telling) else states[:1])
    small = ((pieces * _PIECE_SCALE).round().clip(-7, 7) + _MIDDLE).astype(np.uint8)
    pairs = small[:, :_PIECE_BYTES] | small[:, _PIECE_BYTES:] << 4
    return bytes(vector.tobytes() + pairs.tobytes())


def _reduce(states: NDArray[float32]) -> NDArray[float32]:
    """The states of word pieces in their main directions, of length one."""
    import numpy as np

    mean, directions = _load_directions()
    reduced = (states - mean) @ directions.T
    lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
    reduced /= np.where(lengths > 0, lengths, 1)
    return reduced.astype(np.float32, copy=False)


@cache
def _load_directions() -> tuple[NDArray[float32], NDArray[float32]]:
    """(mean, main directions) of the states of word pieces, fitted once (bench/pieces.py); a file of ours."""
    import numpy as np

    data = np.fromfile(Path(__file__).with_name("minilm-pieces.f2"), "<f2").astype(np.float32)
    return data[:WIDTH], data[WIDTH:].reshape(PIECE, WIDTH)


def _blocks(lists: Sequence[Sequence[int]], goes_on: Sequence[bool], lead_in: Sequence[int]
            ) -> Iterator[tuple[list[int], list[tuple[int, int]]]]:
    """Runs of passages that are read at once: the word pieces, and which passage begins where in them."""
    block, spans = list[int](), list[tuple[int, int]]()
    before = lead_in
    for row, pieces in enumerate(lists):
        if spans and not (goes_on[row] and len(block) + len(pieces) <= _MOST_IN_BLOCK):
            yield block, spans
            block, spans = [], []
        if not spans and goes_on[row]:
            block = list(before[-_MOST_LEAD_IN:])
        spans.append((row, len(block)))
        block += pieces
        before = pieces
    if spans:
        yield block, spans


def _padded(lists: Sequence[Sequence[int]]) -> dict[str, NDArray[Any]]:
    """Word pieces between BERT's two marks, filled up to the longest, and which of them count."""
    import numpy as np

    ids = np.zeros((len(lists), max(map(len, lists)) + 2), np.int64)
    mask = np.zeros_like(ids)
    for row, pieces in enumerate(lists):
        ids[row, : len(pieces) + 2] = [_CLS, *pieces, _SEP]
        mask[row, : len(pieces) + 2] = 1
    return {"input_ids": ids, "attention_mask": mask}


@cache
def _load_minilm(folder: Path) -> tuple[Any, WordPieces]:
    check_model(folder)
    try:
        import onnxruntime  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise Provider("minilm needs onnxruntime, which is not installed", INSTALL) from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(folder / GRAPH), options,
                                               providers=["CPUExecutionProvider"])
    # what onnxruntime raises for a damaged file derives from these
    except (RuntimeError, ValueError) as error:
        raise Provider(f"the MiniLM model cannot be read: {error}", _SET_UP) from None
    return session, WordPieces((folder / VOCABULARY).read_text("utf-8").splitlines())


def check_model(folder: Path, *, thorough: bool = False) -> None:
    """`Provider` unless the files are those that were made: by size and time, by hash if these differ or if
    it is to be `thorough`.
    """
    try:
        stamps = json.loads((folder / STAMPS).read_bytes())
        for name in (GRAPH, VOCABULARY):
            made, now = stamps[name], stamp_of(folder / name, thorough=thorough)
            if now["mtime_ns"] != made["mtime_ns"]:  # a copy may be the same
                now = stamp_of(folder / name)
            if now["size"] != made["size"] or now.get("sha256", made["sha256"]) != made["sha256"]:
                raise Provider(f"the MiniLM model is damaged: {name} is not as it was made", _SET_UP)
    except (OSError, ValueError, KeyError, TypeError):
        raise Provider("the MiniLM model is not set up", _SET_UP) from None


def stamp_of(path: Path, *, thorough: bool = True) -> dict[str, Any]:
    """Size and time of a file and, if it is to be thorough, its hash."""
    state = path.stat()
    stamp: dict[str, Any] = {"size": state.st_size, "mtime_ns": state.st_mtime_ns}
    if thorough:
        stamp["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return stamp


# Word pieces

class WordPieces:
    """Text to the numbers of BERT's word pieces: small letters without accents, words and marks apart, of
    each word the longest piece there is, then the longest of the rest.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._words: dict[str, list[int]] = {}

    @cached_property
    def _light(self) -> dict[int, float]:
        """The pieces that tell little: marks nothing, the commonest words a little."""
        return {number: STOP_WEIGHT if piece in STOP else 0.0 for piece, number in self._numbers.items()
                if piece in STOP or not any(map(str.isalnum, piece))}

    def weight(self, number: int) -> float:
        """How much of a text's meaning a piece is likely to carry."""
        return self._light.get(number, 1.0)

    def encode(self, text: str) -> list[int]:
        words, ids = self._words, list[int]()
        for word in _clean(text).split():
            pieces = words.get(word)
            if pieces is None:
                pieces = self._cut(word)
                if len(words) >= KEPT:
                    words.clear()
                words[word] = pieces
            ids += pieces
        return ids

    def _cut(self, word: str) -> list[int]:
        unknown, pieces, start, front = [self._numbers["[UNK]"]], list[int](), 0, ""
        while start < len(word):
            stop = len(word) if len(word) <= _LONGEST_WORD else start
            while stop > start and front + word[start:stop] not in self._numbers:
                stop -= 1
            if stop == start:
                return unknown
            pieces.append(self._numbers[front + word[start:stop]])
            start, front = stop, "##"
        return pieces


def _clean(text: str) -> str:
    """In small letters, without accents and control signs, marks and Chinese signs apart."""
    if not text.isascii():
        text = "".join(_apart(sign) for sign in text)
        text = "".join(sign for sign in unicodedata.normalize("NFD", text)
                       if unicodedata.category(sign) != "Mn")
        return "".join(f" {sign} " if unicodedata.category(sign)[0] == "P" else sign.lower() for sign in text
                       ).translate(_MARKS)
    return text.lower().translate(_MARKS)


def _apart(sign: str) -> str:
    kind = unicodedata.category(sign)
    if sign in "\t\n\r" or kind[0] == "Z":
        return " "
    if kind in ("Cc", "Cf", "Co") or sign == "\ufffd":
        return ""
    return f" {sign} " if kind == "Lo" and any(first <= sign <= last for first, last in _HAN) else sign
