"""A project with a closed channel, another tenant's with the same words, three users."""

from __future__ import annotations

from dataclasses import dataclass

from connections.models import Project, User
from graph.embed import embed_backlog
from graph.models import Edge, Node
from retrieval.frequencies import count_lexemes
from tests.factories import make_audience, make_edge, make_node

QUESTION = "Which supplier failed the audit of the batteries?"


@dataclass(frozen=True)
class World:
    """`bridge` is hidden and joins the visible `near` to the visible `far`; `secret_edge`
    is hidden and joins the visible `near` to the visible `beside`."""

    project: Project
    open: list[Node]
    closed: list[Node]
    foreign: list[Node]
    near: Node
    bridge: Node
    far: Node
    beside: Node
    secret_edge: Edge


def make_world(project: Project, other: Project, member: User) -> World:
    public = make_audience(project)
    closed = make_audience(project, "slack:P1", [member])
    words = "supplier {} failed the audit of the batteries"
    opened = [
        make_node(
            project, f"slack:C1:{n}.0", f"The {words.format(n)}.", audience=public
        )
        for n in range(6)
    ]
    hidden = [
        make_node(
            project,
            f"slack:P1:{n}.0",
            f"Which {words.format(n)}? Supplier {n}.",
            audience=closed,
        )
        for n in range(6)
    ]
    foreign = [
        make_node(other, f"slack:C1:{n}.0", f"Which {words.format(n)}? Theirs.")
        for n in range(6)
    ]
    near, far, beside = opened[:3]
    bridge = hidden[0]
    make_edge(near, bridge, audience=public)
    make_edge(bridge, far, audience=public)
    secret = make_edge(near, beside, "replied_to", audience=closed)
    make_edge(near, opened[3], audience=public)
    for one in (project, other):
        count_lexemes(one, always=True)
        embed_backlog(one.pk)
    return World(project, opened, hidden, foreign, near, bridge, far, beside, secret)
