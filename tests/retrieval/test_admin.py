"""The admin of communities: three users, each with what they may see."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from connections.models import User
from retrieval.models import Community
from tests.factories import make_audience
from tests.retrieval.communities.worlds import CAKES, find_all, make_company, make_talk

pytestmark = pytest.mark.django_db
LIST = "admin:retrieval_community_changelist"


def desk_of(user: User) -> Client:
    """Sign in as an administrator who has the memberships of `user`."""
    user.is_staff = user.is_superuser = True
    user.save()
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def company(project, other_project, member):
    made = make_company(project, member)
    make_talk(other_project, "theirs", CAKES)
    find_all(project)
    find_all(other_project)
    return made


def page_of(community: Community) -> str:
    return reverse("admin:retrieval_community_change", args=[community.pk])


def test_the_list_has_what_each_may_see(company, member, outsider, stranger):
    def shown(user):
        return desk_of(user).get(reverse(LIST)).content.decode()

    assert "ightingale" in shown(member)
    assert "ightingale" not in shown(outsider)
    assert "Lemon cake, canteen" in shown(outsider)
    assert "50.0 %" in shown(outsider)
    cakes = Community.objects.get(members__node=company["cakes"][0])
    assert page_of(cakes) in shown(outsider)
    assert page_of(cakes) not in shown(stranger)


def test_a_community_shows_its_sentences_and_its_members_with_links(company, member):
    community = Community.objects.get(members__node=company["cakes"][0])
    page = desk_of(member).get(page_of(community)).content.decode()
    assert f"community:{community.pk}" in page
    for sentence in community.summary:
        assert reverse("node", args=[sentence["node_id"]]) in page
    for node in company["cakes"]:
        assert reverse("admin:graph_node_change", args=[node.pk]) in page
    assert "1.00" in page
    assert "Leiden (modularity), resolution 0.5" in page


def test_an_outsider_does_not_reach_a_private_community(company, outsider, stranger):
    secret = Community.objects.get(members__node=company["board"][0])
    for user in (outsider, stranger):
        answer = desk_of(user).get(page_of(secret), follow=True)
        assert "ightingale" not in answer.content.decode()


def test_a_member_node_that_became_private_is_not_shown(project, company, outsider):
    community = Community.objects.get(members__node=company["cakes"][0])
    node = company["cakes"][0]
    node.audience = make_audience(project, "slack:other")
    node.save()
    page = desk_of(outsider).get(page_of(community)).content.decode()
    assert "anniversary" not in page
    assert "Its words changed" in page


def test_it_stands_in_the_sidebar(company, member):
    page = desk_of(member).get(reverse("admin:index")).content.decode()
    assert reverse(LIST) in page
