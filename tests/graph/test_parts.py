from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.records import EdgeDraft, Identity, NodeDraft, Record
from graph.models import Edge, Node
from graph.parts import PART_CHARACTERS, clean_text, cut, prepare, sane
from tests.factories import make_source, take_in

TEXT = st.text(st.characters(codec=None, categories=None), max_size=60)


@given(st.text(st.sampled_from("a .\n"), max_size=400), st.integers(8, 60))
def test_pieces_joined_are_the_text_and_none_is_too_long(text, size):
    pieces = cut(text, size)
    assert "".join(pieces) == text
    assert all(len(piece) <= size for piece in pieces)
    assert len(pieces) == 1 or all(pieces)


def test_a_text_is_cut_at_paragraphs_then_lines_then_sentences_then_words():
    assert cut("a" * 6 + "\n\n" + "b" * 6, 10) == ["a" * 6 + "\n\n", "b" * 6]
    assert cut("aaaaaa\nbb\ncccc", 10) == ["aaaaaa\nbb\n", "cccc"]
    assert cut("aaaaa. bbbbbb", 10) == ["aaaaa. ", "bbbbbb"]
    assert cut("aaaaaa bbbbbb", 10) == ["aaaaaa ", "bbbbbb"]
    assert cut("a" * 12, 10) == ["a" * 10, "aa"]


@given(TEXT)
def test_cleaned_text_is_what_postgresql_takes(text):
    cleaned = clean_text(text)
    assert "\x00" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert len(cleaned) == len(text)
    assert clean_text(cleaned) == cleaned


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    TEXT,
    TEXT,
    st.dictionaries(TEXT, JSON_VALUES, max_size=3),
    st.lists(TEXT, max_size=3),
)
def test_prepared_drafts_hold_nothing_that_cannot_be_stored(key, text, metadata, tags):
    draft = NodeDraft(
        key=f"k:{key}",
        node_type="message",
        title=text,
        content=text,
        context=text,
        tags=tuple(tags),
        metadata=metadata,
        identity=Identity("name", text, (text,)),
    )
    edge = EdgeDraft(source=f"k:{key}", relation="mentions", target=text, quote=text)
    nodes, edges = prepare(
        Record(key=key, kind="message", body=text, nodes=(draft,), edges=(edge,))
    )
    (node,) = nodes
    said = [
        node.key,
        node.title,
        node.content,
        node.context,
        *node.tags,
        edges[0].quote,
        edges[0].source,
        edges[0].target,
        node.identity.address,
        *node.identity.names,
    ]
    json.dumps(node.metadata, allow_nan=False).encode()
    assert "\\u0000" not in json.dumps(node.metadata)
    assert edges[0].source == node.key
    assert all(one.encode() and "\x00" not in one for one in said if one)


def test_a_moment_that_a_timestamp_cannot_hold_is_none():
    assert sane(datetime(2026, 1, 1)) is None
    assert sane(datetime(9999, 12, 31, tzinfo=UTC)) is None
    assert sane(datetime(1, 1, 1, tzinfo=UTC)) is None
    assert sane(fine := datetime(2026, 1, 1, tzinfo=UTC)) == fine


def draft_file(*sections, path="a.md"):
    key = f"file:{path}"
    parts = [
        NodeDraft(key=f"{key}#{n}", node_type="section", content=text, part=True)
        for n, text in enumerate(sections)
    ]
    return Record(
        key=key,
        kind="file",
        body="\n".join(sections),
        nodes=(NodeDraft(key=key, node_type="file", title=path), *parts),
        edges=tuple(
            EdgeDraft(source=p.key, relation="part_of", target=key) for p in parts
        ),
    )


def sections(project):
    found = Node.objects.of(project).filter(node_type="section", valid_to=None)
    return {n.content: n.key.rpartition("#")[2] for n in found}


@pytest.mark.django_db
class TestPartKeys:
    def take(self, project, *texts, path="a.md"):
        source = make_source(project, "files", "folder")
        assert (
            take_in(project, draft_file(*texts, path=path), source=source).failed == 0
        )

    def test_a_section_keeps_its_key_when_another_is_put_before_it(self, project):
        self.take(project, "one", "two")
        self.take(project, "zero", "one", "two")
        assert sections(project) == {"one": "0", "two": "1", "zero": "2"}

    def test_new_words_get_a_new_key_so_that_a_key_never_changes_its_meaning(
        self, project
    ):
        self.take(project, "one", "two")
        self.take(project, "one, edited", "two")
        assert sections(project) == {"one, edited": "2", "two": "1"}
        old = Node.objects.of(project).get(key="file:a.md#0")
        assert (old.content, old.valid_to is None) == ("one", False)

    def test_a_section_that_comes_back_has_its_old_key(self, project):
        self.take(project, "one", "two")
        self.take(project, "two")
        self.take(project, "two", "one")
        assert sections(project) == {"one": "0", "two": "1"}
        parts = Edge.objects.of(project).live().filter(relation="part_of")
        assert parts.count() == 2

    def test_equal_sections_keep_a_key_each(self, project):
        self.take(project, "same", "same", "other")
        self.take(project, "new", "same", "same", "other")
        keys = Node.objects.of(project).filter(content="same", valid_to=None)
        assert {n.key for n in keys} == {"file:a.md#0", "file:a.md#1"}

    def test_the_pieces_of_a_long_section_are_numbered_on(self, project):
        long = "\n\n".join(f"P{n} " + "word " * 190 for n in range(10))
        assert len(long) > PART_CHARACTERS
        self.take(project, long, "two")
        keys = Node.objects.of(project).filter(node_type="section").values_list("key")
        assert {k for (k,) in keys} == {f"file:a.md#{n}" for n in (0, 1, 2)}
        self.take(project, "zero", long, "two")
        assert sections(project)["two"] == "1"
        assert len(sections(project)) == 4

    def test_a_section_keeps_its_key_also_under_a_path_of_600_bytes(self, project):
        path = "d/" * 300 + "a.md"
        self.take(project, "one", "two", path=path)
        before = Node.objects.of(project).get(content="two").key
        self.take(project, "zero", "one", "two", path=path)
        now = Node.objects.of(project).get(content="two", valid_to=None)
        assert now.key == before
        assert all(len(n.key.encode()) <= 512 for n in Node.objects.of(project))
