"""The admin of access and sources: whose rows it shows, and what it asks before."""

from __future__ import annotations

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from connections.admin_scope import BoundedPaginator, capped_count
from connections.models import (
    ApiToken,
    Audit,
    Project,
    Role,
    SyncError,
    SyncRun,
    User,
    UserAddress,
    record_audit,
)
from tests.factories import make_audience, make_member, make_source, make_user

pytestmark = pytest.mark.django_db

OURS = [
    model
    for model in admin.site._registry
    if model._meta.app_label in ("connections", "graph", "memory")
]


@pytest.fixture
def root(project: Project) -> User:
    user = make_user("root@acme.test", is_staff=True, is_superuser=True)
    project.memberships.create(user=user, role=Role.ADMIN)
    return user


@pytest.fixture
def clerk(project: Project) -> User:
    """Staff with every permission, in one project of one tenant."""
    user = make_member(project, "clerk@acme.test", Role.ADMIN)
    user.is_staff = True
    user.save()
    user.user_permissions.set(Permission.objects.all())
    return user


def listed(client: Client, name: str, **query: str) -> str:
    answer = client.get(reverse(f"admin:{name}_changelist"), query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_every_list_opens_and_its_search_works(
    model: type, root: User, client: Client
) -> None:
    client.force_login(root)
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    listed(client, name)
    assert client.get(
        reverse(f"admin:{name}_changelist"), {"q": "a*("}
    ).status_code in (
        200,
        302,
    )


def test_a_clerk_sees_only_the_rows_of_their_own_projects(
    clerk: User,
    project: Project,
    other_project: Project,
    stranger: User,
    client: Client,
) -> None:
    client.force_login(clerk)
    make_source(other_project, "foreign-source")
    make_source(project, "own-source")
    make_audience(other_project, "foreign-audience", ["x@y.test"])
    ApiToken.objects.issue(
        user=stranger,
        tenant=other_project.tenant,
        name="foreign-token",
        scopes=["read"],
    )
    record_audit("foreign.act", project=other_project)
    sources = listed(client, "connections_source")
    assert "own-source" in sources
    assert "foreign-source" not in sources
    assert stranger.email not in listed(client, "connections_user")
    assert "foreign-audience" not in listed(client, "connections_audience")
    assert "foreign-token" not in listed(client, "connections_apitoken")
    assert "foreign.act" not in listed(client, "connections_audit")
    for name in ("tenant", "project", "membership"):
        assert "strangers" not in listed(client, f"connections_{name}").lower()


def test_a_clerk_cannot_open_anothers_row_by_its_number(
    clerk: User, other_project: Project, stranger: User, client: Client
) -> None:
    client.force_login(clerk)
    for name, pk in (("project", other_project.pk), ("user", stranger.pk)):
        answer = client.get(reverse(f"admin:connections_{name}_change", args=[pk]))
        assert answer.status_code == 302


def test_a_clerk_can_give_nobody_a_place_in_anothers_project(
    clerk: User, other_project: Project, client: Client
) -> None:
    client.force_login(clerk)
    data = {"project": other_project.pk, "user": clerk.pk, "role": "admin"}
    answer = client.post(reverse("admin:connections_membership_add"), data)
    assert answer.status_code == 200
    assert not other_project.memberships.filter(user=clerk).exists()


def test_a_clerk_can_make_nobody_mighty(
    clerk: User, project: Project, client: Client
) -> None:
    client.force_login(clerk)
    own = reverse("admin:connections_user_change", args=[clerk.pk])
    data = {
        "email": clerk.email,
        "name": "Clerk",
        "is_superuser": "on",
        "is_staff": "on",
    }
    for inline in ("addresses", "memberships"):
        data |= {f"{inline}-TOTAL_FORMS": "0", f"{inline}-INITIAL_FORMS": "0"}
    assert client.post(own, data).status_code == 302
    clerk.refresh_from_db()
    assert clerk.name == "Clerk"
    assert not clerk.is_superuser


def test_a_clerk_cannot_change_a_superuser(
    clerk: User, root: User, client: Client
) -> None:
    client.force_login(clerk)
    change = reverse("admin:connections_user_change", args=[root.pk])
    assert client.post(change, {"email": "taken@acme.test"}).status_code == 403
    password = reverse("admin:auth_user_password_change", args=[root.pk])
    new = {"password1": "another long one", "password2": "another long one"}
    assert client.post(password, new).status_code == 403


def test_a_new_users_address_counts_as_theirs(root: User, client: Client) -> None:
    client.force_login(root)
    data = {
        "email": "New@acme.test",
        "name": "New",
        "usable_password": "true",
        "password1": "a rather long one",
        "password2": "a rather long one",
    }
    answer = client.post(reverse("admin:connections_user_add"), data)
    assert answer.status_code == 302
    address = UserAddress.objects.get(address="new@acme.test")
    assert address.verified_at is not None
    assert Audit.objects.filter(verb="user.created").exists()


def test_an_address_belongs_to_one_user(root: User, client: Client) -> None:
    client.force_login(root)
    root.addresses.create(address="taken@acme.test")
    data = {"email": "taken@acme.test", "password1": "x" * 12, "password2": "x" * 12}
    answer = client.post(reverse("admin:connections_user_add"), data)
    assert "another user" in answer.content.decode()


def issue(client: Client, user: User, project: Project) -> str:
    """Return the page that follows on making a token."""
    data = {
        "user": user.pk,
        "tenant": project.tenant_id,
        "name": "reader",
        "scopes": ["read", "ask"],
        "expires_at_0": "01/01/2100",
        "expires_at_1": "00:00:00",
    }
    answer = client.post(reverse("admin:connections_apitoken_add"), data, follow=True)
    return answer.content.decode()


def test_a_tokens_text_is_shown_once_and_works(
    root: User, project: Project, client: Client
) -> None:
    client.force_login(root)
    found = re.search(r"fab_[0-9a-f]{8}_[\w-]{20,}", issue(client, root, project))
    assert found
    token = ApiToken.objects.presented(found[0])
    assert token is not None
    assert token.scopes == ["read", "ask"]
    assert found[0] not in listed(client, "connections_apitoken")
    assert Audit.objects.filter(verb="token.issued").count() == 1


def test_revoking_asks_first_and_then_refuses_the_token(
    root: User, project: Project, client: Client
) -> None:
    client.force_login(root)
    token, text = ApiToken.objects.issue(
        user=root, tenant=project.tenant, name="reader", scopes=["read"]
    )
    address = reverse("admin:connections_apitoken_changelist")
    data = {"action": "revoke", "_selected_action": [str(token.pk)]}
    assert "Revoke these tokens?" in client.post(address, data).content.decode()
    assert ApiToken.objects.presented(text) is not None
    client.post(address, data | {"confirmed": "yes"})
    assert ApiToken.objects.presented(text) is None
    assert Audit.objects.filter(verb="token.revoked").count() == 1


def test_a_source_shows_what_its_last_run_did(
    root: User, project: Project, client: Client
) -> None:
    client.force_login(root)
    source = make_source(project)
    SyncRun.objects.create(source=source, state="failed", seen=3)
    run = SyncRun.objects.create(source=source, state="finished", seen=1234, failed=2)
    SyncError.objects.create(run=run, item="mail-7", error="No header.")
    text = listed(client, "connections_source")
    assert "1,234 seen, 2 failed" in text
    assert "finished" in text
    page = client.get(reverse("admin:connections_syncrun_change", args=[run.pk]))
    assert "mail-7" in page.content.decode()


def test_a_projects_sample_questions_are_written_one_a_line(
    root: User, project: Project, client: Client
) -> None:
    client.force_login(root)
    data = {
        "tenant": project.tenant_id,
        "name": "Main",
        "slug": "main",
        "language": "english",
        "sample_questions": "Who, of us, has the key?\n\n  Where is it?  \n",
        "memberships-TOTAL_FORMS": "0",
        "memberships-INITIAL_FORMS": "0",
    }
    change = reverse("admin:connections_project_change", args=[project.pk])
    assert client.post(change, data).status_code == 302
    project.refresh_from_db()
    assert project.sample_questions == ["Who, of us, has the key?", "Where is it?"]
    assert "Where is it?" in client.get(change).content.decode()


@pytest.mark.parametrize("name", ["source", "syncrun", "audit", "audience"])
def test_what_is_written_elsewhere_cannot_be_added_here(
    name: str, root: User, client: Client
) -> None:
    client.force_login(root)
    assert client.get(reverse(f"admin:connections_{name}_add")).status_code == 403


def test_the_admins_pages_alone_have_the_wider_policy(
    root: User, client: Client
) -> None:
    client.force_login(root)
    policies = {
        path: client.get(path).headers["Content-Security-Policy"]
        for path in (reverse("admin:index"), reverse("chat"))
    }
    assert "unsafe-eval" in policies[reverse("admin:index")]
    assert "unsafe" not in policies[reverse("chat")]


def test_a_count_stops_at_its_bound(project: Project) -> None:
    for n in range(5):
        make_source(project, f"source-{n}")
    rows = project.sources.order_by("name")
    assert capped_count(rows, 3) == 3
    assert capped_count(rows, 9) == 5
    assert BoundedPaginator(rows, 2).num_pages == 3
