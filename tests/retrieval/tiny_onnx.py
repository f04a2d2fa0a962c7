"""A cross-encoder of a few hundred bytes, written as ONNX by hand.

Its logit is the sum, over the tokens of the second text, of a weight for each token:
everything a real one is given takes part (ids, mask, segments).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, processors

FLOAT, INT64 = 1, 7
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | str | bytes) -> bytes:
    """Return a field of a protocol buffer: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def node(
    kind: str, inputs: Sequence[str], output: str, attributes: Mapping[str, int] = {}
) -> bytes:
    names = b"".join(field(1, name) for name in inputs)
    given = b"".join(
        field(5, field(1, name) + field(3, value) + field(20, 2))
        for name, value in attributes.items()
    )
    return field(1, names + field(2, output) + field(4, kind) + given)


def value_info(number: int, name: str, kind: int, dims: Sequence[str | int]) -> bytes:
    shape = b"".join(
        field(1, field(2, dim) if isinstance(dim, str) else field(1, dim))
        for dim in dims
    )
    tensor = field(1, field(1, kind) + field(2, shape))
    return field(number, field(1, name) + field(2, tensor))


def tensor(name: str, kind: int, values: Sequence[float | int]) -> bytes:
    raw = struct.pack(f"<{len(values)}{'f' if kind == FLOAT else 'q'}", *values)
    return field(
        5, field(1, len(values)) + field(2, kind) + field(8, name) + field(9, raw)
    )


def model(weights: Sequence[float], inputs: Sequence[str] = INPUTS) -> bytes:
    nodes = [
        node("Gather", ["weights", inputs[0]], "w"),
        node("Cast", [inputs[1]], "mask", {"to": FLOAT}),
        node("Cast", [inputs[2]], "segment", {"to": FLOAT}),
        node("Mul", ["w", "mask"], "masked"),
        node("Mul", ["masked", "segment"], "second"),
        node("ReduceSum", ["second", "axis"], "logits", {"keepdims": 1}),
    ]
    graph = b"".join(
        [
            *nodes,
            field(2, "tiny"),
            tensor("weights", FLOAT, weights),
            tensor("axis", INT64, [1]),
            *(value_info(11, name, INT64, ["batch", "length"]) for name in inputs),
            value_info(12, "logits", FLOAT, ["batch", 1]),
        ]
    )
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def tokenizer(words: Sequence[str], length: int | None = None) -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *words))}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    if length:
        made.enable_truncation(length)
    return made


def write_cross_encoder(
    folder: Path,
    weights: Mapping[str, float],
    *,
    length: int | None = None,
    inputs: Sequence[str] = INPUTS,
) -> Path:
    """Write a model that gives each word of a text its weight; padding weighs heavily,
    so that it shows where the mask is not heeded."""
    folder.mkdir(exist_ok=True)
    # [PAD] [UNK] [CLS] [SEP]
    special = (1000.0, 0.0, 0.0, 0.0)
    written = model([*special, *weights.values()], inputs)
    (folder / "model.onnx").write_bytes(written)
    tokenizer(tuple(weights), length).save(str(folder / "tokenizer.json"))
    return folder
