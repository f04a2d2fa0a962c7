"""Memory as a graph: facts, episodes, what they are about, by whom and from where.

Nothing of it is stored. An agent, a topic and a value of provenance is a node because
something is tied to it; so is its number of edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace

from connections.records import JSON
from memory.gk_reading import Fact, Session
from retrieval.results import utc

FACT, EPISODE, TOPIC, ENTITY, META = "fact", "memory", "topic", "entity", "meta"
NODE_TYPES = (FACT, EPISODE, TOPIC, ENTITY, META)
OF_FACTS = ("source", "filename", "etl_source", "tenant_id", "topic", "kind", "role")
OF_EPISODES = ("tenant_id", "channel", "source", "filename")
CONCERNS, BY, ATTRIBUTED, ABOUT = "concerns", "by", "attributed_to", "about"
ATTRIBUTION, TOPICAL, PROVENANCE = "attribution", "topical", "provenance"
_GROUPS = {
    BY: ATTRIBUTION,
    ATTRIBUTED: ATTRIBUTION,
    CONCERNS: TOPICAL,
    ABOUT: TOPICAL,
}
_GROUP_NAMES = (ATTRIBUTION, TOPICAL, PROVENANCE)
LABEL, HUBS = 60, 10


@dataclass(frozen=True, slots=True)
class GkNode:
    """A node with a short label; its full text is in the metadata."""

    id: str
    node_type: str
    content: str
    metadata: Mapping[str, JSON]
    degree: int = 0

    def as_json(self) -> dict[str, JSON]:
        # Not `asdict`: it copies all that is inside, half the time of a large graph.
        return {
            "id": self.id,
            "node_type": self.node_type,
            "content": self.content,
            "metadata": dict(self.metadata),
            "degree": self.degree,
        }


@dataclass(frozen=True, slots=True)
class GkEdge:
    """A relation between two nodes; `weight` is how often it was said."""

    source: str
    target: str
    label: str
    weight: float

    @property
    def group(self) -> str:
        return _GROUPS.get(self.label, PROVENANCE)

    def as_json(self) -> dict[str, JSON]:
        return {
            "source": self.source,
            "target": self.target,
            "label": self.label,
            "weight": self.weight,
        }


@dataclass(frozen=True, slots=True)
class Shape:
    """Nodes by what they are tied to, each with its degree, and their edges."""

    nodes: tuple[GkNode, ...]
    edges: tuple[GkEdge, ...]

    @classmethod
    def of(cls, nodes: Iterable[GkNode], edges: Iterable[GkEdge]) -> Shape:
        """Return the nodes and the edges between them, the degrees counted."""
        found = {node.id: node for node in nodes}
        kept = tuple(
            edge for edge in edges if edge.source in found and edge.target in found
        )
        ends = Counter(end for edge in kept for end in (edge.source, edge.target))
        counted = (replace(node, degree=ends[node.id]) for node in found.values())
        return cls(tuple(counted), kept)

    def only(self, types: Collection[str]) -> Shape:
        """Keep the nodes of these types; all of them where none is named."""
        if not types:
            return self
        kept = (node for node in self.nodes if node.node_type in types)
        return Shape.of(kept, self.edges)

    def at_least(self, degree: int) -> Shape:
        """Keep what still has `degree` edges once all that has fewer is gone."""
        shape = self
        while any(node.degree < degree for node in shape.nodes):
            kept = [node for node in shape.nodes if node.degree >= degree]
            shape = Shape.of(kept, shape.edges)
        return shape

    def statistics(self, *, truncated: bool) -> dict[str, JSON]:
        """Return how large and how dense it is; the hubs are its most tied nodes."""
        nodes, edges = len(self.nodes), len(self.edges)
        pairs = nodes * (nodes - 1) / 2
        hubs = sorted(self.nodes, key=lambda node: (-node.degree, node.id))[:HUBS]
        groups: dict[str, JSON] = dict.fromkeys(_GROUP_NAMES, 0)
        return {
            "node_count": nodes,
            "edge_count": edges,
            "nodes_by_type": dict(Counter(node.node_type for node in self.nodes)),
            "edges_by_label": dict(Counter(edge.label for edge in self.edges)),
            "edges_by_group": {**groups, **Counter(edge.group for edge in self.edges)},
            "mean_degree": round(2 * edges / nodes, 4) if nodes else 0.0,
            "max_degree": max((node.degree for node in self.nodes), default=0),
            "density": round(edges / pairs, 6) if pairs else 0.0,
            "hubs": [
                {
                    "id": hub.id,
                    "node_type": hub.node_type,
                    "content": hub.content,
                    "degree": hub.degree,
                }
                for hub in hubs
                if hub.degree
            ],
            "truncated": truncated,
        }


def shape_of(facts: Iterable[Fact], sessions: Iterable[Session], tenant: str) -> Shape:
    """Return the graph of facts and episodes of a tenant's project."""
    drawing = _Drawing()
    for fact in facts:
        _draw_fact(drawing, fact, tenant)
    for session in sessions:
        _draw_session(drawing, session)
    edges = (GkEdge(*ends, weight) for ends, weight in drawing.edges.items())
    return Shape.of(drawing.nodes.values(), edges)


def label_of(text: str) -> str:
    """Return the beginning of a text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LABEL else f"{line[: LABEL - 1].rstrip()}\u2026"


@dataclass(slots=True)
class _Drawing:
    nodes: dict[str, GkNode] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], float] = field(default_factory=dict)

    def node(
        self, pk: str, node_type: str, text: str, metadata: Mapping[str, JSON]
    ) -> str:
        if pk not in self.nodes:
            said = {**metadata, "text": text}
            self.nodes[pk] = GkNode(pk, node_type, label_of(text), said)
        return pk

    def edge(self, source: str, target: str, label: str) -> None:
        ends = (source, target, label)
        self.edges[ends] = self.edges.get(ends, 0.0) + 1.0

    def agent(self, agent_id: str) -> str:
        named: dict[str, JSON] = {"kind": "agent", "agent_id": agent_id}
        return self.node(f"agent:{agent_id}", ENTITY, agent_id, named)

    def topic(self, name: str) -> str:
        return self.node(f"topic:{name}", TOPIC, name, {})

    def provenance(self, source: str, metadata: Mapping[str, JSON]) -> None:
        for key, value in metadata.items():
            meta = f"meta:{key}:{value}"
            self.node(meta, META, str(value), {"key": key, "value": value})
            self.edge(source, meta, key)


def _draw_fact(drawing: _Drawing, fact: Fact, tenant: str) -> None:
    stored = {
        "source": "conversation" if fact.agent_id else "hand",
        "tenant_id": tenant,
        "kind": fact.observation_type,
        **{key: fact.metadata[key] for key in OF_FACTS if key in fact.metadata},
    }
    provenance = dict(_values(stored, OF_FACTS))
    metadata: dict[str, JSON] = {
        **provenance,
        "node_id": fact.node_id,
        "observation_type": fact.observation_type,
        "topics": list(fact.topics),
        "shared": fact.is_shared,
        "timestamp": utc(fact.timestamp),
        "contributions": {arm: asdict(by) for arm, by in fact.contributions.items()},
    }
    if fact.agent_id:
        metadata["agent_id"] = fact.agent_id
    pk = drawing.node(f"memory:{fact.node_id}", FACT, fact.text, metadata)
    if fact.agent_id:
        drawing.edge(pk, drawing.agent(fact.agent_id), ATTRIBUTED)
    for name in fact.topics:
        drawing.edge(pk, drawing.topic(name), ABOUT)
    drawing.provenance(pk, provenance)


def _draw_session(drawing: _Drawing, session: Session) -> None:
    stored: dict[str, JSON] = {key: getattr(session, key) for key in OF_EPISODES}
    provenance = dict(_values(stored, OF_EPISODES))
    metadata: dict[str, JSON] = {
        **provenance,
        "conversation": str(session.id),
        "is_own": session.is_own,
        "title": session.title,
        "summary": session.summary,
        "topics": list(session.topics),
        "turn_count": session.turn_count,
        "timestamp": utc(session.timestamp),
    }
    if session.agent_id:
        metadata["agent_id"] = session.agent_id
    pk = drawing.node(f"episode:{session.id}", EPISODE, session.summary, metadata)
    if session.agent_id:
        drawing.edge(pk, drawing.agent(session.agent_id), BY)
    for name in session.topics:
        drawing.edge(pk, drawing.topic(name), CONCERNS)
    drawing.provenance(pk, provenance)


def _values(
    stored: Mapping[str, JSON], keys: Iterable[str]
) -> Iterator[tuple[str, JSON]]:
    """Yield the provenance that is known: words and numbers, not empty."""
    for key in keys:
        value = stored.get(key)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            continue
        if value != "":
            yield key, value
