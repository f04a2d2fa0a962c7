"""A loopback server that speaks OpenAI's embeddings on the wire."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.connections.loopback import Answer, Loopback

ERROR = {"error": {"message": "no", "type": "x", "code": "x", "param": None}}
SIZES = {"text-embedding-3-small": 1536, "text-embedding-004": 768}


class FakeOpenAI(Loopback):
    """`answers` are given in turn, then real ones; what `refuses` holds is refused.

    A status of 0 drops the connection.
    """

    def __init__(self) -> None:
        super().__init__()
        self.url += "/v1"
        self.answers: list[Answer | Callable[[dict], Answer]] = []
        self.refuses: Callable[[str], int] = lambda text: 200
        self.before: Callable[[], None] = lambda: None

    @property
    def texts(self) -> list[str]:
        return [text for request in self.asked for text in request["input"]]

    def next(self, request: dict[str, Any]) -> Answer:
        self.before()
        if self.answers:
            said = self.answers.pop(0)
            return said(request) if callable(said) else said
        status = max(map(self.refuses, request["input"]))
        return (200, answer(request)) if status == 200 else (status, ERROR)


def vector_of(text: str, size: int = 1536) -> np.ndarray:
    vector = np.zeros(size, dtype="<f4")
    vector[sum(text.encode()) % size] = 1
    return vector


def answer(request: dict[str, Any]) -> dict[str, Any]:
    assert request["encoding_format"] == "base64"
    size = request.get("dimensions") or SIZES[request["model"]]
    data = [
        {
            "object": "embedding",
            "index": n,
            "embedding": base64.b64encode(vector_of(text, size).tobytes()).decode(),
        }
        for n, text in enumerate(request["input"])
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": request["model"], "usage": usage}
