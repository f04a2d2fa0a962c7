"""RULE: no read shows what is in the trash."""

from __future__ import annotations

import pytest
from django.utils import timezone

from graph.models import Evidence, Node
from graph.review.pruning import consequences, prune
from memory.models import Observation
from memory.observations import current
from retrieval.tag_export import export_tags
from tests.connections.api.callers import session_client
from tests.factories import NOON, make_edge, make_node
from tests.graph.review.queueing import make_reviewer
from tests.memory.making import make_conversation
from tests.memory.memories import kept

pytestmark = pytest.mark.django_db
WORD = "zanzibarite"


@pytest.fixture
def world(project, member):
    """A message with a rare word, tied to all that shows messages."""
    gone = make_node(
        project, "slack:C1:1.0", f"We ship {WORD} in May.", title=f"On {WORD}",
        tags=[WORD], occurred_at=NOON, language="english",
    )  # fmt: skip
    channel = make_node(project, "slack:C1", node_type="channel", title="#c")
    make_edge(gone, channel, "posted_in", occurred_at=NOON)
    Evidence.objects.create(
        tenant_id=project.tenant_id, project=project, record=gone.record,
        node=channel, kind="derived", part=f"text:{gone.key}", quote=gone.content,
    )  # fmt: skip
    kept(project, member, f"{WORD} ships in May.", gone)
    make_conversation(project, member, "When do we ship?", cited=[gone])
    return gone, channel


def reads(project, gone, channel):
    api = "/api/v1"
    of = f"project={project.path}"
    return [
        f"{api}/graph/nodes/?{of}",
        f"{api}/graph/nodes/?q={WORD}",
        f"{api}/graph/nodes/?tag={WORD}",
        f"{api}/graph/nodes/{gone.pk}/",
        f"{api}/graph/nodes/{channel.pk}/neighbours/?depth=2",
        f"{api}/graph/nodes/{channel.pk}/timeline/",
        f"{api}/graph/nodes/{channel.pk}/provenance/",
        f"{api}/graph/edges/?{of}",
        f"{api}/graph/paths/?from={channel.pk}&to={gone.pk}",
        f"{api}/memory/observations/?{of}",
        f"{api}/memory/context/?{of}",
        f"{api}/memory/graph/?{of}",
        f"/nodes/{gone.pk}/",
        f"/nodes/{channel.pk}/",
        "/memory/",
    ]


def shown(client, project, gone, channel):
    """Return the addresses whose answers have the word."""
    found = {
        path
        for path in reads(project, gone, channel)
        if WORD.encode() in client.get(path).content.replace(b"?q=", b"")
    }
    answer = client.post(
        "/api/v1/search/", {"project": project.path, "query": f"ship {WORD}"}, "json"
    ).json()
    if any(WORD in str(result) for result in answer["results"]):
        found.add("search")
    return found


def test_every_read_leaves_out_what_was_pruned(project, member, world, tmp_path):
    gone, channel = world
    client = session_client(member)
    before = shown(client, project, gone, channel)
    assert len(before) >= 12
    assert "search" in before
    rita = make_reviewer(project)
    # Closed to the reviewer, and yet it goes with what it rests on.
    found = consequences(project, [gone.pk], rita)
    assert found.hidden >= 1
    prune(project, [gone.pk], by=rita, reason="x", token=found.token)
    assert shown(client, project, gone, channel) == set()
    assert not current(project, member).exists()
    export_tags(project, tmp_path)
    told = "".join(p.read_text() for p in tmp_path.rglob("*.md"))
    assert WORD not in told


def test_memories_of_the_trash_stay_in_their_tables(project, member, world):
    gone, _ = world
    rita = make_reviewer(project)
    token = consequences(project, [gone.pk], rita).token
    prune(project, [gone.pk], by=rita, reason="x", token=token)
    held = Observation.objects.get()
    assert held.left_at is None
    assert Node.objects.get(pk=held.pk).trashed_at <= timezone.now()
