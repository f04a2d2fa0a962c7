from retrieval.models.community import Community, CommunityMember, CommunityRun
from retrieval.models.searchable import SearchableNode
from retrieval.models.words import Lexeme, LexemeCount

__all__ = [
    "Community",
    "CommunityMember",
    "CommunityRun",
    "Lexeme",
    "LexemeCount",
    "SearchableNode",
]
