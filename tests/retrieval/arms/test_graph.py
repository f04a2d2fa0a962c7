"""The things a question names, and what lies around them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retrieval.arms.base import Plan
from retrieval.results import Hint, Parsed
from tests.factories import NOON, make_audience, make_edge, make_node
from tests.retrieval.asking import found_by, make_ask

pytestmark = pytest.mark.django_db


@pytest.fixture
def named(project):
    """An agent recommends a technology, which two messages speak of."""
    agent = make_node(project, "db-engineer", node_type="message", title="db-engineer")
    tool = make_node(project, "pgvector", node_type="decision", title="pgvector")
    make_edge(agent, tool, "recommends")
    for n in (0, 1):
        text = make_node(
            project, f"m{n}", "words", occurred_at=NOON + timedelta(days=n)
        )
        make_edge(text, tool, "mentions")
    return agent


def walked(project, agent, plan=None, *, similarity=1.0, intent="", **fields):
    hint = Hint(
        said="x", name="x", node_type="agent", node_id=agent.pk, similarity=similarity
    )
    parsed = Parsed(query="x", asked="x", hints=(hint,), intent=intent)
    hits = found_by("graph", make_ask(project, "x", parsed=parsed, **fields), plan)
    return [(hit.key, hit.score) for hit in hits]


def test_a_name_is_worth_one_and_each_hop_half(project, named):
    assert walked(project, named) == [
        ("db-engineer", 1.0),
        ("pgvector", 0.5),
        ("m1", 0.25),
        ("m0", 0.25),
    ]


def test_a_name_that_is_only_alike_is_worth_less(project, named):
    found = walked(project, named, Plan(options={"depth": 1}), similarity=0.7)
    assert found == [("db-engineer", 0.8), ("pgvector", 0.4)]


def test_the_kind_that_is_asked_for_comes_first_among_equals(project, named):
    note = make_node(project, "note", "x", occurred_at=NOON + timedelta(days=9))
    make_edge(named, note)
    one = Plan(options={"depth": 1})
    assert walked(project, named, one, intent="")[1][0] == "note"
    assert walked(project, named, one, intent="decision")[1][0] == "pgvector"


def test_without_a_name_nothing_is_found(project, named, django_assert_max_num_queries):
    ask = make_ask(project, "x")
    with django_assert_max_num_queries(0):
        assert found_by("graph", ask) == []


def test_nothing_is_reached_through_what_a_user_may_not_see(
    project, named, member, outsider, stranger
):
    closed = make_audience(project, "slack:P1", [member])
    secret = make_node(project, "secret", audience=closed)
    behind = make_node(project, "behind")
    make_edge(named, secret)
    make_edge(secret, behind)
    assert ("behind", 0.25) in walked(project, named, user=member)
    seen = dict(walked(project, named, user=outsider))
    assert {"secret", "behind"}.isdisjoint(seen)
    assert len(seen) == 4
    assert walked(project, named, user=stranger) == []
