"""Everything around a node that has a date, in order, to those who may see it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from graph.models import Evidence, Node
from graph.timeline import NEWEST, OLDEST, Place, timeline
from tests.factories import (
    NOON,
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_edge,
    make_node,
    make_record,
    take_in,
)

DAY = timedelta(days=1)


@pytest.fixture
def nodes(project, member):
    make_audience(project)
    return Node.objects.visible_to(member).current()


def told(nodes, node, **options):
    found = timeline(nodes, node.pk, project=node.project, **{"limit": 100, **options})
    keys = dict(Node.objects.values_list("pk", "key"))
    return [
        (moment.kind, keys[moment.node_id], moment.relation) for moment in found.moments
    ]


def at(number):
    return NOON + number * DAY


def test_what_happened_to_a_node_and_around_it_comes_in_order(project, nodes):
    node = make_node(
        project,
        "decision",
        occurred_at=at(0),
        valid_from=at(1),
        confirmed_at=at(4),
        gone_at=at(6),
    )
    post = make_node(project, "post", occurred_at=at(3))
    make_edge(post, node, "mentions", occurred_at=at(2))
    topic = make_node(project, "topic")
    make_edge(node, topic, "about", valid_from=at(2), valid_to=at(5))
    undated = make_node(project, "undated")
    make_edge(node, undated, "about")
    assert told(nodes, node) == [
        ("said", "decision", ""),
        ("valid", "decision", ""),
        ("edge_began", "topic", "about"),
        ("item", "post", "mentions"),
        ("confirmed", "decision", ""),
        ("edge_ended", "topic", "about"),
        ("gone", "decision", ""),
    ]
    assert told(nodes, node, order=NEWEST) == told(nodes, node)[::-1]
    assert told(nodes, node, relations=["mentions"]) == [("item", "post", "mentions")]
    assert told(nodes, undated) == [("item", "decision", "about")]


def test_a_person_has_what_they_wrote_and_a_channel_its_posts(project, nodes):
    take_in(
        project,
        draft_channel(),
        draft_account("U1", "Ann Lee", "ann@acme.test"),
        *(draft_message(f"{n}.000001", f"Word {n}") for n in (3, 1, 2)),
    )
    posts = [f"slack:C1:{n}.000001" for n in (1, 2, 3)]
    person = Node.objects.get(node_type="person")
    channel = Node.objects.get(node_type="channel")
    wrote = told(nodes, person, relations=["sent_by"])
    assert [key for _, key, _ in wrote] == posts
    assert [k for kind, k, _ in told(nodes, channel) if kind == "item"] == posts


def test_a_meeting_has_its_sentences_in_their_order(project, nodes):
    meeting = make_node(project, "meeting", node_type="meeting", occurred_at=NOON)
    for number in (2, 0, 1):
        said = NOON + timedelta(seconds=number + 1)
        sentence = make_node(project, f"meeting:{number}", occurred_at=said)
        make_edge(sentence, meeting, "part_of", position=Decimal(number))
    keys = [key for _, key, _ in told(nodes, meeting)]
    assert keys == ["meeting", "meeting:0", "meeting:1", "meeting:2"]


def test_evidence_of_other_records_is_a_moment_and_its_own_is_not(
    project, member, outsider
):
    node = make_node(project, "topic", occurred_at=NOON)
    closed = make_audience(project, "G1", [member])
    for key, audience in (("r1", make_audience(project)), ("r2", closed)):
        record = make_record(project, key, audience=audience, occurred_at=at(1))
        Evidence.objects.create(
            tenant_id=project.tenant_id, project=project, record=record, node=node
        )
    kinds = [
        [kind for kind, _, _ in told(Node.objects.visible_to(user), node)]
        for user in (member, outsider)
    ]
    assert kinds == [["said", "evidence", "evidence"], ["said", "evidence"]]


def test_nothing_of_it_is_what_a_reader_may_not_see(
    project, member, outsider, stranger
):
    node = make_node(project, "hub", occurred_at=NOON)
    closed, public = make_audience(project, "G1", [member]), node.audience
    hidden = make_node(project, "hidden", audience=closed, occurred_at=NOON)
    make_edge(hidden, node, audience=public, valid_from=at(-1))
    seen = make_node(project, "seen", occurred_at=NOON)
    make_edge(seen, node, audience=closed, valid_from=at(-1))
    counts = [
        len(told(Node.objects.visible_to(user), node))
        for user in (member, outsider, stranger)
    ]
    assert counts == [5, 1, 0]
    assert told(Node.objects.visible_to(outsider), hidden) == []


def test_a_node_of_another_project_has_no_moments_here(project, other_project, nodes):
    theirs = make_node(other_project, "theirs", occurred_at=NOON)
    assert timeline(nodes, theirs.pk, project=project, limit=5).moments == ()
    none = Node.objects.none()
    assert timeline(none, theirs.pk, project=other_project, limit=5).moments == ()


def test_as_of_a_day_there_is_nothing_later_and_nothing_that_had_ended(project, nodes):
    node = make_node(project, "n", occurred_at=at(0))
    early, late, ended = (
        make_node(project, key, occurred_at=at(day))
        for key, day in (("early", 1), ("late", 5), ("ended", 1))
    )
    for other in (early, late):
        make_edge(other, node)
    make_edge(ended, node, valid_to=at(2))
    assert told(nodes, node, as_of=at(3)) == [
        ("said", "n", ""),
        ("item", "early", "mentions"),
        ("edge_ended", "ended", "mentions"),
    ]
    assert ("item", "ended", "mentions") in told(nodes, node, as_of=at(1))
    Node.objects.filter(pk=early.pk).update(valid_to=at(2))
    past = Node.objects.filter(pk__in=nodes).as_of(at(3))
    assert told(past, node, as_of=at(3)) == [
        ("said", "n", ""),
        ("edge_ended", "ended", "mentions"),
    ]


@pytest.mark.parametrize("order", [OLDEST, NEWEST])
def test_pages_hold_every_moment_once_whatever_their_size(order, project, nodes):
    node = make_node(project, "n", occurred_at=NOON, valid_from=NOON, confirmed_at=NOON)
    for number in range(5):
        other = make_node(project, f"o{number}", occurred_at=NOON)
        make_edge(other, node, valid_from=NOON)
    whole = told(nodes, node, order=order)
    assert len(whole) == 13
    for limit in (1, 3, 13, 14):
        seen, place, pages = [], None, 0
        while pages == 0 or place:
            page = timeline(
                nodes,
                node.pk,
                project=project,
                limit=limit,
                order=order,
                after=place and Place.of_cursor(place.cursor),
            )
            seen += [moment.place for moment in page.moments]
            place, pages = page.next, pages + 1
        assert pages == -(-13 // limit)
        assert len(set(seen)) == len(seen) == 13


def test_a_loop_is_one_moment_of_each_kind(project, nodes):
    node = make_node(project, "n", occurred_at=NOON)
    make_edge(node, node, valid_from=NOON)
    assert [kind for kind, *_ in told(nodes, node)] == ["edge_began", "said"]


def test_a_timeline_is_one_query(project, nodes, django_assert_num_queries):
    node = make_node(project, "n", occurred_at=NOON)
    for number in range(5):
        make_edge(node, make_node(project, f"o{number}", occurred_at=NOON))
    with django_assert_num_queries(1):
        assert len(timeline(nodes, node.pk, project=project, limit=9).moments) == 6


def test_a_queryset_with_a_percent_sign_is_bound_as_it_is(project, nodes):
    node = make_node(project, "100%s", occurred_at=NOON)
    wanted = nodes.filter(key__contains="%").extra(where=["'%%s' <> ''"])
    assert len(timeline(wanted, node.pk, project=project, limit=5).moments) == 1


@pytest.mark.parametrize(
    "cursor",
    ["x", "é", "e30", "W10", "WzEsMiwzXQ", "bnVsbA", "A" * 399],
)
def test_another_text_is_no_cursor(cursor):
    with pytest.raises(ValueError):  # noqa: PT011 - the text is the message
        Place.of_cursor(cursor)


def test_a_cursor_is_read_as_it_was_written():
    place = Place(datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC), "item", 2**40)
    assert Place.of_cursor(place.cursor) == place
