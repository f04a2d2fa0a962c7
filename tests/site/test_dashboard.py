"""The admin's first page and Ctrl-K: who sees which numbers, and where they lead."""

from __future__ import annotations

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from connections.empty_lists import EMPTY
from connections.models import ModelUsage, Project, Role, SavedView, SyncRun, User
from fabric_site.admin_site import SECTIONS, Section
from graph.figures.keeping import count_figures
from graph.models import DailyFigure, Node
from tests.factories import (
    make_audience,
    make_edge,
    make_member,
    make_node,
    make_project,
    make_review_item,
    make_source,
)

pytestmark = pytest.mark.django_db


def clerk_of(project: Project, email: str, role: Role) -> User:
    user = make_member(project, email, role)
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    return User.objects.get(pk=user.pk)


@pytest.fixture
def graph(project: Project) -> dict[str, Node]:
    """An open hub with two edges, and a private one with three that few may see."""
    closed = make_audience(project, "channel:C9", ["somebody@else.test"])
    opened = [make_node(project, f"open:{n}", title=f"open {n}") for n in range(3)]
    hidden = [
        make_node(project, f"closed:{n}", title=f"secret {n}", audience=closed)
        for n in range(4)
    ]
    for node in opened[1:]:
        make_edge(node, opened[0])
    for node in hidden[1:]:
        make_edge(node, hidden[0])
    make_review_item(project, opened[0])
    count_figures(project)
    return {"open": opened[0], "hidden": hidden[0]}


def page_of(client: Client, user: User, **query: str) -> str:
    client.force_login(user)
    answer = client.get(reverse("admin:index"), query)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def number(text: str, title: str) -> str:
    found = re.search(rf'aria-label="{title}: ([^"]+)"', text)
    return found.group(1) if found else ""


def test_a_reviewer_sees_all_counted_but_no_name_of_what_is_closed(
    client: Client, project: Project, graph: dict[str, Node]
) -> None:
    text = page_of(client, clerk_of(project, "r@acme.test", Role.REVIEWER))
    assert number(text, "Nodes") == "7"
    assert number(text, "Edges") == "5"
    assert number(text, "Waiting for review") == "1"
    assert "open 0" in text
    assert "secret" not in text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_who_does_not_review_counts_only_what_they_may_list(
    client: Client, project: Project, graph: dict[str, Node], role: Role
) -> None:
    text = page_of(client, clerk_of(project, "v@acme.test", role))
    assert number(text, "Nodes you may see") == "3"
    assert number(text, "Edges you may see") == "2"
    assert "data-figure" not in text
    assert number(text, "Nodes") == ""
    assert "secret" not in text


def test_another_tenant_sees_nothing_of_it_and_is_told(
    client: Client, other_project: Project, graph: dict[str, Node]
) -> None:
    stranger = clerk_of(other_project, "s@strangers.test", Role.ADMIN)
    text = page_of(client, stranger, project="acme/main")
    assert "You are in no project" in text
    assert number(text, "Nodes") == "0"
    assert "open 0" not in text


def test_a_superuser_who_is_no_member_is_shown_no_project(
    client: Client, graph: dict[str, Node]
) -> None:
    root = User.objects.create_superuser("root@acme.test", "a long password")
    text = page_of(client, root)
    assert "You are in no project." in text
    assert "acme/main" not in text


def test_a_graph_that_nobody_counted_yet_is_not_said_to_be_empty(
    client: Client, project: Project, graph: dict[str, Node]
) -> None:
    DailyFigure.objects.all().delete()
    text = page_of(client, clerk_of(project, "r@acme.test", Role.REVIEWER))
    assert number(text, "Nodes") == number(text, "Edges") == "-"
    assert "counted within the hour" in text
    count_figures(project)
    text = page_of(client, clerk_of(project, "s@acme.test", Role.REVIEWER))
    assert number(text, "Nodes") == "7"
    assert "counted within the hour" not in text


def test_one_of_several_projects_is_chosen(
    client: Client, project: Project, graph: dict[str, Node]
) -> None:
    user = clerk_of(project, "r@acme.test", Role.ADMIN)
    second = make_project("acme/second")
    second.memberships.create(user=user, role=Role.ADMIN)
    assert number(page_of(client, user), "Nodes") == "7"
    assert number(page_of(client, user, project="acme/second"), "Nodes") == "0"


def test_every_link_of_the_dashboard_opens_a_list(
    client: Client, project: Project, graph: dict[str, Node]
) -> None:
    ModelUsage.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        day=graph["open"].created_at.date(),
        provider="x",
        model="a-model",
        purpose="answer",
        tokens_read=5,
    )
    SyncRun.objects.create(source=make_source(project), state="failed", error="No key.")
    user = clerk_of(project, "r@acme.test", Role.ADMIN)
    text = page_of(client, user)
    assert "No key." in text
    body = text.partition('class="fabric-dashboard"')[2]
    links = {
        link.replace("&amp;", "&") for link in re.findall(r'href="(/[^"]+)"', body)
    }
    assert len(links) >= 15
    refused = [link for link in links if client.get(link).status_code != 200]
    assert refused == []


def test_an_empty_project_says_what_to_do_first_instead_of_empty_charts(
    client: Client, project: Project, graph: dict[str, Node]
) -> None:
    empty = make_project("acme/empty")
    user = clerk_of(empty, "r@acme.test", Role.ADMIN)
    bare = page_of(client, user)
    assert "Nothing is in acme/empty yet." in bare
    assert "manage.py ingest folder PATH --project acme/empty" in bare
    assert "data-figure" not in bare
    make_node(empty)  # read, and not counted yet
    assert "Nothing is in" not in page_of(client, user)
    project.memberships.create(user=user, role=Role.ADMIN)
    full = page_of(client, user, project="acme/main")
    assert "Nothing is in" not in full
    assert full.count("data-figure") >= 8
    assert len(re.findall(r'data-unit="[a-z ]+"', full)) == full.count("data-figure")


def test_the_answers_lead_those_who_read_the_audit_to_who_asked(
    client: Client, project: Project, graph: dict[str, Node]
) -> None:
    count_figures(project)
    today = timezone.localdate()
    DailyFigure.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        day=today,
        name="answers",
        label="grounded",
        value=3,
        counted_at=timezone.now(),
    )
    asked = "verb=question.asked&amp;at_from_0="
    admin_page = page_of(client, clerk_of(project, "a@acme.test", Role.ADMIN))
    assert "with sources" in admin_page
    assert f"{asked}{today}" in admin_page
    reviewer = clerk_of(project, "r@acme.test", Role.REVIEWER)
    assert asked not in page_of(client, reviewer)


def test_what_no_role_opens_is_not_on_the_dashboard(
    client: Client, project: Project, graph: dict[str, Node]
) -> None:
    for role, sees in ((Role.ADMIN, True), (Role.REVIEWER, False)):
        text = page_of(client, clerk_of(project, f"{role}@acme.test", role))
        assert ("Audit rows sealed" in text) is sees
        assert ("Tokens of models" in text) is sees
        assert "What came in" in text


def test_the_first_page_reads_few_rows_however_large_the_graph_is(
    client: Client,
    project: Project,
    graph: dict[str, Node],
    django_assert_max_num_queries,
) -> None:
    user = clerk_of(project, "r@acme.test", Role.ADMIN)
    client.force_login(user)
    with django_assert_max_num_queries(50) as asked:
        client.get(reverse("admin:index"))
    # What waits in a queue is counted up to a bound.
    counted = [
        q["sql"]
        for q in asked.captured_queries
        if "COUNT(" in q["sql"] and " LIMIT " not in q["sql"]
    ]
    assert counted == []


def test_the_sidebar_has_each_registered_list_once() -> None:
    shown = [
        s.model for group in SECTIONS.values() for s in group if isinstance(s, Section)
    ]
    ours = ("connections", "graph", "memory", "retrieval")
    registered = {m for m in admin.site._registry if m._meta.app_label in ours}
    assert len(shown) == len(set(shown)) >= 25
    assert registered - set(shown) == set()


def test_every_list_says_what_to_do_when_it_is_empty() -> None:
    ours = [
        s.model._meta.label_lower
        for group in SECTIONS.values()
        for s in group
        if isinstance(s, Section)
    ]
    assert len(ours) >= 25
    assert [label for label in ours if label not in EMPTY] == []
    for empty in EMPTY.values():
        if empty.address:
            assert reverse(empty.address)


class TestPalette:
    @pytest.fixture
    def clerk(self, project: Project) -> User:
        return clerk_of(project, "c@acme.test", Role.EDITOR)

    def found(self, client: Client, user: User, words: str) -> str:
        client.force_login(user)
        answer = client.get("/admin/search/", {"s": words, "extended": "1"})
        assert answer.status_code == 200
        return answer.content.decode()

    def test_it_finds_pages_views_and_rows(
        self, client: Client, clerk: User, graph: dict[str, Node]
    ) -> None:
        SavedView.objects.create(owner=clerk, name="My open ones", model="graph.node")
        text = self.found(client, clerk, "open")
        assert "My open ones" in text
        assert "open 0" in text
        assert reverse("admin:graph_node_change", args=[graph["open"].pk]) in text
        assert reverse("admin:graph_edge_changelist") in self.found(
            client, clerk, "edges"
        )

    def test_it_finds_nothing_of_a_closed_channel_or_another_tenant(
        self,
        client: Client,
        clerk: User,
        other_project: Project,
        graph: dict[str, Node],
    ) -> None:
        stranger = clerk_of(other_project, "s@strangers.test", Role.ADMIN)
        assert "secret" not in self.found(client, clerk, "secr")
        assert "open 0" not in self.found(client, stranger, "open")
        assert "open 0" in self.found(client, clerk, "open")

    def test_it_forgets_what_was_closed_since(
        self, client: Client, project: Project, clerk: User, graph: dict[str, Node]
    ) -> None:
        assert "open 0" in self.found(client, clerk, "open")
        project.memberships.filter(user=clerk).delete()
        assert "open 0" not in self.found(client, clerk, "open")

    def test_without_words_or_without_staff_there_is_nothing(
        self, client: Client, member: User, clerk: User
    ) -> None:
        assert self.found(client, clerk, "  ") == ""
        client.force_login(member)
        assert client.get("/admin/search/", {"s": "open"}).status_code == 302
