"""Ways between two nodes in sentences."""

from __future__ import annotations

import pytest

from connections.models import Project
from connections.records import relations
from graph.best_paths import best_paths
from graph.explanations import PHRASES, explained, left_out, phrase, summary
from graph.learned_weights import LearnedWeight, learned_weights
from graph.models import Node
from graph.paths import Path, Paths
from graph.steps import Cut, Hop
from tests.factories import NOON, make_edge, make_node


def node(pk: int, node_type: str, title: str) -> Node:
    return Node(pk=pk, key=f"n{pk}", node_type=node_type, title=title)


NODES = {
    1: node(1, "person", "Ann Lee"),
    2: node(2, "email", "Re:  launch"),
    3: node(3, "thread", "Launch day"),
}
WAY = Path.along(
    1, (Hop(1, 2, 7, "sent_by", False, 1.0), Hop(2, 3, 8, "in_thread", True, 1.0))
)


def test_a_way_is_a_sentence_from_either_end() -> None:
    said = explained(WAY, NODES)
    assert said.there == (
        "Ann Lee wrote \u201cRe: launch\u201d, which is in the thread "
        "\u201cLaunch day\u201d."
    )
    assert said.back == (
        "\u201cLaunch day\u201d holds \u201cRe: launch\u201d, which was written by "
        "Ann Lee."
    )


def test_a_person_on_the_way_is_who_not_which() -> None:
    hops = (Hop(2, 1, 7, "sent_by", True, 1.0), Hop(1, 3, 9, "participant", False, 1.0))
    assert explained(Path.along(2, hops), NODES).there.endswith(
        "was written by Ann Lee, who takes part in \u201cLaunch day\u201d."
    )


@pytest.mark.parametrize("name", sorted(relations))
def test_every_relation_of_the_sources_has_words_for_both_directions(name: str) -> None:
    there, back = phrase(name, forward=True), phrase(name, forward=False)
    assert there != back
    assert name in PHRASES, f"say in graph.explanations what {name!r} means"


def test_a_relation_that_nobody_has_words_for_is_named() -> None:
    assert phrase("made_up", forward=True) == "is tied by \u201cmade up\u201d to"


@pytest.mark.parametrize(
    ("lengths", "is_complete", "said"),
    [
        ([], True, "Nothing that you may see connects Ann Lee and"),
        ([], False, "within 4 steps, as far as was walked."),
        ([2], True, "are connected in one way of 2 steps."),
        ([1, 3], True, "are connected in 2 ways of 1 to 3 steps."),
        ([1], False, "in one way of 1 step; there may be more."),
    ],
)
def test_the_summary_says_how_many_ways_and_how_long(
    lengths: list[int], is_complete: bool, said: str
) -> None:
    hop = Hop(1, 3, 7, "participant", False, 1.0)
    paths = tuple(Path.along(1, (hop,) * length) for length in lengths)
    found = Paths(paths, is_complete=is_complete)
    assert said in summary(NODES[1], NODES[3], found, 4)


def test_what_was_cut_is_said() -> None:
    assert left_out(Cut(3, "in", 50, 4012), NODES) == (
        "Of \u201cLaunch day\u201d the 50 strongest of 4,012 edges to it were walked."
    )
    assert "1,000 or more edges from it" in left_out(Cut(3, "out", 9, 1000, False), {})


@pytest.mark.django_db
def test_learned_weights_count_only_where_they_are_asked_for(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, c, d = (make_node(project, key) for key in "abcd")
    for key, via in (("b", b), ("c", c)):
        make_edge(a, via, occurred_at=NOON)
        make_edge(via, d, occurred_at=NOON, weight=1.0 if key == "b" else 2.0)
    used = [
        LearnedWeight(edge.pk, edge.source_id, edge.target_id, 9.0)
        for edge in b.outgoing.all()
    ]
    monkeypatch.setitem(learned_weights, "use", lambda *_: used)
    nodes = Node.objects.of(project)

    def best(**asked: bool) -> int:
        return best_paths(nodes, a.pk, d.pk, project=project, **asked).paths[0].nodes[1]

    assert best() == c.pk
    assert best(learned=True) == b.pk
