"""RULE: a community's words are of what its reader may see, and no longer than that."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from graph.models import Node
from graph.removal import remove_project
from retrieval.communities import refresh, swap
from retrieval.communities.reading import read_graph, read_rows
from retrieval.communities.refresh import (
    RefreshBusy,
    due_projects,
    note_growth,
    refresh_communities,
)
from retrieval.models import Community, CommunityMember, CommunityRun
from retrieval.tasks import refresh_due_communities, refresh_project_communities
from tests.factories import (
    draft_channel,
    draft_message,
    make_audience,
    make_edge,
    make_node,
    take_in,
)
from tests.retrieval.communities.worlds import (
    CAKES,
    SECRETS,
    find_all,
    make_company,
    make_talk,
)

pytestmark = pytest.mark.django_db
SECRET_WORDS = {"nightingale", "velkast", "shipyard", "board", "lawyers", "millions"}


def words(rows):
    said = [
        f"{each.title} {each.summary} {each.lexemes} {each.title_lexemes}".lower()
        for each in rows
    ]
    return " ".join(said)


def members(community):
    rows = CommunityMember.objects.filter(community=community)
    return set(rows.values_list("node__key", flat=True))


def community_of(node):
    return Community.objects.get(members__node=node)


def test_each_talk_is_a_community_with_a_title_and_a_summary_of_its_words(project):
    talks = make_company(project)
    find_all(project)
    cakes = community_of(talks["cakes"][0])
    assert cakes.title == "Lemon cake, canteen"
    assert members(cakes) == {n.key for n in talks["cakes"]} | {"slack:cakes"}
    assert (cakes.size, cakes.types) == (5, {"message": 4, "channel": 1})
    assert cakes.share == pytest.approx(0.5)
    assert len(cakes.summary) >= 2
    said = {node.pk: node.content for node in talks["cakes"]}
    assert all(each["text"] in said[each["node_id"]] for each in cakes.summary)
    assert cakes.embedding is not None
    assert cakes.key == f"community:{cakes.pk}"


def test_a_run_names_its_algorithm_and_what_it_found(project):
    make_company(project)
    find_all(project)
    run = CommunityRun.objects.get(project=project)
    assert (run.algorithm, run.resolution) == ("Leiden (modularity)", 0.5)
    assert (run.communities, run.nodes, run.edges) == (3, 15, 29)
    assert run.due_since is None
    assert run.modularity > 0.3


def test_three_users_each_see_the_communities_of_their_own_audiences(
    project, other_project, member, outsider, stranger
):
    make_company(project, member)
    make_talk(other_project, "theirs", CAKES)
    find_all(project)
    find_all(other_project)
    seen = {
        user: set(Community.objects.visible_to(user).values_list("title", flat=True))
        for user in (member, outsider, stranger)
    }
    assert len(seen[member]) == 3
    assert seen[outsider] == {t for t in seen[member] if "ightingale" not in t}
    assert len(seen[outsider]) == 2
    assert seen[stranger] == {"Lemon cake, canteen"}
    assert Community.objects.visible_to(stranger).get().project == other_project
    assert not any(
        word in words(Community.objects.visible_to(outsider)) for word in SECRET_WORDS
    )
    assert "nightingale" in words(Community.objects.visible_to(member))


def test_what_is_private_does_not_even_decide_which_public_things_belong_together(
    project,
):
    """The board's messages tie both talks strongly; to the public it changes nothing."""
    talks = make_company(project)
    board = make_audience(project, "slack:board")
    for first, second in zip(talks["cakes"], talks["pumps"], strict=True):
        make_edge(first, second, audience=board, weight=99.0)
    find_all(project)
    of_talks = [{community_of(node).pk for node in talks[name]} for name in talks]
    assert all(len(each) == 1 for each in of_talks)
    assert len(set.union(*of_talks)) == 3
    Node.objects.filter(key__startswith="slack:board").delete()
    before = {
        each.pk: members(each)
        for each in (community_of(talks[name][0]) for name in ("pumps", "cakes"))
    }
    refresh_communities(project, afresh=True)
    assert {c.pk: members(c) for c in Community.objects.all()} == before


def test_a_message_that_becomes_private_takes_its_words_along_at_once(
    project, outsider
):
    talks = make_company(project)
    find_all(project)
    cakes = community_of(talks["cakes"][0])
    Node.objects.filter(pk=talks["cakes"][0].pk).update(
        audience=make_audience(project, "slack:cakes")
    )
    cakes.refresh_from_db()
    assert (cakes.title, cakes.summary, cakes.lexemes) == ("", [], [])
    assert cakes.embedding is None
    assert talks["cakes"][0].key not in members(cakes)
    assert project.pk in due_of(project)
    find_all(project)
    cakes.refresh_from_db()
    assert cakes.title
    assert "anniversary" not in words([cakes])


@pytest.mark.parametrize(
    "change", [{"trashed_at": timezone.now()}, {"content": "x"}, {"title": "x"}, None]
)
def test_words_that_are_pruned_corrected_or_erased_leave_the_community(project, change):
    talks = make_company(project)
    find_all(project)
    cakes = community_of(talks["cakes"][0])
    node = Node.objects.filter(pk=talks["cakes"][0].pk)
    if change:
        node.update(**change)
    else:
        node.delete()
    cakes.refresh_from_db()
    assert (cakes.title, cakes.summary) == ("", [])
    assert CommunityRun.objects.get(project=project).due_since


def test_a_change_of_what_is_not_quoted_leaves_the_text(project):
    talks = make_company(project)
    find_all(project)
    cakes = community_of(talks["cakes"][0])
    Node.objects.filter(pk=talks["cakes"][0].pk).update(confirmed_at=timezone.now())
    Node.objects.filter(key="slack:cakes").update(title="#bakery")
    cakes.refresh_from_db()
    assert cakes.title


def test_what_changes_while_communities_are_found_does_not_come_in_by_the_back_door(
    project, monkeypatch
):
    """The node changes between reading the graph and putting communities in place."""
    talks = make_company(project)
    find_all(project)
    private = make_audience(project, "slack:cakes")
    staging = swap._stage

    def stage(*args):
        Node.objects.filter(pk=talks["cakes"][0].pk).update(audience=private)
        Node.objects.filter(pk=talks["pumps"][0].pk).update(content="Corrected.")
        staging(*args)

    monkeypatch.setattr(swap, "_stage", stage)
    refresh_communities(project)
    assert "anniversary" not in words(Community.objects.all())
    assert "night shift" not in words(Community.objects.all())
    assert not CommunityMember.objects.filter(node=talks["cakes"][0]).exists()
    assert CommunityRun.objects.get(project=project).due_since


def test_a_second_refresh_of_the_same_graph_changes_no_community(project):
    make_company(project)
    find_all(project)
    before = {c.pk: (c.title, members(c)) for c in Community.objects.all()}
    found = refresh_communities(project)
    assert {c.pk: (c.title, members(c)) for c in Community.objects.all()} == before
    assert (found.communities, found.kept) == (3, 3)


@pytest.mark.parametrize("afresh", [False, True])
def test_a_community_that_grows_keeps_its_id(project, afresh):
    talks = make_company(project)
    find_all(project)
    cakes = community_of(talks["cakes"][0])
    more = make_node(project, "slack:cakes:9", "Is there lemon cake left?")
    make_edge(more, talks["cakes"][-1], "replied_to")
    refresh_communities(project, afresh=afresh)
    assert community_of(more).pk == cakes.pk


def test_a_community_whose_nodes_are_gone_goes_with_them(project):
    talks = make_company(project)
    find_all(project)
    gone = community_of(talks["pumps"][0]).pk
    Node.objects.filter(key__startswith="slack:pumps").delete()
    refresh_communities(project)
    assert not Community.objects.filter(pk=gone).exists()
    assert Community.objects.count() == 2


def test_killed_before_its_end_a_refresh_leaves_the_old_communities_whole(
    project, monkeypatch
):
    talks = make_company(project)
    find_all(project)
    before = {c.pk: (c.title, members(c)) for c in Community.objects.all()}
    Node.objects.filter(key__in=[n.key for n in talks["cakes"][:2]]).update(
        valid_to=timezone.now() - timedelta(days=1)
    )

    def killed(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(swap, "_note", killed)
    with pytest.raises(KeyboardInterrupt):
        refresh_communities(project)
    assert {c.pk: (c.title, members(c)) for c in Community.objects.all()} == before


def test_an_empty_project_has_no_communities(project):
    found = refresh_communities(project)
    assert (found.communities, found.nodes, found.modularity) == (0, 0, None)
    assert not Community.objects.exists()


def test_two_refreshes_of_one_project_do_not_run_at_once(project, monkeypatch):
    def taken(statement, params):
        return [(False,)]

    monkeypatch.setattr(refresh, "fetch", taken)
    with pytest.raises(RefreshBusy, match="acme/main are being found"):
        refresh_communities(project)


def test_a_graph_is_read_whole_in_blocks_and_of_one_project(
    project, other_project, monkeypatch
):
    make_company(project)
    make_talk(other_project, "theirs", SECRETS)
    monkeypatch.setattr("retrieval.communities.reading._BLOCK", 100)
    graph = read_graph(project)
    mine = Node.objects.of(project).order_by("pk")
    assert graph.ids.tolist() == list(mine.values_list("pk", flat=True))
    assert graph.has_text.sum() == 12
    assert len(graph.sources) == 29
    ends = set(graph.ids[graph.sources]) | set(graph.ids[graph.targets])
    assert ends <= set(graph.ids)


def test_rows_come_as_they_are_stored(db):
    rows = read_rows(
        "COPY (SELECT g::bigint, -g::bigint, g / 4.0::float8"
        "        FROM generate_series(1, %(most)s) g) TO STDOUT (FORMAT binary)",
        {"most": 3},
        "id other weight",
    )
    assert rows.tolist() == [(1, -1, 0.25), (2, -2, 0.5), (3, -3, 0.75)]
    assert (
        read_rows(
            "COPY (SELECT 1::bigint WHERE false) TO STDOUT (FORMAT binary)", {}, "id"
        ).tolist()
        == []
    )


def test_pruned_and_ended_nodes_and_edges_are_not_read(project):
    first, second, third = (make_node(project, f"n{n}", "word") for n in range(3))
    make_edge(first, second)
    make_edge(first, third, valid_to=timezone.now() - timedelta(days=1))
    graph = read_graph(project)
    assert len(graph.sources) == 1
    Node.objects.filter(pk=second.pk).update(trashed_at=timezone.now())
    graph = read_graph(project)
    assert graph.ids.tolist() == [first.pk, third.pk]
    assert len(graph.sources) == 0


def due_of(project, after=timedelta(days=1)):
    return due_projects(timezone.now() + after)


def test_a_run_makes_communities_due_when_the_graph_has_grown_by_a_tenth(project):
    take_in(project, draft_channel(), draft_message(text="Pumps and valves"))
    assert due_of(project) == [project.pk]
    make_company(project)
    find_all(project)
    assert due_of(project) == []
    assert not note_growth(project)
    for n in range(4):
        make_node(project, f"new{n}", "word")
    assert note_growth(project)
    assert due_of(project) == [project.pk]


def test_a_refresh_that_takes_long_is_not_repeated_soon(project):
    run = CommunityRun.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        due_since=timezone.now(),
        refreshed_at=timezone.now(),
        seconds=60,
    )
    assert due_of(project, timedelta(minutes=19)) == []
    assert due_of(project, timedelta(minutes=21)) == [project.pk]
    CommunityRun.objects.filter(pk=run.pk).update(refreshed_at=None)
    assert due_of(project, timedelta(0)) == [project.pk]


def test_the_background_refreshes_what_is_due_and_nothing_else(
    project, other_project, monkeypatch
):
    make_company(project)
    make_talk(other_project, "theirs", CAKES)
    note_growth(project)
    monkeypatch.setattr(
        refresh_project_communities, "delay", refresh_project_communities
    )
    refresh_due_communities()
    assert Community.objects.filter(project=project).count() == 3
    assert not Community.objects.filter(project=other_project).exists()
    assert CommunityRun.objects.get(project=project).due_since is None
    refresh_project_communities(other_project.pk)
    assert not Community.objects.filter(project=other_project).exists()
    refresh_project_communities(0)


def test_a_project_that_is_removed_takes_its_communities_along(project, other_project):
    make_company(project)
    make_talk(other_project, "theirs", CAKES)
    find_all(project)
    find_all(other_project)
    remove_project(project)
    assert Community.objects.get().project == other_project
    assert CommunityRun.objects.get().project == other_project


def test_a_member_of_another_project_is_refused_by_the_database(project, other_project):
    make_company(project)
    find_all(project)
    node = make_node(other_project, "theirs", "word")
    row = CommunityMember(
        tenant_id=project.tenant_id,
        project=project,
        community=Community.objects.first(),
        node=node,
        centrality=1,
    )
    with pytest.raises(IntegrityError, match="in_project"):
        row.save()
