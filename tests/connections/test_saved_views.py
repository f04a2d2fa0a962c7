"""Lists kept under a name: whose they are, with whom shared, and what may be kept."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from connections.models import Audit, Project, Role, SavedView, User
from connections.saved_views import address_of_view
from tests.factories import make_member

pytestmark = pytest.mark.django_db
KEEP = "admin:connections_savedview_keep"


def clerk_of(project: Project, email: str, role: Role) -> User:
    """Make a member who may open the lists of the admin."""
    user = make_member(project, email, role)
    User.objects.filter(pk=user.pk).update(is_staff=True)
    views = Permission.objects.filter(codename__startswith="view_")
    user.user_permissions.set(views)
    return User.objects.get(pk=user.pk)


@pytest.fixture
def editor(project: Project) -> User:
    return clerk_of(project, "editor@acme.test", Role.EDITOR)


def keep(client: Client, user: User, **given: object):
    client.force_login(user)
    data = {"name": "Old mails", "model": "graph.node", "query": "node_type=email"}
    return client.post(reverse(KEEP), data | given, follow=True)


def seen_by(user: User, client: Client) -> bool:
    client.force_login(user)
    page = client.get(reverse("admin:graph_node_changelist"))
    assert page.status_code == 200
    return "Old mails" in page.content.decode()


def test_a_view_is_its_owners_until_it_is_shared(
    client: Client, project: Project, other_project: Project, editor: User
) -> None:
    other = clerk_of(project, "viewer@acme.test", Role.VIEWER)
    stranger = clerk_of(other_project, "staff@strangers.test", Role.ADMIN)
    keep(client, editor)
    assert [seen_by(user, client) for user in (editor, other, stranger)] == [
        True,
        False,
        False,
    ]
    SavedView.objects.update(shared_with=project)
    assert [seen_by(user, client) for user in (editor, other, stranger)] == [
        True,
        True,
        False,
    ]
    assert Audit.objects.filter(verb="view.saved").count() == 1


def test_what_is_of_one_visit_is_not_kept(client: Client, editor: User) -> None:
    keep(client, editor, query="?node_type=email&p=3&_popup=1&e=1&o=-2&q=")
    view = SavedView.objects.get()
    assert view.query == "node_type=email&o=-2"
    assert address_of_view(view) == "/admin/graph/node/?node_type=email&o=-2"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"query": "audience__members__user__password__startswith=a"},
            "no such filter",
        ),
        ({"query": "nothing=1"}, "no such filter"),
        ({"query": "node_type=" + "a" * 2100}, "too long"),
        ({"name": "   "}, "Give the view a name"),
        ({"name": "a" * 90}, "Give the view a name"),
    ],
)
def test_a_list_that_would_not_open_is_refused_with_the_reason(
    client: Client, editor: User, given: dict[str, str], said: str
) -> None:
    assert said in keep(client, editor, **given).content.decode()
    assert not SavedView.objects.exists()


@pytest.mark.parametrize("label", ["", "auth.permission", "https://x", "../x", "a.b.c"])
def test_only_lists_of_the_admin_are_kept(
    client: Client, editor: User, label: str
) -> None:
    assert keep(client, editor, model=label).status_code == 403
    assert not SavedView.objects.exists()


def test_a_list_that_is_closed_to_one_is_not_kept(client: Client, editor: User) -> None:
    keep(client, editor, model="connections.modelusage", query="")
    assert not SavedView.objects.exists()


def test_a_view_leads_nowhere_but_to_a_list_of_ours(editor: User) -> None:
    view = SavedView(owner=editor, name="x", model="//evil.test/", query="a=1")
    assert address_of_view(view) == ""
    view.model, view.query = "graph.node", "//evil.test"
    assert address_of_view(view).startswith("/admin/graph/node/?")


def test_a_name_is_given_once_for_each_list(client: Client, editor: User) -> None:
    keep(client, editor)
    assert "already" in keep(client, editor).content.decode()
    keep(client, editor, model="graph.edge", query="")
    assert SavedView.objects.count() == 2


def test_sharing_needs_an_editor_of_that_project(
    client: Client, project: Project, other_project: Project, editor: User
) -> None:
    viewer = clerk_of(project, "viewer@acme.test", Role.VIEWER)
    assert keep(client, viewer, shared_with=project.pk).status_code == 403
    assert keep(client, editor, shared_with=other_project.pk).status_code == 403
    assert not SavedView.objects.exists()
    keep(client, editor, shared_with=project.pk)
    assert SavedView.objects.get().shared_with == project


def test_only_its_owner_changes_it_and_only_an_admin_removes_anothers(
    client: Client, project: Project, editor: User
) -> None:
    keep(client, editor, shared_with=project.pk)
    view = SavedView.objects.get()
    change = reverse("admin:connections_savedview_change", args=[view.pk])
    remove = reverse("admin:connections_savedview_delete", args=[view.pk])
    reviewer = clerk_of(project, "reviewer@acme.test", Role.REVIEWER)
    admin = clerk_of(project, "admin@acme.test", Role.ADMIN)
    client.force_login(reviewer)
    assert client.post(change, {"name": "Mine now"}).status_code == 403
    assert client.post(remove, {"post": "yes"}).status_code == 403
    client.force_login(editor)
    client.post(change, {"name": "Very old mails", "shared_with": project.pk})
    view.refresh_from_db()
    assert view.name == "Very old mails"
    history = reverse("admin:connections_savedview_history", args=[view.pk])
    assert "Name" in client.get(history).content.decode()
    client.force_login(admin)
    client.post(remove, {"post": "yes"})
    assert not SavedView.objects.exists()
    assert Audit.objects.get(verb="view.removed").actor == admin


def test_what_a_view_shows_is_read_as_its_reader_may_see_it(
    client: Client, other_project: Project, project: Project, editor: User
) -> None:
    keep(client, editor, query=f"project={other_project.pk}", shared_with=project.pk)
    page = client.get(address_of_view(SavedView.objects.get()))
    assert page.context["cl"].result_count == 0
