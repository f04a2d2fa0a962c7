from graph.models.edge import Edge, PendingEdge
from graph.models.embedding import EmbeddingModel, RefusedText
from graph.models.erasure import ErasedName, Erasure
from graph.models.evidence import Evidence
from graph.models.extraction import ExtractedText, ExtractionAnswer
from graph.models.figure import DailyFigure
from graph.models.identity import Alias, Identity, IdentityDecision
from graph.models.integrity import GraphCheck, Merge
from graph.models.node import Node, Tombstone
from graph.models.position import NodePosition
from graph.models.record import Record
from graph.models.review import (
    ReviewDecision,
    ReviewItem,
    StaleThreshold,
    Trashed,
)
from graph.models.scoped import InProject, Scoped

__all__ = [
    "Alias",
    "DailyFigure",
    "Edge",
    "EmbeddingModel",
    "ErasedName",
    "Erasure",
    "Evidence",
    "ExtractedText",
    "ExtractionAnswer",
    "GraphCheck",
    "Identity",
    "IdentityDecision",
    "InProject",
    "Merge",
    "Node",
    "NodePosition",
    "PendingEdge",
    "Record",
    "RefusedText",
    "ReviewDecision",
    "ReviewItem",
    "Scoped",
    "StaleThreshold",
    "Tombstone",
    "Trashed",
]
