"""A cross-encoder on this machine: an ONNX model and its tokenizer, from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from django.conf import settings
from tokenizers import Encoding, Tokenizer

from retrieval.rerank import RerankError, rerankers

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

BATCH = 16
TOKENS_MOST = 512
PADDING = ("[PAD]", "<pad>", "<|pad|>")
# What the inputs of exported cross-encoders are called, and what is put there.
INPUTS = {
    "input_ids": "ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "type_ids",
}


class OnnxCrossEncoder:
    """Scores pairs of question and text by the model in `folder`, from 0 to 1."""

    share = 1.0

    def __init__(self, folder: Path) -> None:
        self._tokenizer = _tokenizer(_file(folder, "tokenizer.json"))
        self._session = _session(_file(folder, "model.onnx"))
        self._inputs = [given.name for given in self._session.get_inputs()]
        if unknown := sorted(set(self._inputs) - set(INPUTS)):
            raise RerankError(
                f"{folder}/model.onnx wants {', '.join(unknown)}; a cross-encoder "
                f"takes {', '.join(INPUTS)}."
            )

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        # Texts of like length share a batch: less padding is read.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        scores = [0.0] * len(texts)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            pairs = [(question, texts[i]) for i in batch]
            found = self._run(self._tokenizer.encode_batch(pairs))
            for i, score in zip(batch, found, strict=True):
                scores[i] = float(score)
        return scores

    def _run(self, encoded: Sequence[Encoding]) -> npt.NDArray[np.float64]:
        feed = {
            name: np.array([getattr(one, INPUTS[name]) for one in encoded], np.int64)
            for name in self._inputs
        }
        logits = np.asarray(self._session.run(None, feed)[0], np.float64)
        return _relevance(logits.reshape(len(encoded), -1))


def _relevance(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sigmoid of one logit a pair, or the share of the second of two."""
    if logits.shape[1] not in (1, 2):
        raise RerankError(
            f"model.onnx gives {logits.shape[1]} numbers for a pair; a cross-encoder "
            "gives one (relevance) or two (irrelevant, relevant)."
        )
    logit = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
    return 0.5 * (1 + np.tanh(logit / 2))


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise RerankError(
            f"{path} is missing; FABRIC_RERANKER_PATH must be a folder with "
            "model.onnx and tokenizer.json."
        )
    return path


def _tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise RerankError(f"{path} is no tokenizer: {error}") from error
    limit = (tokenizer.truncation or {}).get("max_length") or TOKENS_MOST
    tokenizer.enable_truncation(min(limit, TOKENS_MOST), strategy="longest_first")
    known = tokenizer.padding or {}
    token = next((p for p in PADDING if tokenizer.token_to_id(p) is not None), "[PAD]")
    tokenizer.enable_padding(
        pad_id=known.get("pad_id", tokenizer.token_to_id(token) or 0),
        pad_token=known.get("pad_token", token),
        pad_type_id=known.get("pad_type_id", 0),
    )
    return tokenizer


def _session(path: Path) -> InferenceSession:
    try:
        import onnxruntime  # a heavy optional library
    except ImportError:
        raise RerankError(
            "onnxruntime is not installed; install Fabric with its extra `rerank`."
        ) from None
    try:
        return onnxruntime.InferenceSession(
            str(path), providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise RerankError(f"{path} is no usable model: {error}") from error


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> OnnxCrossEncoder:
    return OnnxCrossEncoder(folder)


@rerankers.register("onnx")
def local() -> OnnxCrossEncoder:
    """Return the cross-encoder of FABRIC_RERANKER_PATH, loaded once a process."""
    folder = settings.FABRIC["RERANKER_PATH"]
    if not folder:
        raise RerankError("set FABRIC_RERANKER_PATH to the folder of its model.")
    return _loaded(Path(folder))
