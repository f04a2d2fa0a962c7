"""Nodes as search sees them."""

from __future__ import annotations

from typing import ClassVar

from graph.models import Node
from retrieval.ranked import RankedQuerySet


class SearchableNode(Node):
    """Nodes as search sees them; its manager ranks them."""

    objects: ClassVar = RankedQuerySet.as_manager()

    class Meta:
        proxy = True
