"""Names nearly alike are asked about, and only those that may be one thing."""

from __future__ import annotations

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from graph.merging import merge_nodes, unmerge
from graph.review.find_duplicates import because, duplicates, edit_distance
from graph.review.kinds import finders
from tests.factories import make_audience, make_edge, make_node

words = st.text("abcde", max_size=7)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("feature flag", "feature flags", "plural"),
        ("batch", "batches", "plural"),
        ("retry policy", "retry policies", "plural"),
        ("PostgreSQL", "PostgresSQL", "one letter"),
        ("Kubernetes", "Kubernets", "one letter"),
        ("Node.js", "node js", "signs"),
        ("observability platform", "observabilty plattform", "2 letters"),
    ],
)
def test_one_letter_or_an_ending_apart_may_be_one(one, other, why):
    assert why in because(one, other, 0.6)
    assert because(other, one, 0.6) == because(one, other, 0.6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP/2", "HTTP/3"),
        ("Python 3.11", "Python 3.12"),
        ("Loader", "Loader 2"),
        ("Rust", "Ruse"),
        ("C", "Cs"),
        ("React", "Redis"),
        ("Java", "JavaScript"),
    ],
)
def test_other_digits_or_other_words_are_two_things(one, other):
    assert because(one, other, 0.6) == ""


@given(one=words, other=words)
def test_the_distance_is_the_plain_one_up_to_its_bound(one, other):
    def plain(a: int, b: int) -> int:
        if min(a, b) == 0:
            return max(a, b)
        changed = one[a - 1] != other[b - 1]
        best = min(
            plain(a - 1, b) + 1, plain(a, b - 1) + 1, plain(a - 1, b - 1) + changed
        )
        if (
            a > 1
            and b > 1
            and one[a - 1] == other[b - 2]
            and one[a - 2] == other[b - 1]
        ):
            best = min(best, plain(a - 2, b - 2) + 1)
        return best

    if len(one) + len(other) > 9:
        return
    distance = plain(len(one), len(other))
    for most in (0, 1, 3):
        expected = distance if distance <= most else None
        assert edit_distance(one, other, most=most) == expected


def named(project, title, node_type="technology", **fields):
    return make_node(project, title, node_type=node_type, title=title, **fields)


def found(project):
    return list(duplicates(project, timezone.now()))


@pytest.mark.django_db
def test_a_pair_is_found_once_shown_to_those_who_see_both(
    project, other_project, member
):
    closed = make_audience(project, "slack:P1", [member])
    one = named(project, "Kafka Streams")
    other = named(project, "Kafka Stream", audience=closed)
    make_edge(make_node(project, "m"), one)
    named(project, "Kafka Streams!", "pattern")
    named(project, "Kafka Streem", "file")
    named(project, "Kafka Stremas", "person")
    named(other_project, "Kafka Streams")
    named(project, "Kafka Streamz", valid_to=timezone.now())
    (pair,) = found(project)
    assert finders["duplicate"] is duplicates
    assert {pair.node_id, pair.other_id} == {one.pk, other.pk}
    assert (pair.audience_id, pair.uses) == (closed.pk, 1)
    assert "both a technology: one is the plural of the other" in pair.why
    assert found(other_project) == []


@pytest.mark.django_db
def test_what_people_took_apart_is_not_asked_again_and_new_words_are(project, user):
    one, other = named(project, "PostgreSQL"), named(project, "PostgresSQL")
    first = found(project)[0]
    merged = merge_nodes(project, one.pk, [other.pk], by=user)
    assert found(project) == []
    unmerge(project, merged.before, user)
    assert found(project) == []
    third = named(project, "PostgreSQLs")
    again = found(project)
    assert {f.node_id for f in again} | {f.other_id for f in again} >= {third.pk}
    assert first.subject not in {f.subject for f in again}
    assert [f.fingerprint for f in found(project)] == [f.fingerprint for f in again]
