from __future__ import annotations

from itertools import permutations

import pytest

from connections.records import EdgeDraft, NodeDraft, Record
from graph.integrity import find_gaps
from graph.models import Edge
from tests.factories import make_project, take_in

pytestmark = pytest.mark.django_db


def mail(name: str, answers: str = "", otherwise: tuple[str, ...] = ()) -> Record:
    key = f"email:{name}"
    edges = []
    if answers:
        edges.append(
            EdgeDraft(
                source=key,
                relation="replied_to",
                target=f"email:{answers}",
                otherwise=tuple(f"email:{other}" for other in otherwise),
            )
        )
    node = NodeDraft(key=key, node_type="email", content=name)
    return Record(key=key, kind="mail", body=name, nodes=(node,), edges=tuple(edges))


def answered(project) -> set[tuple[str, str]]:
    return set(
        Edge.objects.of(project)
        .live()
        .filter(relation="replied_to")
        .values_list("source__key", "target__key")
    )


def test_a_reply_whose_parent_is_missing_is_drawn_to_the_nearest_mail_it_names(project):
    take_in(project, mail("root"), mail("late", "lost", ("also-lost", "root")))
    assert answered(project) == {("email:late", "email:root")}


def test_the_stand_in_goes_when_the_parent_arrives(project):
    take_in(project, mail("root"), mail("late", "lost", ("root",)))
    take_in(project, mail("lost", "root"))
    assert answered(project) == {
        ("email:late", "email:lost"),
        ("email:lost", "email:root"),
    }
    assert not find_gaps(project).edges


def test_any_order_of_arrival_gives_the_same_answers(db):
    records = [
        mail("root"),
        mail("middle", "root"),
        mail("late", "lost", ("middle", "root")),
    ]
    found = set()
    for number, order in enumerate(permutations(records)):
        project = make_project(f"order/{number}")
        for record in order:
            take_in(project, record)
        found.add(frozenset(answered(project)))
    assert found == {
        frozenset({("email:middle", "email:root"), ("email:late", "email:middle")})
    }


def test_a_reply_that_names_nothing_else_waits(project):
    take_in(project, mail("root"), mail("late", "lost"))
    assert answered(project) == set()
