"""The admin of what is remembered."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from connections.models import Role
from memory.fading import let_leave
from memory.models import MemoryScope, Observation
from tests.factories import NOON, make_audience, make_node, make_user
from tests.memory.memories import again, kept

pytestmark = pytest.mark.django_db
LIST = "admin:memory_observation_changelist"
SAID = "The supplier Volta failed the audit."


@pytest.fixture
def root(project):
    user = make_user("root@acme.test", is_staff=True, is_superuser=True)
    project.memberships.create(user=user, role=Role.ADMIN)
    return user


@pytest.fixture
def desk(root, client: Client):
    client.force_login(root)
    return client


def act(desk, action, *observations, **more):
    chosen = [each.pk for each in observations]
    values = {"action": action, "_selected_action": chosen, **more}
    return desk.post(reverse(LIST), values, follow=True)


def shown(desk, **query):
    return desk.get(reverse(LIST), query).content.decode()


def test_it_lists_ones_own_and_what_is_shared_with_them(
    desk, root, project, other_project, member, stranger
):
    closed = make_audience(project, "slack:P1", [member])
    hidden = make_node(project, "slack:P1:1.0", SAID, audience=closed)
    kept(project, root, "Mine is pinned.")
    kept(project, None, "Ours is shared.")
    kept(project, None, "Narrow it is.", hidden)
    kept(project, member, "Theirs alone.")
    kept(other_project, stranger, "Foreign words.")
    page = shown(desk)
    assert "Mine is pinned." in page
    assert "Ours is shared." in page
    assert not {w for w in ("Narrow", "Theirs", "Foreign") if f"{w} " in page}


def test_its_page_says_how_strong_from_where_and_why(desk, root, project):
    message = make_node(project, "slack:C1:1.0", SAID)
    observation = kept(project, root, "Volta failed.", message)
    page = desk.get(
        reverse("admin:memory_observation_change", args=[observation.pk])
    ).content.decode()
    assert "0.500" in page
    assert "leaves after 22 more without it" in page
    assert SAID in page
    assert "slack:C1:1.0" in page


def test_what_is_quoted_from_a_record_that_is_closed_is_not_shown(
    desk, root, project, member
):
    message = make_node(project, "slack:C1:1.0", SAID)
    observation = kept(project, root, "Volta failed.", message)
    closed = make_audience(project, "slack:P1", [member])
    type(message.record).objects.filter(pk=message.record_id).update(audience=closed)
    page = desk.get(
        reverse("admin:memory_observation_change", args=[observation.pk])
    ).content.decode()
    assert SAID not in page


def test_what_left_is_listed_and_restored(desk, root, project):
    gone, held = kept(project, root, "Gone by."), kept(project, root, "Held on.")
    MemoryScope.objects.filter(user=root).update(ticks=22)
    Observation.objects.filter(pk=held.pk).update(leaves_at=None, is_pinned=True)
    let_leave(gone.scope_id, now=NOON)
    page = shown(desk, state="left")
    assert "Gone by." in page
    assert "Held on." not in page
    assert "Held on." in shown(desk, state="held")
    answer = act(desk, "restore_selected", gone, held)
    said = [str(message) for message in answer.context["messages"]]
    assert said == [f"memory:{held.pk} has not left memory.", "Restored: 1."]
    assert again(gone).left_at is None


def test_pinning_and_unpinning(desk, root, project):
    observation = kept(project, root, SAID)
    act(desk, "pin_selected", observation)
    assert again(observation).is_pinned
    act(desk, "unpin_selected", observation)
    assert not again(observation).is_pinned


def test_forgetting_asks_first(desk, root, project):
    observation = kept(project, root, SAID)
    page = act(desk, "forget_selected", observation)
    assert "deleted for good" in page.content.decode()
    assert Observation.objects.filter(pk=observation.pk).exists()
    act(desk, "forget_selected", observation, confirmed="yes")
    assert not Observation.objects.filter(pk=observation.pk).exists()


def test_searching_finds_words(desk, root, project):
    kept(project, root, SAID)
    assert SAID in shown(desk, q="Volta")
    assert SAID not in shown(desk, q="Ampere")
