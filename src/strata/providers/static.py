"""The default embedder: a table of static word vectors, averaged. Offline, deterministic, thousands of texts a second.

The 32,000 × 256 table comes with the `wordllama` package (MIT) and is read straight from its safetensors file. Rows are
not weighted: the length of a row already says how much its word means (1.6 for "the", 15 for "dog"), and leaving out
stop words did no better on the development dialogs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from strata.errors import Provider
from strata.providers.tokens import load_tokenizer, package_file

if TYPE_CHECKING:
    from numpy import float16, float32
    from numpy.typing import NDArray

_FILE = "weights/l2_supercat_256.safetensors"
_BLOCK = 2048
_LONGEST = 8000  # signs; a passage has a tenth of that, and a megabyte of query says no more


@cache
def load_table() -> NDArray[float16]:
    """The word vectors, one row a token; mapped, so that a single question reads only the rows it needs."""
    import numpy as np

    path = package_file("wordllama", _FILE)
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
    """See the module."""

    name = "static"
    model = "wordllama-l2-supercat"
    dimension = 256

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        import numpy as np

        table, tokenizer = load_table(), load_tokenizer()
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _BLOCK):
            block = [text[:_LONGEST].encode("utf-8", "replace").decode() for text in texts[start : start + _BLOCK]]
            tokens = [found.ids for found in tokenizer.encode_batch_fast(block, add_special_tokens=False)]
            for row, ids in enumerate(tokens, start):
                if ids:
                    table[ids].astype(np.float32).sum(axis=0, out=vectors[row])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors
