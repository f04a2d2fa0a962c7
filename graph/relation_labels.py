"""What an edge is called from either of its ends."""

from __future__ import annotations

from collections.abc import Mapping

# From its target; other relations keep their own name.
FROM_TARGET: Mapping[str, str] = {
    "sent_by": "wrote or said",
    "replied_to": "answered by",
    "in_thread": "in this thread",
    "posted_in": "posted here",
    "attended": "was at",
    "organized_by": "organised",
    "participant": "takes part in",
    "in_folder": "in this folder",
    "from_domain": "people",
    "has_email": "belongs to",
    "part_of": "parts",
    "follows": "followed by",
    "mentions": "mentioned by",
}


def label_of_relation(relation: str, direction: str) -> str:
    """Return what an edge is called from the end that it leaves, or comes "in" to."""
    own = relation.replace("_", " ")
    return own if direction == "out" else FROM_TARGET.get(relation, own)
