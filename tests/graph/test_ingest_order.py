"""Any order and any split of an import give the same graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from connections.models import SyncRun
from connections.records import Record
from graph.ingest import read_records
from graph.integrity import find_gaps
from tests.factories import make_project, make_source
from tests.graph.corpora import CORPUS
from tests.graph.snapshots import differences, snapshot

pytestmark = pytest.mark.django_db

KINDS = {"chat": "slack", "mail": "mail", "box": "mail"}


class Undone(Exception):
    """Takes back what an example wrote."""


def build(items: Sequence[tuple[str, Record]], splits: Sequence[int] = ()) -> dict:
    """Ingest `items` into a project of their own, a run for each split and source."""
    taken: dict = {}
    with pytest.raises(Undone), transaction.atomic():  # noqa: PT012 - all undone
        project = make_project("order/main")
        sources = {n: make_source(project, n, kind) for n, kind in KINDS.items()}
        bounds = [0, *sorted(splits), len(items)]
        for start, end in pairwise(bounds):
            run: list[tuple[str, Record]] = list(items[start:end])
            while run:
                name = run[0][0]
                length = next(
                    (i for i, (n, _) in enumerate(run) if n != name), len(run)
                )
                source = sources[name]
                counts = read_records(
                    source,
                    SyncRun.objects.create(source=source),
                    [record for _, record in run[:length]],
                )
                assert counts.failed == 0, list(source.runs.first().errors.all())
                run = run[length:]
        taken = snapshot(project)
        gaps = find_gaps(project)
        assert (gaps.nodes, gaps.edges) == ((), ())
        raise Undone
    return taken


@pytest.fixture
def undisturbed(db) -> dict:
    return build(CORPUS)


def test_the_corpus_has_what_order_could_disturb(undisturbed):
    relations = {edge[1] for edge in undisturbed["edges"]}
    assert {"follows", "has_email", "from_domain", "replied_to"} <= relations
    assert undisturbed["pending"], "a reply waits for a parent that never comes"
    threads = {k for k in undisturbed["nodes"] if k.startswith("email-thread:")}
    assert threads == {"email-thread:a", "email-thread:x"}
    assert undisturbed["nodes"]["slack:C1:13.000001"][2] == "Lunch at one?"


@settings(
    # Shrinking takes minutes; the differences name the node or edge as it is.
    phases=(Phase.generate,),
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    items=st.permutations(CORPUS),
    splits=st.lists(st.integers(0, len(CORPUS)), max_size=4),
)
def test_any_order_and_split_give_the_same_graph(undisturbed, items, splits):
    found = build(items, splits)
    assert differences(undisturbed, found) == []
