from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from connections.models import ApiToken, Tenant
from tests.connections.api.callers import (
    bearer,
    expired_client,
    revoked_client,
    session_client,
    token_client,
)
from tests.factories import make_member, make_project, make_token

URL = "/api/v1/projects/"


def test_a_token_is_its_user(project, member):
    answer = token_client(member, project).get(URL)
    assert [row["project"] for row in answer.json()["results"]] == ["acme/main"]


def test_a_session_is_its_user(project, member):
    assert session_client(member).get(URL).status_code == 200


def test_nobody_is_asked_for_a_token(project):
    answer = APIClient().get(URL)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Bearer realm="fabric"'
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "not_authenticated"


@pytest.mark.parametrize("make_client", [expired_client, revoked_client])
def test_an_ended_token_is_refused(make_client, project, member):
    answer = make_client(member, project).get(URL)
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
    assert "WWW-Authenticate" in answer


@pytest.mark.parametrize(
    "text", ["", "fab", "fab__", "fab_0000", "fab_a\x00aaaaaa_" + "x" * 43, "ä" * 30]
)
def test_what_is_no_token_is_refused(text, db):
    answer = bearer(text).get(URL)
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")


def test_a_token_with_a_changed_secret_is_refused(project, member):
    text = make_token(member, project.tenant)
    swapped = text[:-1] + ("A" if text[-1] != "A" else "B")
    assert bearer(swapped).get(URL).status_code == 401


def test_a_token_of_an_inactive_user_is_refused(project, member):
    client = token_client(member, project)
    member.is_active = False
    member.save()
    assert client.get(URL).status_code == 401


def test_another_scheme_is_nobody(project, member):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION="Basic YTpi")
    assert client.get(URL).json()["code"] == "not_authenticated"


def test_use_is_noted_once_a_minute(project, member):
    client = token_client(member, project)
    client.get(URL)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    client.get(URL)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    client.get(URL)
    assert ApiToken.objects.get().last_used_at >= first
    assert ApiToken.objects.get().last_used_at <= timezone.now()


def test_a_token_opens_only_the_projects_of_its_tenant(project, other_project, member):
    make_member(other_project, member.email)
    ours = token_client(member, project).get(URL).json()["results"]
    theirs = token_client(member, other_project).get(URL).json()["results"]
    both = session_client(member).get(URL).json()["results"]
    assert [row["project"] for row in ours] == ["acme/main"]
    assert [row["project"] for row in theirs] == ["strangers/main"]
    assert {row["project"] for row in both} == {"acme/main", "strangers/main"}


def test_a_token_of_a_tenant_one_is_in_no_project_of_opens_nothing(project, member):
    elsewhere = Tenant.objects.create(slug="elsewhere", name="Elsewhere")
    client = bearer(make_token(member, elsewhere))
    assert client.get(URL).json()["results"] == []


def test_a_session_must_prove_where_a_write_comes_from(project, member):
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(member)
    answer = client.post("/api/v1/search/", {"query": ""})
    assert answer.status_code == 403
    assert "CSRF" in answer.json()["detail"]


def test_a_call_costs_no_more_queries_with_more_projects(
    project, member, django_assert_max_num_queries
):
    for n in range(5):
        make_member(make_project(f"acme/other-{n}"), member.email)
    client = token_client(member, project)
    client.get(URL)
    with django_assert_max_num_queries(2):
        assert len(client.get(URL).json()["results"]) == 6
