from __future__ import annotations

import subprocess
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.records import (
    MAX_KEY_BYTES,
    Alias,
    AudienceDraft,
    EdgeDraft,
    Identity,
    NodeDraft,
    Record,
    clean_key,
)

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
NODE = NodeDraft(
    key="n", node_type="message", identity=Identity("mail", "a@x.test", ("A",))
)
EDGE = EdgeDraft(source="n", relation="mentions", target="m")
RECORD = Record(
    key="k",
    kind="message",
    body="b",
    nodes=(NODE,),
    edges=(EDGE,),
    aliases=(Alias(key="a", target="b"),),
    occurred_at=AT,
)

CHANGES = {
    "kind": "email",
    "body": "c",
    "permalink": "https://x.test",
    "occurred_at": None,
    "audience": AudienceDraft("members", "x", ("a@x.test",)),
    "nodes": (),
    "edges": (),
    "aliases": (),
}
NODE_CHANGES = {
    "key": "o",
    "node_type": "email",
    "title": "t",
    "content": "c",
    "context": "c",
    "language": "german",
    "tags": ("t",),
    "metadata": {"a": [1]},
    "occurred_at": AT,
    "precedence": 1.0,
    "identity": Identity("mail", "a@x.test", ("B",)),
    "part": True,
}
EDGE_CHANGES = {
    "source": "o",
    "relation": "sent_by",
    "target": "o",
    "weight": 2.0,
    "occurred_at": AT,
    "position": Decimal(1),
    "valid_from": AT,
    "quote": "q",
    "otherwise": ("p",),
}


@pytest.mark.parametrize(
    "changed",
    [
        *(replace(RECORD, **{name: value}) for name, value in CHANGES.items()),
        *(
            replace(RECORD, nodes=(replace(NODE, **{n: v}),))
            for n, v in NODE_CHANGES.items()
        ),
        *(
            replace(RECORD, edges=(replace(EDGE, **{n: v}),))
            for n, v in EDGE_CHANGES.items()
        ),
        replace(RECORD, aliases=(Alias(key="a", target="b", own=False),)),
    ],
)
def test_a_hash_changes_with_whatever_is_drafted(changed):
    assert changed.content_hash != RECORD.content_hash


def test_every_field_that_ingest_writes_is_in_the_hash():
    """One added later without a test here would not be noticed when it changes."""
    assert {f.name for f in fields(NodeDraft)} == set(NODE_CHANGES)
    assert {f.name for f in fields(EdgeDraft)} == set(EDGE_CHANGES)
    outside = {"key", "raw_sha256", "version", "counted", "warnings"}
    assert {f.name for f in fields(Record)} == set(CHANGES) | outside


def test_a_hash_is_of_what_is_said_whatever_clock_says_it():
    there = AT.astimezone(timezone(timedelta(hours=5)))
    assert replace(RECORD, occurred_at=there).content_hash == RECORD.content_hash
    one, other = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    hashes = {
        replace(RECORD, nodes=(replace(NODE, metadata=m),)).content_hash
        for m in (one, other)
    }
    assert len(hashes) == 1


def test_a_hash_is_the_same_in_another_process():
    code = (
        "from connections.records import *;"
        "print(Record(key='k', kind='x', body='\\u00e9', nodes=(NodeDraft(key='n',"
        " node_type='m', tags=('a', 'b'), metadata={'z': 1, 'a': None}),)).content_hash)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@given(st.text(st.characters(codec=None, categories=None), max_size=700))
def test_a_key_is_storable_short_and_stays_as_it_is(text):
    key = clean_key(text)
    assert len(key.encode()) <= MAX_KEY_BYTES
    assert "\x00" not in key
    assert clean_key(key) == key


@given(
    st.text("aé", min_size=520, max_size=600), st.text("aé", min_size=520, max_size=600)
)
def test_long_keys_stay_apart(one, other):
    assert (clean_key(one) == clean_key(other)) == (one == other)
