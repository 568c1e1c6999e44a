"""Embedders behind HTTP: Ollama's own interface and any OpenAI-compatible one.

Texts go out in batches of 50. The first call may wait 300 s, because the server may have to load or pull its
model; later ones 60 s. Redirects are refused, so a key never travels to another host. Whatever comes back is
checked: a wrong number of rows, a wrong length, something that is no number — all are a `Provider` error, and
the next call tries afresh.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from otolith.errors import Provider

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

BATCH = 50
FIRST_SECONDS = 300.0
SECONDS = 60.0
_LARGEST_ANSWER = 64 * 1024 * 1024
OLLAMA = "http://localhost:11434"
OPENAI = "https://api.openai.com/v1"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Remote:
    """What the two share: batches, checks, time limits. `dimension` is learned from the first answer and then
    held to.
    """

    name = "remote"

    def __init__(self, *, model: str, url: str, headers: Mapping[str, str] | None = None,
                 dimension: int | None = None,
                 first_seconds: float = FIRST_SECONDS, seconds: float = SECONDS) -> None:
        self.model = model
        self.dimension = dimension
        self._url = url
        self._headers = dict(headers or {})
        self._first_seconds, self._seconds = first_seconds, seconds
        self._answered = False

    @property
    def address(self) -> str:
        """Where the texts go."""
        return self._url

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        import numpy as np

        # An empty text has no meaning and some servers refuse it: its row stays zero.
        rows = [row for row, text in enumerate(texts) if text.strip()]
        found = [self._batch([texts[row] for row in rows[at : at + BATCH]])
                 for at in range(0, len(rows), BATCH)]
        vectors = np.zeros((len(texts), self.dimension or 0), np.float32)
        if found:
            vectors[rows] = np.concatenate(found)
        return vectors

    def _batch(self, texts: Sequence[str]) -> NDArray[float32]:
        answer = self._post({"model": self.model, "input": list(texts)})
        vectors = self._check(answer, len(texts))
        self.dimension = vectors.shape[1]
        self._answered = True
        return vectors

    def _rows(self, answer: Any) -> Any:
        raise NotImplementedError

    def _check(self, answer: Any, expected: int) -> NDArray[float32]:
        import numpy as np

        try:
            vectors = np.array(self._rows(answer), np.float32)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Provider(f"{self.name} answered with no vectors",
                           "check address and model") from None
        if vectors.ndim != 2 or vectors.shape[0] != expected or not vectors.shape[1]:
            raise Provider(f"{self.name} answered vectors of shape {vectors.shape} for {expected} texts",
                           "check the model")
        if self.dimension is not None and vectors.shape[1] != self.dimension:
            raise Provider(
                f"{self.name} answered vectors of length {vectors.shape[1]} where {self.dimension} was known",
                           "run: otolith embed")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not lengths.all():
            raise Provider(f"{self.name} answered vectors that are zero or not numbers", "check the model")
        normal: NDArray[float32] = (vectors / lengths).astype(np.float32)
        return normal

    def _post(self, body: Mapping[str, Any]) -> Any:
        data = json.dumps(body).encode("utf-8", "replace")
        wait = self._seconds if self._answered else self._first_seconds
        try:
            request = urllib.request.Request(self._url, data,
                                             {"Content-Type": "application/json", **self._headers})
            if request.type not in ("http", "https"):
                raise Provider(f"{self.name} has no web address: {self._url}",
                               "set a URL that begins with http")
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=wait) as answer:
                return json.loads(answer.read(_LARGEST_ANSWER))
        except urllib.error.HTTPError as error:
            raise Provider(f"{self.name} answered {error.code} {error.reason}",
                           "check key, address and model") from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise Provider(f"{self.name} did not answer: {reason}", "is it running?") from None
        except (ValueError, RecursionError):
            raise Provider(f"{self.name} answered something that is not JSON", "check the address") from None


class Ollama(Remote):
    """A local Ollama server."""

    name = "ollama"

    def __init__(self, *, model: str = "nomic-embed-text", url: str | None = None, **rest: Any) -> None:
        super().__init__(model=model, url=(url or OLLAMA).rstrip("/") + "/api/embed", **rest)

    def _rows(self, answer: Any) -> Any:
        return answer["embeddings"]


class OpenAI(Remote):
    """OpenAI, or whoever speaks like it."""

    name = "openai"

    def __init__(self, *, model: str = "text-embedding-3-small", key: str | None, url: str | None = None,
                 **rest: Any) -> None:
        if not key and not url:
            raise Provider("openai has no key", "otolith config --openai-key -")
        headers = {"Authorization": f"Bearer {key}"} if key else None
        super().__init__(model=model, url=(url or OPENAI).rstrip("/") + "/embeddings", headers=headers,
                         **rest)

    def _rows(self, answer: Any) -> Any:
        return [row["embedding"] for row in sorted(answer["data"], key=lambda row: int(row["index"]))]
