"""A small company: two public conversations, one private; what it is tested with."""

from __future__ import annotations

from connections.models import Audience, Project
from graph.embed import embed_backlog
from graph.models import Node
from retrieval.communities.refresh import refresh_communities
from retrieval.frequencies import count_lexemes
from tests.factories import make_audience, make_edge, make_node

PUMPS = (
    "The harbour pump failed again in the night shift.",
    "Larsen brings a spare harbour pump on Thursday.",
    "Who pays for the spare harbour pump of Larsen?",
    "The harbour pump runs since noon, Larsen was quick.",
)
CAKES = (
    "The canteen bakes a lemon cake for the anniversary.",
    "Please order sugar for the lemon cake of the canteen.",
    "No nuts in the lemon cake, the canteen was told.",
    "The lemon cake of the canteen was eaten in a minute.",
)
SECRETS = (
    "Project Nightingale buys the Velkast shipyard in May.",
    "Only the board knows of Nightingale and the Velkast shipyard.",
    "The lawyers of Nightingale visit the Velkast shipyard on Monday.",
    "Nightingale pays nine millions for the Velkast shipyard.",
)


def make_talk(
    project: Project,
    name: str,
    texts: tuple[str, ...],
    audience: Audience | None = None,
) -> list[Node]:
    """Make messages of which each answers the one before, in a channel."""
    audience = audience or make_audience(project)
    channel = make_node(
        project,
        f"slack:{name}",
        node_type="channel",
        title=f"#{name}",
        audience=audience,
    )
    said = [
        make_node(project, f"slack:{name}:{n}", text, audience=audience)
        for n, text in enumerate(texts)
    ]
    for n, node in enumerate(said):
        make_edge(node, channel, "posted_in")
        if n:
            make_edge(node, said[n - 1], "replied_to")
    return said


def make_company(project: Project, *people: object) -> dict[str, list[Node]]:
    """Make the three conversations; `people` may read the private one, which is tied
    to both of the others."""
    board = make_audience(project, "slack:board", people)
    made = {
        "pumps": make_talk(project, "pumps", PUMPS),
        "cakes": make_talk(project, "cakes", CAKES),
        "board": make_talk(project, "board", SECRETS, board),
    }
    for talk in ("pumps", "cakes"):
        for secret, node in zip(made["board"], made[talk], strict=True):
            make_edge(secret, node, "mentions", audience=board)
    return made


def find_all(project: Project) -> None:
    embed_backlog(project.pk)
    count_lexemes(project, always=True)
    refresh_communities(project)
