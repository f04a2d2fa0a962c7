"""Nodes by their words, for lists; search ranks, this only filters."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.search import SearchQuery
from django.db.models import Q

from connections.models import Project


def matching(text: str, project: Project | None = None) -> Q:
    """Return the condition that a node has all words of `text`, or it in its title.

    Words are read in the project's language, and as they stand.
    """
    languages = {
        project.language if project else settings.FABRIC["TEXT_SEARCH"],
        "simple",
    }
    found = Q(title__icontains=text)
    for language in sorted(languages):
        words = SearchQuery(text, config=language, search_type="websearch")
        found |= Q(search_vector=words)
    return found
