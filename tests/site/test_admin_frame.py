"""What stands around every page of the admin: where one is, dates, history."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from connections.models import Audit, Project, Role, User
from tests.factories import make_member, make_node, make_review_item

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(project: Project) -> Client:
    user = make_member(project, "admin@acme.test", Role.ADMIN)
    User.objects.filter(pk=user.pk).update(is_staff=True)
    client = Client()
    client.force_login(user)
    return client


def heading_of(page: str) -> str:
    """Return the words of the one first heading of a page."""
    (found,) = re.findall(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
    words = " ".join(re.sub(r"<[^>]+>", "", found).split())
    return words.replace("\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", ">")


def test_the_heading_says_where_one_is_in_the_words_of_the_navigation(
    project: Project, client: Client
) -> None:
    node = make_node(project, title="Prices & <terms>", node_type="decision")
    item = make_review_item(project, node, kind="duplicate")
    seen = {
        address: heading_of(client.get(address).content.decode())
        for address in (
            reverse("admin:index"),
            reverse("admin:graph_reviewitem_changelist"),
            reverse("admin:graph_reviewitem_change", args=[item.pk]),
            reverse("admin:graph_node_change", args=[node.pk]),
            reverse("admin:graph_stalethreshold_changelist"),
            reverse("admin:graph_erasure_person"),
            reverse("admin:connections_database_add"),
        )
    }
    assert list(seen.values()) == [
        "Dashboard",
        "Review",
        "Review > Duplicate",
        "Knowledge > Nodes > Prices &amp; &lt;terms&gt;",
        "Review > Stale after",
        "History > Erasures > Erase for good",
        "Databases > Add database",
    ]


def test_all_of_a_list_is_offered_only_where_not_all_is_shown(
    project: Project, client: Client
) -> None:
    make_node(project)
    address = reverse("admin:graph_node_changelist")
    assert b"show all</a>" not in client.get(address).content
    filtered = client.get(address, {"node_type": "message"}).content.decode()
    assert '1 found, <a href="?">show all</a>' in filtered


def test_the_navigation_and_the_search_are_buttons_with_names(client: Client) -> None:
    page = client.get(reverse("admin:index")).content.decode()
    assert page.count('aria-label="Show or hide the navigation"') == 2
    assert re.search(r"<button[^>]*opencommand[^>]*>.*Search or go to…", page)
    assert "admin.js" in page


def test_moments_are_written_with_a_month_and_24_hours(
    project: Project, client: Client
) -> None:
    row = Audit.objects.create(
        verb="question.asked",
        target="9bf6c026-8e2d-48ef-a41a-76f895ab440c",
        tenant=project.tenant,
        project=project,
    )
    page = client.get(reverse("admin:connections_audit_changelist")).content.decode()
    assert f"{row.at:%-d %b %Y, %H:%M}" in page
    assert "a.m." not in page
    assert "p.m." not in page
    assert ">conversation 9bf6c026</a>" in page  # a link, and no bare id


def test_what_was_never_changed_leads_to_the_audit_and_an_audit_row_has_no_history(
    project: Project, client: Client
) -> None:
    node = make_node(project)
    page = client.get(reverse("admin:graph_node_history", args=[node.pk]))
    audit = reverse("admin:connections_audit_changelist")
    assert f'href="{audit}?q=node:{node.pk}"' in page.content.decode()
    row = Audit.objects.create(
        verb="source.read", target="x", tenant=project.tenant, project=project
    )
    shown = client.get(reverse("admin:connections_audit_change", args=[row.pk]))
    history = reverse("admin:connections_audit_history", args=[row.pk])
    assert shown.status_code == 200
    assert history not in shown.content.decode()
