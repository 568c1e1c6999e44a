"""What an embedder is, which ones there are, and in which order they stand in for each other.

An embedder turns texts into unit vectors, one row a text. It may be absent, slow or wrong; then it raises
`Provider`, and the next in the chain answers. Nothing here remembers a failure: the next call tries again.
The built-in one stands here; what is heavy is loaded when first used. `minilm` has the better one that also
works offline, `remote` the servers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from otolith.errors import Invalid, Provider
from otolith.model.shape import Value
from otolith.providers.tokens import load_tokenizer, package_file, writable

if TYPE_CHECKING:
    from numpy import float16, float32
    from numpy.typing import NDArray

    from otolith.providers.minilm import Asked

_TABLE = "weights/l2_supercat_256.safetensors"
# that the static embedder reads; a passage has a tenth of that, and a megabyte of query says no more
_MOST_SIGNS = 8000
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


@runtime_checkable
class Pieced(Embedder, Protocol):
    """An embedder that has a vector for each word piece, too."""

    piece_bytes: int  # that such a vector takes

    def ask(self, text: str) -> Asked:
        """A question, with its word pieces."""
        ...

    def embed_pieces(self, texts: Sequence[str], goes_on: Sequence[bool], lead_in: str) -> list[bytes]:
        """For each passage what `Asked` compares; it may go on from the one before, the first from a lead-in.
        """
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
            raise Provider("minilm has no folder for its model", "run: otolith embed --model minilm")
        from otolith.providers.minilm import MiniLM

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

        table, encode = load_table(), load_tokenizer().encode
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            if ids := encode(writable(text[:_MOST_SIGNS])):
                table[ids].astype(np.float32).sum(axis=0, out=vectors[row])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors
