"""Questions to begin with, from what the project itself holds."""

from __future__ import annotations

from connections.models import Project, User
from graph.models import Edge, Node

LEAST, MOST = 25, 140
LOOKED_AT = 300


def sample_questions(project: Project, user: User, limit: int = 4) -> list[str]:
    """Return questions about `project` that it can answer `user`.

    Those its staff wrote down come first, then questions that people asked in it and
    others answered, then one about what it holds most recently.
    """
    found = list(project.sample_questions[:limit])
    if len(found) < limit:
        found += _asked(project, user, limit - len(found))
    if len(found) < limit:
        found += _about_titles(project, user, limit - len(found))
    return list(dict.fromkeys(found))[:limit]


def _asked(project: Project, user: User, limit: int) -> list[str]:
    answered = (
        Edge.objects.visible_to(user)
        .of(project)
        .live()
        .filter(relation="replied_to", target__content__endswith="?")
        .order_by("-occurred_at")
        .values_list("target__content", flat=True)[:LOOKED_AT]
    )
    questions = []
    for content in answered:
        last = content.replace("\n", " ").rpartition(". ")[2].strip()
        if (
            LEAST <= len(last) <= MOST
            and last.count("?") == 1
            and last not in questions
        ):
            questions.append(last)
    return questions[:limit]


def _about_titles(project: Project, user: User, limit: int) -> list[str]:
    titles = (
        Node.objects.visible_to(user)
        .of(project)
        .current()
        .filter(node_type__in=("meeting", "section", "email"))
        .exclude(title="")
        .order_by("-occurred_at")
        .values_list("node_type", "title")[: limit * 5]
    )
    wording = {"meeting": "What was said in {}?", "section": "What does “{}” say?"}
    return [
        wording.get(kind, "What was written about {}?").format(title.strip())
        for kind, title in titles
        if len(title) <= MOST
    ][:limit]
