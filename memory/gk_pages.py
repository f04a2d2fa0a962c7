"""The page of a user's memory as a graph: drawn, listed, and what fed both."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from connections.models import Project, User
from connections.pages import (
    chosen_project,
    private,
    projects_of,
    reader,
    signed_in,
)
from connections.records import JSON
from memory.environments import environment
from memory.gk import LIMIT_MOST, MIN_DEGREE_MOST, NODE_TYPES, GkView, memory_graph
from memory.gk_shape import ENTITY, EPISODE, FACT, META, TOPIC, GkEdge, GkNode
from retrieval.auditing import note_search

T = TypeVar("T")
# As many as are told apart when they are drawn; the API gives more.
LIMIT, TIES_SHOWN = 60, 12
KINDS: Mapping[str, str] = {
    FACT: "What is remembered",
    EPISODE: "Conversations",
    TOPIC: "Topics",
    ENTITY: "Agents",
    META: "Where it is from",
}


@dataclass(frozen=True, slots=True)
class Tie:
    """An edge as seen from one of its ends."""

    label: str
    other: GkNode


@dataclass(frozen=True, slots=True)
class Listed:
    """A node with its ties, the first of them; `address` is its own page, if any."""

    node: GkNode
    address: str
    ties: Sequence[Tie]
    more: int
    found_by: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Group:
    """The nodes of one type, the most tied first."""

    node_type: str
    label: str
    rows: Sequence[Listed]


@dataclass(frozen=True, slots=True)
class Timed:
    """What was computed for the page, and the milliseconds it took."""

    value: Any
    took_ms: float


class GkForm(forms.Form):
    """What the graph is narrowed to; empty is the whole."""

    query = forms.CharField(required=False, max_length=2000)
    limit = forms.IntegerField(required=False, min_value=1, max_value=LIMIT_MOST)
    min_degree = forms.IntegerField(
        required=False, min_value=0, max_value=MIN_DEGREE_MOST
    )
    types = forms.MultipleChoiceField(
        required=False, choices=[(name, label) for name, label in KINDS.items()]
    )

    def asked(self) -> dict[str, Any]:
        """Return what `memory_graph` is asked for."""
        given = self.cleaned_data
        return {
            "query": given["query"],
            "limit": given["limit"] or LIMIT,
            "min_degree": given["min_degree"] or 0,
            "types": tuple(given["types"]),
        }

    @property
    def complaints(self) -> list[str]:
        return [
            f"{name}: {error}"
            for name, errors in self.errors.items()
            for error in errors
        ]


@signed_in
@require_safe
def memory_graph_page(request: HttpRequest) -> HttpResponse:
    """Show what its reader remembers of a project as a graph and as a list."""
    user = reader(request)
    project = chosen_project(request)
    form = GkForm(request.GET)
    context: dict[str, Any] = {
        "project": project,
        "projects": projects_of(user),
        "kinds": KINDS,
        "limit_most": LIMIT_MOST,
        "is_degree_given": "min_degree" in request.GET,
    }
    is_valid = form.is_valid()
    if not is_valid:
        context |= {"complaints": form.complaints, "asked": {"limit": LIMIT}}
    elif project is not None:
        context |= _shown(user, project, form.asked())
    status = 200 if is_valid else 400
    return private(render(request, "memory/graph.html", context, status=status))


def _shown(user: User, project: Project, asked: dict[str, Any]) -> dict[str, Any]:
    view = _timed(lambda: memory_graph(user, project, **asked))
    around = _timed(environment)
    graph: GkView = view.value
    if query := asked["query"].strip():
        note_search(
            project,
            user,
            query,
            graph.node_ids,
            through="memory",
            found=len(graph.shape.nodes),
        )
    return {
        "asked": asked,
        "groups": groups_of(graph),
        "statistics": graph.shape.statistics(truncated=graph.truncated),
        "took_ms": view.took_ms,
        "endpoint": endpoint_of(project, asked),
        "environments": reverse("environments"),
        "environment": _rows(around.value),
        "environment_ms": around.took_ms,
    }


def endpoint_of(project: Project, asked: Mapping[str, Any]) -> str:
    """Return the address of the API that gives what is drawn."""
    query = {
        "project": project.path,
        "query": asked["query"],
        "limit": asked["limit"],
        "min_degree": asked["min_degree"],
        "types": ",".join(asked["types"]),
    }
    said = {name: value for name, value in query.items() if value}
    return f"{reverse('memory-graph')}?{urlencode(said)}"


def groups_of(view: GkView) -> list[Group]:
    """Return the nodes of a view by type, each with what it is tied to."""
    nodes = {node.id: node for node in view.shape.nodes}
    ties: dict[str, list[Tie]] = defaultdict(list)
    for edge in view.shape.edges:
        for end, other in _ends(edge):
            ties[end].append(Tie(edge.label.replace("_", " "), nodes[other]))
    by_type: dict[str, list[Listed]] = {name: [] for name in NODE_TYPES}
    for node in sorted(nodes.values(), key=_order):
        by_type[node.node_type].append(_listed(node, ties[node.id]))
    return [Group(name, KINDS[name], rows) for name, rows in by_type.items() if rows]


def _order(node: GkNode) -> tuple[int, str]:
    # What a query found comes in its order, the best first; others by their ties.
    return (0 if node.metadata.get("contributions") else -node.degree, "")


def _ends(edge: GkEdge) -> tuple[tuple[str, str], tuple[str, str]]:
    return (edge.source, edge.target), (edge.target, edge.source)


def _listed(node: GkNode, ties: Sequence[Tie]) -> Listed:
    return Listed(
        node=node,
        address=_address(node.metadata),
        ties=ties[:TIES_SHOWN],
        more=max(0, len(ties) - TIES_SHOWN),
        found_by=_found_by(node.metadata.get("contributions")),
    )


def _address(metadata: Mapping[str, JSON]) -> str:
    if node := metadata.get("node_id"):
        return reverse("node", args=[node])
    if metadata.get("is_own"):
        return reverse("conversation", args=[metadata["conversation"]])
    return ""


def _found_by(contributions: JSON) -> list[tuple[str, int]]:
    """Return the retrievers that found a fact, each with its rank there."""
    if not isinstance(contributions, dict):
        return []
    ranks = {
        arm: by["rank"] for arm, by in contributions.items() if isinstance(by, dict)
    }
    return sorted(ranks.items(), key=lambda row: (row[1], row[0]))  # type: ignore[arg-type, return-value] # ranks are numbers


def _rows(said: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the environment as lines: what, and which."""
    lines = []
    for name, value in said.items():
        if isinstance(value, dict):
            parts = [f"{_plain(part)} {_plain(one)}" for part, one in value.items()]
            lines.append((name, " · ".join(parts)))
        elif isinstance(value, list):
            lines += [(row["kind"], _described(row)) for row in value]
        else:
            lines.append((name, _plain(value)))
    return [(name.replace("_", " "), text) for name, text in lines]


def _described(row: Mapping[str, Any]) -> str:
    words = [str(row[name]) for name in ("provider", "name") if row.get(name)]
    if "dimensions" in row:
        words.append(f"{row['dimensions']} dimensions, {row['index']}")
    if row.get("is_active"):
        words.append("active")
    if row.get("is_configured") is False:
        words.append("without a key")
    return " · ".join(words)


def _plain(value: object) -> str:
    return "none" if value is None else str(value).replace("_", " ")


def _timed(compute: Callable[[], T]) -> Timed:
    started = time.perf_counter()
    value = compute()
    return Timed(value, round((time.perf_counter() - started) * 1000, 1))
