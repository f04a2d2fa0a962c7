"""The search page as tests read it."""

from __future__ import annotations

import re

from django.test import Client
from django.urls import reverse

from connections.models import Project
from graph.embed import embed_backlog
from retrieval.frequencies import count_lexemes


def index(project: Project) -> None:
    embed_backlog(project.pk)
    count_lexemes(project, always=True)


def get(client: Client, status: int = 200, **query: object) -> str:
    answer = client.get(reverse("search"), query)
    assert answer.status_code == status
    return answer.content.decode()


def found(text: str) -> set[int]:
    """Return the nodes whose pages the results lead to."""
    titles = re.findall(r'href="/nodes/(\d+)/" data-open', text)
    return {int(pk) for pk in titles}


def visible_words(text: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())
