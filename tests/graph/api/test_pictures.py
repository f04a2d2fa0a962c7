from __future__ import annotations

from datetime import timedelta

import pytest

from graph.models import NodePosition
from tests.connections.api.callers import token_client
from tests.factories import NOON, make_audience, make_edge, make_node

URL, PATH = "/api/v1/graph/picture/", "/api/v1/graph/picture/path/"
POSTS, SECRET = 30, 5


@pytest.fixture
def room(project, member, outsider, stranger):
    """A channel of 30 public posts and 5 that only the member may see."""
    closed = make_audience(project, "closed", [member])
    room = make_node(project, "room", node_type="channel", title="#room")
    for n in range(POSTS + SECRET):
        moment = NOON + timedelta(days=n)
        audience = None if n < POSTS else closed
        post = make_node(
            project, f"p{n}", f"post {n}", audience=audience, occurred_at=moment
        )
        make_edge(
            post,
            room,
            "posted_in",
            audience=audience,
            weight=1 + n / 100,
            occurred_at=moment,
        )
    return room


def picture(user, room, **asked):
    client = token_client(user, room.project)
    return client.get(URL, {"node": room.pk, **asked})


def keys(answer):
    return {node["key"] for node in answer["nodes"]}


def test_the_heaviest_of_a_relation_are_drawn_and_the_others_counted(room, outsider):
    answer = picture(outsider, room).json()
    assert keys(answer) == {"room", *(f"p{n}" for n in range(18, 30))}
    assert answer["node"] == room.pk
    assert len(answer["edges"]) == 12
    assert answer["more"] == [
        {
            "node": room.pk,
            "relation": "posted_in",
            "direction": "in",
            "label": "posted here",
            "count": 18,
            "is_exact": True,
        }
    ]
    assert len({(node["x"], node["y"]) for node in answer["nodes"]}) == 13


def test_three_users_are_told_of_what_each_may_see_and_of_no_more(
    room, member, outsider, stranger
):
    seen = {user: picture(user, room).json() for user in (member, outsider)}
    assert {u: seen[u]["more"][0]["count"] for u in seen} == {member: 23, outsider: 18}
    assert "p34" in keys(seen[member])
    assert not {f"p{n}" for n in range(POSTS, POSTS + SECRET)} & keys(seen[outsider])
    client = token_client(stranger, stranger.memberships.get().project)
    assert client.get(URL, {"node": room.pk}).status_code == 404
    assert client.get(URL).json()["nodes"] == []
    assert client.get(PATH, {"from": room.pk, "to": room.pk}).status_code == 404
    # Only what somebody was shown has a place.
    assert NodePosition.objects.filter(project=room.project).count() == 18


def test_what_is_expanded_comes_in_the_order_of_its_weight_without_what_is_drawn(
    room, outsider
):
    drawn = [node["id"] for node in picture(outsider, room).json()["nodes"]]
    asked = {"relation": "posted_in", "direction": "in", "expand": 10}
    answer = picture(outsider, room, drawn=",".join(map(str, drawn)), **asked).json()
    new = {f"p{n}" for n in range(8, 18)}
    assert keys(answer) == {"room", *new}
    assert {edge["target"] for edge in answer["edges"]} == {room.pk}
    assert len(answer["edges"]) == 10
    assert [more["count"] for more in answer["more"]] == [8]


def test_a_client_learns_nothing_by_saying_that_a_hidden_node_is_drawn(
    room, member, outsider
):
    hidden = [n["id"] for n in picture(member, room).json()["nodes"]]
    plain = picture(outsider, room, expand=50).json()
    told = picture(outsider, room, expand=50, drawn=",".join(map(str, hidden))).json()
    public = {f"p{n}" for n in range(POSTS)}
    assert keys(plain) - {"room"} <= public
    assert keys(told) - {"room"} <= public
    assert not {e["source"] for e in told["edges"]} & {
        n["id"] for n in picture(member, room).json()["nodes"] if n["key"] > "p29"
    } - {n["id"] for n in plain["nodes"]}


def test_types_and_relations_narrow_it(room, outsider):
    ann = make_node(room.project, "ann", node_type="person", title="Ann")
    make_edge(ann, room, "mentions")
    assert keys(picture(outsider, room, type="person").json()) == {"room", "ann"}
    assert keys(picture(outsider, room, relation="mentions").json()) == {"room", "ann"}
    wrong = picture(outsider, room, type="persn")
    assert wrong.status_code == 400
    assert "person" in wrong.text


def test_as_of_a_day_nothing_is_there_that_was_said_later(room, outsider):
    moment = (NOON + timedelta(days=4)).isoformat()
    answer = picture(outsider, room, as_of=moment).json()
    assert keys(answer) == {"room", *(f"p{n}" for n in range(5))}
    assert answer["more"] == []


def test_without_a_node_the_best_tied_that_the_caller_sees_are_drawn(
    room, member, outsider
):
    answers = {
        user: token_client(user, room.project).get(URL, {"limit": 1000}).json()
        for user in (member, outsider)
    }
    assert len(answers[member]["nodes"]) == 1 + POSTS + SECRET
    assert len(answers[outsider]["nodes"]) == 1 + POSTS
    assert answers[outsider]["node"] is None


def test_a_path_comes_in_words_and_with_places(room, outsider):
    asked = {"from": "p1", "to": "p2"}
    answer = token_client(outsider, room.project).get(PATH, asked).json()
    (way,) = answer["ways"]
    by_id = {node["id"]: node["key"] for node in answer["nodes"]}
    assert [by_id[pk] for pk in way["nodes"]] == ["p1", "room", "p2"]
    assert "was posted in" in way["text"]
    assert {edge["id"] for edge in answer["edges"]} == set(way["edges"])


def test_no_path_leads_through_what_the_caller_may_not_see(room, member, outsider):
    secret = make_node(
        room.project, "between", audience=make_audience(room.project, "closed")
    )
    ends = [make_node(room.project, f"end{n}", title=f"End {n}") for n in (1, 2)]
    for end in ends:
        make_edge(secret, end, audience=secret.audience)
    asked = {"from": "end1", "to": "end2"}
    ways = {
        user: token_client(user, room.project).get(PATH, asked).json()
        for user in (member, outsider)
    }
    assert (len(ways[member]["ways"]), len(ways[outsider]["ways"])) == (1, 0)
    assert "between" not in str(ways[outsider])


def test_an_end_that_was_not_there_yet_has_no_way(room, outsider):
    early = (NOON + timedelta(days=1)).isoformat()
    asked = {"from": "p1", "to": "p9", "as_of": early}
    answer = token_client(outsider, room.project).get(PATH, asked)
    assert answer.status_code == 200
    assert answer.json()["ways"] == []
    assert (
        token_client(outsider, room.project)
        .get(PATH, {"from": "p1", "to": "p9"})
        .json()["ways"]
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"expand": 3}, "Name the node"),
        ({"drawn": "1,x"}, "Ids are numbers"),
        ({"limit": 1001}, "1000"),
        ({"deepth": 1}, "no such parameter"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_would_be_right(
    room, outsider, asked, said
):
    answer = token_client(outsider, room.project).get(URL, asked)
    assert answer.status_code == 400
    assert said in answer.text


def test_a_picture_takes_the_same_queries_for_few_and_for_many(
    room, outsider, django_assert_max_num_queries
):
    client = token_client(outsider, room.project)
    client.get(URL, {"node": room.pk, "limit": 1000})
    for limit in (3, 1000):
        with django_assert_max_num_queries(14):
            client.get(URL, {"node": room.pk, "limit": limit, "depth": 2})
