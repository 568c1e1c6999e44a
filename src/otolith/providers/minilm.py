"""MiniLM: the better one of the two embedders that work offline, with BERT's word pieces, by onnxruntime.

Its model lies in the user's data folder, made once by `build_minilm`; beside it a small file with the hashes
of what was made, so that a damaged model is told and never used. Word pieces are cut here: the library that
does it takes longer to load its file than a question takes.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otolith.errors import Provider
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
    dimension = 384

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        import numpy as np

        session, pieces = _load_minilm(self._folder)
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        ids = [pieces.encode(writable(text[: _MOST_TOKENS * 20]))[: _MOST_TOKENS - 2] for text in texts]
        # Texts of like length together: a batch is padded to its longest.
        order = sorted((at for at in range(len(texts)) if ids[at]), key=lambda at: len(ids[at]))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            vectors[rows] = session.run(None, _padded([ids[row] for row in rows]))[0]
        return vectors


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
