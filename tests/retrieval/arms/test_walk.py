"""What lies around the best hits is found by the words they lend it."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.arms.base import Hit, Plan
from retrieval.arms.walk import lend
from retrieval.results import Filters, Hint, Parsed
from tests.factories import NOON, make_audience, make_edge, make_node
from tests.retrieval.asking import found_by, index, keys, make_ask

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
PLAIN = Plan(options={"meaning": 0, "named": 0})


def talk(project, *texts, audiences=None):
    """A conversation: each message follows the one before."""
    nodes = []
    for n, text in enumerate(texts):
        audience = (audiences or {}).get(n)
        nodes.append(make_node(project, f"m{n}", text, audience=audience))
        if n:
            make_edge(nodes[n], nodes[n - 1], "follows", audience=audience)
    index(project)
    return nodes


def seeded(*nodes):
    return {"keyword": [Hit(node.pk, node.key, 1.0) for node in nodes]}


def walked(project, question, seeds, plan=PLAIN, **fields):
    return found_by(
        "walk", make_ask(project, question, hits=seeded(*seeds), **fields), plan
    )


def test_the_answer_is_found_by_the_question_it_follows(project):
    nodes = talk(project, "Where is the spare key kept?", "Under the mat.", "Thanks!")
    found = walked(project, "spare key", nodes[:1])
    assert keys(found) == ["m0", "m1", "m2"]
    assert [h.score / found[0].score for h in found] == pytest.approx([1, 0.7, 0.49])


def test_each_word_comes_from_the_nearest_that_says_it(project):
    nodes = talk(project, "The spare one", "is lost", "the key too")
    found = {h.key: h.score for h in walked(project, "spare key", nodes)}
    # The middle one has both words at one hop, each end has one of its own.
    assert found["m1"] == pytest.approx(0.7 * 0.4 / 1.64493406685)
    assert found["m0"] == pytest.approx((1 + 0.49) / 2 * 0.4 / 1.64493406685)


def test_it_walks_no_further_than_its_depth_and_from_its_best_seeds(project):
    nodes = talk(project, "spare key", *"abcdef")
    near = Plan(options={"meaning": 0, "named": 0, "depth": 2})
    assert set(keys(walked(project, "spare key", nodes[:1], near))) == {
        "m0",
        "m1",
        "m2",
    }
    one = Plan(options={"meaning": 0, "seeds": 1, "depth": 1})
    both = walked(project, "spare key", (nodes[0], nodes[5]), one)
    assert set(keys(both)) == {"m0", "m1"}


def test_people_and_channels_are_not_walked_through(project):
    nodes = talk(project, "spare key")
    ann = make_node(project, "identity:a", node_type="person", title="Ann")
    other = make_node(project, "other", "elsewhere")
    for node in (nodes[0], other):
        make_edge(node, ann, "sent_by")
    assert keys(walked(project, "spare key", nodes)) == ["m0"]


def test_what_is_next_to_a_thing_the_question_names_is_preferred(project):
    nodes = talk(project, "The key is lost.", "The key is lost.")
    ann = make_node(project, "identity:a", node_type="person", title="Ann")
    far = make_node(project, "far", "I like tea.")
    for node in (nodes[1], far):
        make_edge(node, ann, "sent_by")
    index(project)
    hint = Hint(said="Ann", name="Ann", node_type="person", node_id=ann.pk)
    parsed = Parsed(query="key", asked="key", hints=(hint,))
    plan = Plan(options={"meaning": 0, "named": 0.04})
    found = walked(project, "key", nodes, plan, parsed=parsed)
    assert keys(found) == ["m1", "m0", "far"]
    assert found[0].score - found[1].score == pytest.approx(0.04)


def test_what_is_of_the_time_or_kind_the_question_prefers_comes_first(project):
    nodes = [
        make_node(project, "early", "The key is lost.", occurred_at=NOON),
        make_node(project, "late", "The key is lost.", occurred_at=NOON + DAY),
    ]
    index(project)
    plan = Plan(options={"meaning": 0})
    for preferred, first in (
        (Filters(), "early"),
        (Filters(since=NOON + DAY / 2), "late"),
        (Filters(until=NOON + DAY / 2), "early"),
        (Filters(since=NOON + DAY / 2, types=("email",)), "early"),
    ):
        parsed = Parsed(query="key", asked="key", preferred=preferred)
        found = walked(project, "key", nodes, plan, parsed=parsed)
        assert keys(found)[0] == first
        assert len(found) == 2, "what is not preferred is found as well"


def test_a_filter_binds_what_is_found_but_not_what_lends(project):
    nodes = talk(project, "Where is the spare key?", "Under the mat.")
    nodes[1].node_type = "email"
    nodes[1].save()
    found = walked(project, "spare key", nodes[:1], filters=Filters(types=("email",)))
    assert keys(found) == ["m1"]


def test_nothing_is_lent_through_what_a_user_may_not_see(
    project, member, outsider, stranger
):
    closed = make_audience(project, "slack:P1", [member])
    nodes = talk(
        project, "The spare key", "is secret", "under the mat", audiences={1: closed}
    )
    ends = [nodes[0]]
    assert set(keys(walked(project, "spare key", ends, user=member))) == {
        "m0",
        "m1",
        "m2",
    }
    assert keys(walked(project, "spare key", ends, user=outsider)) == ["m0"]
    assert walked(project, "spare key", ends, user=stranger) == []


def test_it_takes_a_bounded_number_of_queries(project, django_assert_max_num_queries):
    nodes = talk(project, "spare key", *"abcdefgh")
    ask = make_ask(project, "spare key", hits=seeded(*nodes))
    with django_assert_max_num_queries(5):
        found_by("walk", ask)


def test_nothing_is_found_from_nothing(project, other_project):
    nodes = talk(project, "spare key")
    assert walked(project, "spare key", []) == []
    assert walked(other_project, "spare key", nodes) == []


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.floats(0.1, 1),
    st.integers(0, 4),
)
@settings(max_examples=60, deadline=None)
def test_lending_gives_each_the_best_within_reach(values, decay, hops):
    count = len(values)
    ways = np.array([(n, n - 1) for n in range(1, count)], dtype=np.intp).reshape(-1, 2)
    lent = lend(np.array(values).reshape(count, 1), ways, decay, hops)[:, 0]
    for at in range(count):
        reach = range(max(0, at - hops), min(count, at + hops + 1))
        assert lent[at] == pytest.approx(
            max(values[n] * decay ** abs(n - at) for n in reach)
        )
