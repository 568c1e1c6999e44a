"""What an embedder is, which ones there are, and in which order they stand in for each other.

An embedder turns texts into unit vectors, one row a text. It may be absent, slow or wrong; then it raises `Provider`,
and the next in the chain answers. Nothing here remembers a failure: the next call tries again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from strata.errors import Invalid, Provider
from strata.model.shape import Value

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

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
    """The embedders to try, in order: the chosen one, the other remote if the user set it up, the built-in one.

    Words alone are what is left when the list is used up.
    """
    if choice.name not in NAMES:
        raise Invalid(f"no embedder called {choice.name!r}", f"one of {', '.join(NAMES)}")
    if choice.name == "none":
        return []
    order = [choice.name]
    if choice.name == "ollama" and choice.openai_key:
        order.append("openai")
    if choice.name == "openai" and choice.ollama_url:
        order.append("ollama")
    return order if choice.name == "static" else [*order, "static"]


def make_embedder(name: str, choice: Choice, seconds: float | None = None) -> Embedder:
    """The embedder of that name; `Provider` if what it needs is not there. A server gets `seconds` to answer, if given."""
    if name == "static":
        from strata.providers.static import Static

        return Static()
    if name == "minilm":
        from strata.providers.minilm import MiniLM

        if choice.minilm_folder is None:
            raise Provider("minilm has no folder with its weights", "python -m strata.providers.build_minilm FOLDER")
        return MiniLM(choice.minilm_folder)
    from strata.providers.remote import Ollama, OpenAI

    wait = {} if seconds is None else {"first_seconds": seconds, "seconds": seconds}
    if name == "ollama":
        return Ollama(model=choice.ollama_model, url=choice.ollama_url, **wait)
    return OpenAI(model=choice.openai_model, key=choice.openai_key, url=choice.openai_url, **wait)
