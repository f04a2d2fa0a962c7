"""The page of the memory graph: what it lists, what fed it, for whom."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from connections.models import Project, User
from graph.embed import embed_backlog
from tests.memory.making import make_conversation, make_observation

pytestmark = pytest.mark.django_db
PAGE = "/memory/graph/"


@pytest.fixture
def page(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


def text_of(client: Client, status: int = 200, **query: object) -> str:
    answer = client.get(PAGE, query)
    assert answer.status_code == status
    return answer.content.decode()


def test_it_lists_what_the_reader_remembers_with_its_ties(
    page: Client, project: Project, member: User
) -> None:
    fact = make_observation(project, member, "The <key> is Hollis's.", subject="Key")
    talk = make_conversation(project, member, "Who has the key?", "")
    text = text_of(page)
    assert "The &lt;key&gt; is Hollis" in text
    assert reverse("node", args=[fact.node_id]) in text
    assert reverse("conversation", args=[talk.pk]) in text
    assert '<span class="quiet">about</span> key' in text
    assert (
        'data-endpoint="/api/v1/memory/graph?project=acme%2Fmain&amp;limit=60"' in text
    )
    assert "/api/v1/memory/environments" in text
    assert "256 dimensions" in text


def test_two_users_of_one_project_see_their_own(
    project: Project, member: User, outsider: User, stranger: User, client: Client
) -> None:
    make_observation(project, member, "Mine alone.")
    shared = make_conversation(project, member, "Asked and shared?", "")
    for user, is_there in ((member, True), (outsider, False), (stranger, False)):
        client.force_login(user)
        assert ("Mine alone." in text_of(client)) == is_there
    client.force_login(stranger)
    assert client.get(PAGE, {"project": project.path}).status_code == 404
    shared.audience = project.audiences.get_or_create(
        tenant_id=project.tenant_id, kind="public", key=""
    )[0]
    shared.save()
    client.force_login(outsider)
    text = text_of(client)
    assert "Asked and shared?" in text
    assert reverse("conversation", args=[shared.pk]) not in text


def test_a_query_names_the_retrievers_of_each_result(
    page: Client, project: Project, member: User
) -> None:
    make_observation(project, member, "The compressor of the fridge is new.")
    embed_backlog(project.pk)
    text = text_of(page, query="compressor")
    assert "keyword #1" in text
    assert "vector #1" in text
    assert "query=compressor" in text


def test_the_same_is_kept_in_the_page_and_in_its_endpoint(
    page: Client, project: Project, member: User
) -> None:
    for n in range(3):
        make_observation(project, member, f"fact {n}")
    asked = {"types": ["fact", "meta"], "min_degree": 2, "limit": 2}
    answer = page.get(PAGE, asked)
    given = page.get(answer.context["endpoint"]).json()
    assert given["statistics"] == answer.context["statistics"]
    assert "There is more than the limit of 2" in answer.content.decode()
    listed = [row.node.id for group in answer.context["groups"] for row in group.rows]
    assert sorted(listed) == sorted(node["id"] for node in given["nodes"])


@pytest.mark.parametrize(
    "asked", [{"types": "person"}, {"limit": 0}, {"limit": 5001}, {"min_degree": "x"}]
)
def test_what_cannot_be_asked_is_said(page: Client, project, asked: dict) -> None:
    text = text_of(page, 400, **asked)
    assert 'role="alert"' in text
    assert f"{next(iter(asked))}: " in text


def test_an_empty_memory_says_how_it_fills(page: Client, project: Project) -> None:
    assert "Nothing is remembered here yet" in text_of(page)
    assert "Nothing remembered fits that" in text_of(page, query="x")


def test_who_is_not_signed_in_or_in_no_project_is_told(
    client: Client, user: User
) -> None:
    assert client.get(PAGE).url.startswith(reverse("login"))
    client.force_login(user)
    assert "not in a project yet" in text_of(client)


def test_pages_of_memory_are_not_kept_by_caches(page: Client, project: Project) -> None:
    assert page.get(PAGE)["Cache-Control"] == "private, no-store"
