"""How two nodes hang together, in sentences: each relation named, read both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.text import Truncator

from graph.models import Node
from graph.paths import Path, Paths
from graph.steps import Cut, Hop

NAME_CHARACTERS = 60
# What a relation says from its source to its target, and from its target back.
PHRASES: Mapping[str, tuple[str, str]] = {
    "sent_by": ("was written by", "wrote"),
    "replied_to": ("answers", "is answered by"),
    "in_thread": ("is in the thread", "holds"),
    "posted_in": ("was posted in", "holds"),
    "attended": ("was attended by", "was at"),
    "organized_by": ("was organised by", "organised"),
    "participant": ("has as a participant", "takes part in"),
    "in_folder": ("is in the folder", "holds"),
    "from_domain": ("has an address at", "is the domain of"),
    "has_email": ("has the address", "is an address of"),
    "part_of": ("is a part of", "contains"),
    "column_of": ("is a column of", "has the column"),
    "references": ("refers to", "is referred to by"),
    "follows": ("comes right after", "comes right before"),
    "supported_by": ("rests on", "bears out"),
    "co_occurs": ("comes up together with", "is brought up with"),
    "mentions": ("mentions", "is mentioned in"),
    "uses": ("uses", "is used by"),
    "recommends": ("recommends", "is recommended by"),
    "requires": ("requires", "is required by"),
    "depends_on": ("depends on", "is needed by"),
    "blocked_by": ("is blocked by", "blocks"),
    "used_for": ("is used for", "is done with"),
    "concerns": ("concerns", "is the subject of"),
}
_UNNAMED = ("person", "account", "name", "agent", "technology", "channel", "domain")


@dataclass(frozen=True, slots=True)
class Explained:
    """A path as a sentence from its first node to its last, and back."""

    there: str
    back: str


def phrase(relation: str, *, forward: bool) -> str:
    """Return what an edge says of the node it is read from; any relation has words."""
    name = relation.replace("_", " ")
    both = PHRASES.get(
        relation, (f"is tied by \u201c{name}\u201d to", f"has, by \u201c{name}\u201d,")
    )
    return both[0] if forward else both[1]


def named(node: Node) -> str:
    """Return what a node is called in a sentence: names plain, titles in quotes."""
    said = node.title or node.content or node.key
    name = Truncator(" ".join(said.split())).chars(NAME_CHARACTERS)
    return name if node.node_type in _UNNAMED else f"\u201c{name}\u201d"


def explained(path: Path, nodes: Mapping[int, Node]) -> Explained:
    """Return a path in words; `nodes` holds all it comes by."""
    turned = tuple(hop.turned() for hop in reversed(path.hops))
    return Explained(
        there=_sentence(path.nodes[0], path.hops, nodes),
        back=_sentence(path.nodes[-1], turned, nodes),
    )


def summary(start: Node, end: Node, found: Paths, depth: int) -> str:
    """Return in a sentence how many ways were found, and how long they are."""
    ends = f"{named(start)} and {named(end)}"
    lengths = sorted(len(path.hops) for path in found.paths)
    if not lengths:
        also = "" if found.is_complete else ", as far as was walked"
        return f"Nothing that you may see connects {ends} within {depth} steps{also}."
    if lengths == [0]:
        return f"{named(start)} is itself."
    ways = "one way" if len(lengths) == 1 else f"{len(lengths)} ways"
    steps = _steps(lengths[0])
    if lengths[0] != lengths[-1]:
        steps = f"{lengths[0]} to {_steps(lengths[-1])}"
    more = "" if found.is_complete else "; there may be more"
    return f"{ends} are connected in {ways} of {steps}{more}."


def left_out(cut: Cut, nodes: Mapping[int, Node]) -> str:
    """Return in a sentence which edges of a hub were not walked."""
    node = nodes.get(cut.node_id)
    of = named(node) if node else f"node {cut.node_id}"
    total = f"{cut.total:,}" if cut.is_exact else f"{cut.total:,} or more"
    towards = "from it" if cut.direction == "out" else "to it"
    return (
        f"Of {of} the {cut.shown:,} strongest of {total} edges {towards} were walked."
    )


def _sentence(start: int, hops: Sequence[Hop], nodes: Mapping[int, Node]) -> str:
    said = named(nodes[start])
    for place, hop in enumerate(hops):
        if place:
            is_person = nodes[hop.near].node_type in ("person", "account", "name")
            said += ", who" if is_person else ", which"
        words = phrase(hop.relation, forward=hop.forward)
        said += f" {words} {named(nodes[hop.far])}"
    return f"{said[0].upper()}{said[1:]}."


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"
