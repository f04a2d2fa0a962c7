"""The admin of the graph: what its reader may see, and people's word on persons."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from connections.models import Audit, Project, Role, User
from graph.decisions import NothingToDecide, merge_persons, split_identity
from graph.models import (
    EmbeddingModel,
    Identity,
    IdentityDecision,
    Node,
    Record,
    RefusedText,
)
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_edge,
    make_node,
    make_review_item,
    make_user,
    take_in,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(project: Project) -> User:
    user = make_user("root@acme.test", is_staff=True, is_superuser=True)
    project.memberships.create(user=user, role=Role.ADMIN)
    return user


@pytest.fixture
def desk(root: User, client: Client) -> Client:
    client.force_login(root)
    return client


@pytest.fixture
def people(project: Project) -> dict[str, Node]:
    """Three persons: Ann by two accounts of one address, Ben, and Cem."""
    take_in(
        project,
        draft_channel(),
        draft_account("U1", "Ann Lee", "ann@acme.test"),
        draft_account("U2", "Ben Low"),
        draft_account("U3", "Cem Oz"),
        *(draft_message(f"{n}.000001", f"word {n}", user=f"U{n}") for n in (1, 2, 3)),
    )
    return persons_of(project)


def persons_of(project: Project) -> dict[str, Node]:
    return {
        person.title.split()[0]: person
        for person in Node.objects.filter(project=project, node_type="person")
    }


def listed(client: Client, name: str, **query: str) -> str:
    answer = client.get(reverse(f"admin:graph_{name}_changelist"), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_even_a_superuser_sees_only_what_they_may_see(
    desk: Client, project: Project, other_project: Project, member: User
) -> None:
    closed = make_audience(project, "channel:C9", [member])
    hidden = make_node(project, "slack:C9:1.0", "hidden words", audience=closed)
    foreign = make_node(other_project, "slack:X:1.0", "foreign words")
    seen = make_node(project, "slack:C1:1.0", "open words")
    make_edge(seen, hidden, audience=seen.audience)
    nodes = listed(desk, "node")
    assert "open words" in nodes
    assert "hidden words" not in nodes
    assert "foreign words" not in nodes
    assert "hidden words" not in listed(desk, "edge")
    records = listed(desk, "record")
    assert "slack:C1:1.0" in records
    assert "slack:C9:1.0" not in records
    for node in (hidden, foreign):
        change = reverse("admin:graph_node_change", args=[node.pk])
        assert desk.get(change).status_code == 302


def test_nodes_are_found_by_title_and_by_how_their_key_begins(
    desk: Client, project: Project
) -> None:
    make_node(project, "slack:C1:1.0", "words", title="Cold (store) plan")
    make_node(project, "file:b.md", "words", title="Another thing")
    by_title = listed(desk, "node", q="cold (STORE)")
    assert "Cold (store) plan" in by_title
    assert "Another thing" not in by_title
    by_key = listed(desk, "node", q="file:b")
    assert "Another thing" in by_key
    assert "Cold (store) plan" not in by_key


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"node_type": "section"}, "a section"),
        ({"gone": "yes"}, "a gone one"),
        ({"source_kind": "mail"}, "a mail"),
    ],
)
def test_nodes_are_filtered(
    desk: Client, project: Project, query: dict[str, str], found: str
) -> None:
    make_node(project, "k:1", title="a plain one")
    make_node(project, "k:2", title="a section", node_type="section")
    make_node(project, "k:3", title="a gone one", gone_at="2026-01-01T00:00Z")
    mail = make_node(project, "k:4", title="a mail")
    Node.objects.filter(pk=mail.pk).update(source_kind="mail")
    text = listed(desk, "node", **query)
    assert found in text
    assert "a plain one" not in text


def test_nodes_can_be_kept_to_one_project(
    desk: Client, root: User, project: Project, other_project: Project
) -> None:
    other_project.memberships.create(user=root)
    make_node(project, "k:1", title="a near one")
    make_node(other_project, "k:1", title="a far one")
    text = listed(desk, "node", project=str(project.pk))
    assert "a near one" in text
    assert "a far one" not in text


def test_derived_rows_are_only_read(desk: Client, project: Project) -> None:
    node = make_node(project, content="words")
    change = reverse("admin:graph_node_change", args=[node.pk])
    assert desk.get(change).status_code == 200
    assert desk.post(change, {"content": "other"}).status_code == 403
    delete = reverse("admin:graph_node_delete", args=[node.pk])
    assert desk.post(delete, {"post": "yes"}).status_code == 403


def test_evidence_of_a_closed_record_is_not_shown(
    desk: Client, project: Project, member: User
) -> None:
    node = make_node(project, content="words")
    closed = make_audience(project, "channel:C9", [member])
    Record.objects.filter(pk=node.record_id).update(audience=closed)
    page = desk.get(reverse("admin:graph_node_change", args=[node.pk]))
    assert reverse("admin:graph_record_change", args=[node.record_id]) not in (
        page.content.decode()
    )


def test_a_record_shows_what_it_is_evidence_of(desk: Client, project: Project) -> None:
    node = make_node(project, content="the whole body", title="A title")
    page = desk.get(reverse("admin:graph_record_change", args=[node.record_id]))
    text = page.content.decode()
    assert "the whole body" in text
    assert reverse("admin:graph_node_change", args=[node.pk]) in text


def test_a_person_shows_identities_with_the_reason(
    desk: Client, people: dict[str, Node]
) -> None:
    page = desk.get(reverse("admin:graph_person_change", args=[people["Ann"].pk]))
    text = page.content.decode()
    assert "slack-user:U1" in text
    assert "same address ann@acme.test" in text


def test_merging_asks_first_then_makes_one_person_of_them(
    desk: Client, project: Project, people: dict[str, Node]
) -> None:
    address = reverse("admin:graph_person_changelist")
    data = {
        "action": "merge",
        "_selected_action": [people["Ben"].pk, people["Cem"].pk],
    }
    assert "Are these one person?" in desk.post(address, data).content.decode()
    assert not IdentityDecision.objects.exists()
    desk.post(address, data | {"confirmed": "yes", "reason": "he told me"})
    assert len(persons_of(project)) == 2
    decision = IdentityDecision.objects.get()
    assert decision.first_key < decision.second_key
    assert decision.reason == "he told me"
    audit = Audit.objects.get(verb="person.merged")
    assert audit.actor is not None
    assert audit.actor.email == "root@acme.test"


def test_splitting_asks_first_then_parts_the_identity(
    desk: Client, project: Project, people: dict[str, Node]
) -> None:
    identity = Identity.objects.get(key="slack-user:U1")
    address = reverse("admin:graph_identity_split", args=[identity.pk])
    assert "Is this somebody else?" in desk.get(address).content.decode()
    assert len(persons_of(project)) == 3
    desk.post(address, {"confirmed": "yes"})
    people = Node.objects.filter(project=project, node_type="person")
    assert people.count() == 4
    assert Audit.objects.filter(verb="person.split").count() == 1


def test_a_merge_takes_back_the_split_between_them(
    root: User, project: Project, people: dict[str, Node]
) -> None:
    before = Node.objects.filter(project=project, node_type="person").count()
    split_identity(Identity.objects.get(key="slack-user:U1"), actor=root)
    parted = Identity.objects.filter(address="ann@acme.test")
    persons = [identity.person for identity in parted.select_related("person")]
    assert len({person.pk for person in persons}) == 2
    merge_persons(persons, actor=root)
    after = Node.objects.filter(project=project, node_type="person").count()
    assert after == before


def test_a_single_identity_has_nothing_to_be_split_from(
    root: User, people: dict[str, Node]
) -> None:
    with pytest.raises(NothingToDecide, match="only identity"):
        split_identity(Identity.objects.get(key="slack-user:U2"), actor=root)


def test_persons_of_two_projects_cannot_be_merged(
    root: User, people: dict[str, Node], other_project: Project
) -> None:
    take_in(other_project, draft_channel(), draft_account("U9", "Dan Ox"))
    stranger = Node.objects.get(project=other_project, node_type="person")
    with pytest.raises(NothingToDecide, match="different projects"):
        merge_persons([people["Ben"], stranger], actor=root)


def test_who_does_not_review_a_project_decides_nothing_there(
    desk: Client, root: User, project: Project, people: dict[str, Node]
) -> None:
    User.objects.filter(pk=root.pk).update(is_superuser=False)
    project.memberships.filter(user=root).update(role=Role.EDITOR)
    root.user_permissions.set(Permission.objects.all())
    address = reverse("admin:graph_person_changelist")
    selected = [people["Ben"].pk, people["Cem"].pk]
    data = {"action": "merge", "_selected_action": selected, "confirmed": "yes"}
    desk.post(address, data)
    assert not IdentityDecision.objects.exists()


class TestVectors:
    @pytest.fixture
    def refused(self, project: Project) -> RefusedText:
        closed = make_audience(project, "slack:G1", ["somebody@acme.test"])
        model = EmbeddingModel.objects.get(is_active=True)
        for key, audience in (("seen", None), ("hidden", closed)):
            node = make_node(project, key, f"{key} words", audience=audience)
            RefusedText.objects.create(
                tenant_id=project.tenant_id,
                project=project,
                node=node,
                model=model,
                reason=f"too long: {key}",
            )
        return RefusedText.objects.get(reason="too long: seen")

    def test_the_list_of_models_shows_how_far_a_change_is(self, desk, project):
        make_node(project, "a", "waits")
        EmbeddingModel.objects.create(
            name="next-model",
            provider="openai",
            dimensions=1536,
            filling_since=timezone.now(),
            filled=250,
            total=1000,
        )
        page = desk.get(reverse("admin:graph_embeddingmodel_changelist"))
        said = page.content.decode()
        assert "filled 250 of 1,000 (25 %)" in said
        assert "1 nodes wait" in said
        pk = EmbeddingModel.objects.get(name="next-model").pk
        one = desk.get(reverse("admin:graph_embeddingmodel_change", args=[pk]))
        assert one.status_code == 200

    def test_refused_texts_are_shown_to_those_who_may_see_their_nodes(
        self, desk, refused
    ):
        page = desk.get(reverse("admin:graph_refusedtext_changelist"))
        said = page.content.decode()
        assert "too long: seen" in said
        assert "too long: hidden" not in said
        one = desk.get(reverse("admin:graph_refusedtext_change", args=[refused.pk]))
        assert "seen words" in one.content.decode()
        hidden = RefusedText.objects.get(reason="too long: hidden").pk
        page = desk.get(reverse("admin:graph_refusedtext_change", args=[hidden]))
        assert page.status_code == 302

    def test_a_stranger_sees_no_refused_text(self, client, stranger, refused):
        stranger.is_staff = stranger.is_superuser = True
        stranger.save()
        client.force_login(stranger)
        page = client.get(reverse("admin:graph_refusedtext_changelist"))
        assert "too long" not in page.content.decode()


class TestListsOfSeveralProjects:
    """Pages merged of each project's newest are those of one sorted list."""

    @pytest.fixture
    def nodes(self, root: User, project: Project, other_project: Project) -> list[int]:
        other_project.memberships.create(user=root)
        closed = make_audience(other_project, "channel:C9", ["x@y.test"])
        for n in range(130):
            place = (project, other_project)[n % 3 == 0]
            hidden = closed if n % 9 == 0 else None
            make_node(
                place,
                f"k:{n}",
                title=f"node {n}",
                audience=hidden,
                occurred_at=timezone.now() - timedelta(days=(n * 37) % 130),
            )
        visible = Node.objects.visible_to(root).order_by("-pk")
        return list(visible.values_list("pk", flat=True))

    def pages(self, desk: Client, **query: str) -> list[int]:
        found: list[int] = []
        for page in (1, 2, 3):
            answer = desk.get(
                reverse("admin:graph_node_changelist"), {**query, "p": str(page)}
            )
            if answer.status_code != 200:
                break
            found += [node.pk for node in answer.context["cl"].result_list]
            if not answer.context["cl"].multi_page:
                break
        return found

    def test_newest_first(self, desk: Client, nodes: list[int]) -> None:
        assert 100 < len(nodes) < 130
        assert self.pages(desk) == nodes

    def test_of_one_project(
        self, desk: Client, nodes: list[int], project: Project
    ) -> None:
        mine = Node.objects.filter(pk__in=nodes, project=project).order_by("-pk")
        assert self.pages(desk, project=str(project.pk)) == [n.pk for n in mine]

    def test_of_some_days_latest_first(self, desk: Client, nodes: list[int]) -> None:
        since = (timezone.now() - timedelta(days=100)).date()
        begin = {"occurred_at_from_0": since.isoformat(), "occurred_at_from_1": "00:00"}
        wanted = Node.objects.filter(pk__in=nodes, occurred_at__date__gte=since)
        wanted = wanted.order_by("-occurred_at", "-pk")
        assert len(wanted) > 60
        assert self.pages(desk, **begin) == [n.pk for n in wanted]

    def test_waiting_for_review(
        self, desk: Client, nodes: list[int], project: Project
    ) -> None:
        first, second = Node.objects.filter(pk__in=nodes, project=project)[:2]
        make_review_item(project, first)
        make_review_item(project, second, state="decided")
        assert self.pages(desk, flagged="stale") == [first.pk]


def test_an_edge_is_found_by_the_words_of_either_end(
    desk: Client, project: Project
) -> None:
    ends = [make_node(project, f"k:{n}", title=f"thing {n}") for n in range(4)]
    make_edge(ends[0], ends[1], "mentions")
    make_edge(ends[2], ends[3], "follows")
    assert "follows" in listed(desk, "edge", q="thing 3").partition("result_list")[2]
    assert "result_list" not in listed(desk, "edge", q="no such thing")
