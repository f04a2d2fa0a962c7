from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from connections.records import relations as known_relations
from graph.models import Edge
from tests.factories import make_audience, make_edge, make_node, make_project

pytestmark = pytest.mark.django_db
T1, T2 = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


def insert(source, target, project, audience, scope=None):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO graph_edges (tenant_id, project_id, audience_id, source_id,"
            " relation, target_id, scope_id) VALUES (%s, %s, %s, %s, 'mentions', %s, %s)",
            [project.tenant_id, project.pk, audience.pk, source, target, scope],
        )


@pytest.fixture
def pair(project):
    return make_node(project, "a"), make_node(project, "b")


def test_an_edge_within_a_project_is_taken(project, pair):
    a, b = pair
    insert(a.pk, b.pk, project, a.audience)
    assert Edge.objects.of(project).get().weight == 1


@pytest.mark.parametrize("end", ["source", "target", "scope"])
@pytest.mark.parametrize("foreign", ["another tenant", "another project", "nobody"])
def test_the_database_refuses_an_end_that_is_not_in_the_project(
    project, other_project, pair, end, foreign
):
    a, b = pair
    strange = {
        "another tenant": make_node(other_project, "x").pk,
        "another project": make_node(make_project("acme/side"), "x").pk,
        "nobody": 2**40,
    }[foreign]
    ends = {"source": a.pk, "target": b.pk, "scope": None} | {end: strange}
    with pytest.raises(IntegrityError, match=f"graph_edges_{end}_id_in_project"):
        insert(ends["source"], ends["target"], project, a.audience, ends["scope"])


def test_the_database_refuses_an_audience_of_another_project(
    project, other_project, pair
):
    a, b = pair
    with pytest.raises(IntegrityError, match="audience_id_in_project"):
        insert(a.pk, b.pk, project, make_audience(other_project))


def test_a_node_takes_its_edges_with_it(project, pair):
    a, b = pair
    edge = make_edge(a, b)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM graph_nodes WHERE id = %s", [a.pk])
    assert not Edge.objects.filter(pk=edge.pk).exists()


@pytest.mark.parametrize("fields", [{}, {"valid_from": T1}])
def test_an_edge_is_there_once_also_where_parts_of_its_identity_are_null(pair, fields):
    make_edge(*pair, **fields)
    with (
        pytest.raises(IntegrityError, match="graph_edges_identity"),
        transaction.atomic(),
    ):
        make_edge(*pair, **fields)


def test_scope_and_beginning_are_part_of_what_an_edge_is(project, pair):
    a, b = pair
    make_edge(a, b, "follows")
    make_edge(a, b, "follows", scope=a)
    make_edge(a, b, "follows", valid_from=T1)
    make_edge(b, a, "follows")
    assert Edge.objects.of(project).count() == 4


def test_an_edge_weighs_no_less_than_nothing(pair):
    with pytest.raises(DatabaseError, match="graph_edges_weight"), transaction.atomic():
        make_edge(*pair, weight=-1)


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "live_at_first", "live_at_second"),
    [
        (None, None, True, True),
        (T1, None, True, True),
        (T2, None, False, True),
        (None, T2, True, False),
        (T1, T2, True, False),
        (None, T1, False, False),
    ],
)
def test_an_edge_lives_from_its_beginning_until_just_before_its_end(
    project, pair, valid_from, valid_to, live_at_first, live_at_second
):
    make_edge(*pair, valid_from=valid_from, valid_to=valid_to)
    found = [Edge.objects.of(project).live(moment).exists() for moment in (T1, T2)]
    assert found == [live_at_first, live_at_second]


def test_every_relation_says_what_it_means_between_which_ends_by_example():
    assert len(known_relations) >= 13
    for relation in known_relations.values():
        assert all((relation.meaning, relation.source, relation.target))
        assert relation.name in relation.example or relation.name == "follows"
