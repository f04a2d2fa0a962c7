"""Those who call the API in tests, and what there is for them to see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone
from rest_framework.test import APIClient

from connections.models import ApiToken, Project, User
from graph.models import Edge, Node
from tests.factories import NOON, make_audience, make_edge, make_node, make_token

SECRET_WORD = "zanzibar"


def bearer(text: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def token_client(
    user: User, project: Project, scopes: tuple[str, ...] = ("read", "ask", "write")
) -> APIClient:
    return bearer(make_token(user, project.tenant, scopes))


def expired_client(user: User, project: Project) -> APIClient:
    past = timezone.now() - timedelta(seconds=1)
    return bearer(make_token(user, project.tenant, expires_at=past))


def revoked_client(user: User, project: Project) -> APIClient:
    text = make_token(user, project.tenant)
    ApiToken.objects.filter(prefix=text.split("_")[1]).update(revoked_at=timezone.now())
    return bearer(text)


def session_client(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


@dataclass(frozen=True)
class World:
    """A public channel and a private one of `member`; `bridge` joins two messages."""

    project: Project
    channel: Node
    first: Node
    second: Node
    secret: Node
    private_channel: Node
    posted: Edge
    secret_posted: Edge
    secret_mention: Edge

    @property
    def public_keys(self) -> set[str]:
        return {self.channel.key, self.first.key, self.second.key}

    @property
    def secret_keys(self) -> set[str]:
        return {self.secret.key, self.private_channel.key}


def make_world(project: Project, member: User) -> World:
    """Make what the member sees whole, the outsider in part, the stranger not."""
    closed = make_audience(project, "slack:G1", [member])
    channel = make_node(project, "slack:C1", node_type="channel", title="#general")
    first = make_node(
        project,
        "slack:C1:1.0",
        "The launch is in May.",
        title="Launch",
        occurred_at=NOON,
        tags=["launch"],
    )
    second = make_node(project, "slack:C1:2.0", "We agreed on May.", occurred_at=NOON)
    private = make_node(
        project, "slack:G1", node_type="channel", title="#board", audience=closed
    )
    secret = make_node(
        project,
        "slack:G1:3.0",
        f"The price of {SECRET_WORD} is nine.",
        title=f"Price of {SECRET_WORD}",
        audience=closed,
        occurred_at=NOON,
        tags=["price"],
    )
    return World(
        project,
        channel,
        first,
        second,
        secret,
        private,
        posted=make_edge(first, channel, "posted_in"),
        secret_posted=make_edge(secret, private, "posted_in"),
        secret_mention=make_edge(secret, second, "mentions"),
    )
