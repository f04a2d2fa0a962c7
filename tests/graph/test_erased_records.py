from __future__ import annotations

import random

import pytest

from graph.erased_records import Doomed, remove_records
from graph.extraction import extract_texts
from graph.identity import refresh_persons
from graph.integrity import find_gaps
from graph.models import Record as StoredRecord
from graph.stand_ins import draw_stand_ins
from tests.factories import make_project, make_source, take_in
from tests.graph.corpora import CORPUS
from tests.graph.snapshots import differences, snapshot

pytestmark = pytest.mark.django_db


def erase_all_of(project, name, size):
    source = make_source(project, name)
    ids = list(StoredRecord.objects.filter(source=source).values_list("pk", flat=True))
    random.Random(size).shuffle(ids)  # noqa: S311 - an order, no secret
    for start in range(0, len(ids), size):
        remove_records(project, ids[start : start + size], Doomed(source_id=source.pk))
    refresh_persons(project)
    draw_stand_ins(project)
    extract_texts(project)


def read(project, without=""):
    for name in ("chat", "mail", "box"):
        said = [record for source, record in CORPUS if source == name != without]
        if said:
            take_in(project, *said, source=make_source(project, name))


@pytest.mark.parametrize("name", ["chat", "mail", "box"])
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_a_graph_after_an_erasure_is_the_graph_that_never_read_the_source(name, size):
    kept, never = make_project("acme/one"), make_project("acme/two")
    read(kept)
    read(never, without=name)
    erase_all_of(kept, name, size)
    assert find_gaps(kept) == find_gaps(never)
    assert differences(snapshot(kept), snapshot(never)) == []
