"""The chat endpoint as the browser tests drive it: events as they are let through.

It speaks the vocabulary of `memory.agent.events`, and stores the turn as the agent does,
so that the page can be tested event by event, with what a network does in between.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.urls import include, path

from connections.models import Project
from graph.models import Node
from memory.conversations import start_conversation
from memory.models import Citation, Conversation, Turn

Told = tuple[str, dict[str, Any]]


@dataclass
class Script:
    """What the next questions are answered with, and what was asked."""

    answering: Callable[[Turn], Iterator[Told]] | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    stopped: list[int] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> None:
        """Hold the stream until the test says so, or its reader stops it."""
        self.go_on.wait(15)


SCRIPT = Script()


def chat(request: HttpRequest) -> StreamingHttpResponse:
    asked = json.loads(request.body)
    SCRIPT.asked.append(asked)
    tenant, _, slug = asked["project"].partition("/")
    project = Project.objects.get(tenant__slug=tenant, slug=slug)
    found = Conversation.objects.filter(pk=asked.get("conversation")).first()
    conversation = found or start_conversation(project, request.user, asked["question"])
    turn = Turn.objects.create(
        conversation=conversation, question=asked["question"], state="running"
    )
    assert SCRIPT.answering is not None
    stream = (event(*told) for told in SCRIPT.answering(turn))
    return StreamingHttpResponse(stream, content_type="text/event-stream")


def stop(request: HttpRequest, turn: int) -> JsonResponse:
    SCRIPT.stopped.append(turn)
    SCRIPT.go_on.set()
    return JsonResponse({"turn": turn})


def event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, default=str)}\n\n".encode()


def started(turn: Turn) -> Told:
    told = {"state": "started", "text": "Reading the question", "turn": turn.pk}
    return "status", {**told, "conversation": str(turn.conversation_id)}


def store(turn: Turn, answer: str, *nodes: Node, **fields: Any) -> Told:
    """Store the answer with `nodes` cited, and return the event that ends a turn."""
    for n, node in enumerate(nodes, start=1):
        Citation.objects.create(turn=turn, **cited(n, node))
    values = {
        "answer": answer,
        "grounded": bool(nodes),
        "state": "done",
        "model": "a-model",
        "effort": 12,
        **fields,
    }
    Turn.objects.filter(pk=turn.pk).update(**values)
    return "done", {"turn": turn.pk, "conversation": str(turn.conversation_id)}


def cited(n: int, node: Node) -> dict[str, Any]:
    return {"n": n, "node": node, "key": node.key, "quote": node.content}


def source(n: int, node: Node, **fields: Any) -> dict[str, Any]:
    about = {"type": node.node_type, "title": node.title, "context": node.context}
    return {"n": n, "key": node.key, "node_id": node.pk, "url": "", **about, **fields}


urlpatterns = [
    path("api/v1/chat/", chat),
    path("api/v1/chat/turns/<int:turn>/stop/", stop),
    path("", include("fabric_site.urls")),
]
