"""A neighbourhood as of a day: which days there are, what was there by then."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from connections.models import Project, User
from graph.models import Node
from graph.time_slices import end_of, slice_of
from retrieval.pictures import picture_of
from tests.factories import NOON, make_audience, make_edge, make_node

pytestmark = pytest.mark.django_db
FIRST = NOON.date()


@pytest.fixture
def room(project: Project, member: User) -> Node:
    """A channel with a post on each of three days, the last in a closed audience."""
    found = make_node(project, "room", node_type="channel", title="#room")
    closed = make_audience(project, "slack:P1", [member])
    for day in range(3):
        moment = NOON + timedelta(days=day)
        audience = closed if day == 2 else make_audience(project)
        post = make_node(
            project, f"p{day}", f"post {day}", occurred_at=moment, audience=audience
        )
        make_edge(post, found, "posted_in", occurred_at=moment, audience=audience)
    return found


def allowed(user: User, node: Node):
    return Node.objects.visible_to(user).of(node.project).current()


def test_the_days_are_those_that_the_reader_may_see(
    room: Node, member: User, outsider: User, stranger: User
) -> None:
    mine = slice_of(allowed(member, room), room, "")
    theirs = slice_of(allowed(outsider, room), room, "")
    assert mine is not None
    assert theirs is not None
    assert (mine.first, mine.days, mine.place) == (FIRST, 2, 2)
    assert (theirs.first, theirs.days) == (FIRST, 1)
    assert slice_of(allowed(stranger, room), room, "") is None


@pytest.mark.parametrize(
    ("asked", "place"),
    [("2026-03-03", 1), ("2020-01-01", 0), ("2030-01-01", 2), ("", 2)],
)
def test_a_day_outside_is_the_nearest_inside(
    asked: str, place: int, room: Node, member: User
) -> None:
    found = slice_of(allowed(member, room), room, asked)
    assert found is not None
    assert found.place == place
    assert (found.as_of is None) == (place == 2)


@pytest.mark.parametrize("asked", ["soon", "2026-02-31", "0001-01-01", "\x00"])
def test_what_is_no_day_is_an_error_that_says_how(
    asked: str, room: Node, member: User
) -> None:
    with pytest.raises(ValueError, match="write it as 2026-03-31"):
        slice_of(allowed(member, room), room, asked)


def test_what_has_no_two_days_has_no_slider(project: Project, member: User) -> None:
    node = make_node(project, "n", occurred_at=NOON)
    found = slice_of(allowed(member, node), node, "")
    assert found is None or found.days > 0


def test_a_slice_has_nothing_that_was_said_later(room: Node, member: User) -> None:
    def names(day: date) -> set[str]:
        picture = picture_of(room, member, room.project, as_of=end_of(day))
        return {drawn.name for drawn in picture.around}

    assert names(FIRST - timedelta(days=1)) == set()
    assert names(FIRST) == {"post 0"}
    assert names(FIRST + timedelta(days=1)) == {"post 0", "post 1"}


def test_who_has_no_date_is_there_from_their_first_tie_on(
    project: Project, member: User
) -> None:
    ann = make_node(project, "ann", node_type="person", title="Ann")
    room = make_node(project, "room", node_type="channel", title="#room")
    make_edge(room, ann, "mentions", occurred_at=NOON)
    for days, names in ((-1, []), (0, ["Ann"])):
        as_of = NOON + timedelta(days=days)
        picture = picture_of(room, member, project, as_of=as_of)
        assert [drawn.name for drawn in picture.around] == names


def test_the_page_slides_and_complains_of_what_is_no_day(
    room: Node, member: User, outsider: User, stranger: User, client: Client
) -> None:
    address = reverse("search_neighbourhood", args=[room.pk])
    client.force_login(member)
    text = client.get(address, {"day": "2026-03-03"}).content.decode()
    assert 'type="range" min="0" max="2" step="1" value="1"' in text
    assert "post 1" in text
    assert "post 2" not in text
    assert client.get(address, {"day": "soon"}).status_code == 400
    client.force_login(outsider)
    text = client.get(address).content.decode()
    assert 'max="1"' in text
    assert "post 2" not in text
    client.force_login(stranger)
    assert client.get(address).status_code == 404
