"""Pages that people read: names that every file system takes, links that lead."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graph.exporting import pages
from graph.exporting.export import export_graph
from graph.exporting.pages import Described, Neighbour, Proof, page
from graph.exporting.paths import page_of
from retrieval.tag_export import shard_for
from tests.factories import NOON, make_edge, make_node

RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
LINK = re.compile(r"\]\(([^)]+)\)")


def described(**said: object) -> Described:
    fields = dict.fromkeys(Described.__slots__, "") | {
        "id": 1,
        "key": "k",
        "node_type": "message",
        "tags": [],
        "occurred_at": None,
        "valid_from": None,
        "valid_to": None,
        "confirmed_at": None,
        "last_evidence_at": None,
        "gone_at": None,
        "permalink": None,
    }
    return Described(**(fields | said))


@given(st.text(max_size=80), st.text(min_size=1, max_size=600))
def test_a_page_has_a_name_that_every_file_system_takes(node_type, key):
    path = page_of(node_type, key)
    parts = path.split("/")
    assert len(parts) == 4
    assert parts[0] == "nodes"
    assert len(path) < 160
    for part in parts:
        assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*", part)
        assert not RESERVED.fullmatch(part)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ann", "ann"), ("\u00e4", "a\u0308"), ("a/b", "a-b"), ("..", "."), ("a", "a ")],
)
def test_keys_that_a_file_system_would_confuse_have_different_pages(one, other):
    assert page_of("file", one) != page_of("file", other)
    assert page_of("file", one).lower() != page_of("file", other).lower()


def test_a_page_is_where_it_was():
    assert page_of("message", "slack:C1:1.0") == (
        "nodes/message/0f/slack-c1-1-0-0fd53ffac2e29b2d0a1f.md"
    )
    assert page_of("con", "nul").startswith("nodes/con-type/")


@given(st.text(), st.lists(st.text()), st.text())
def test_frontmatter_says_what_the_node_says(title, tags, quote):
    node = described(title=title, tags=tags, occurred_at=NOON)
    text = page(node, [Proof("mail", "r", "", quote, "said")], [])
    said = yaml.safe_load(text.split("\n---\n")[0])
    assert said["key"] == "k"
    assert said.get("title", "") == title
    assert said.get("tags", []) == tags
    assert said["evidence"][0].get("quote", "") == quote
    assert said["occurred_at"] == NOON.isoformat()


@given(st.text())
def test_a_title_never_ends_the_link_it_stands_in(title):
    tie = Neighbour(True, "mentions", "k", "file", title, None, 1)
    text = page(described(), [], [tie])
    line = text.rstrip("\n").rsplit("\n", 1)[1]
    assert line.startswith("- [")
    assert line.endswith(f"](../../../{page_of('file', 'k')})")


@pytest.mark.django_db
def test_every_link_leads_to_a_page(project, other_project, tmp_path):
    one = make_node(project, "a", "first", title="A [b](c)", tags=["launch"])
    two = make_node(project, "b", "second", tags=["#launch"])
    edge = make_edge(one, two, "mentions", valid_to=NOON)
    gone = make_node(project, "c", "pruned", trashed_at=NOON, tags=["launch"])
    make_edge(one, gone)
    make_node(other_project, "d", "theirs", tags=["launch"])
    export_graph(project, tmp_path)
    found = list(tmp_path.rglob("*.md"))
    links = [
        (path, link)
        for path in found
        for link in LINK.findall(path.read_text())
        if link.endswith(".md")
    ]
    assert len(links) == 4
    for path, link in links:
        assert (path.parent / link).resolve() in found
    text = (tmp_path / page_of("message", "a")).read_text()
    assert "### mentions\n\n- [second]" in text
    assert "(until 2026-03-02)" in text
    assert edge.pk
    assert not (tmp_path / page_of("message", "c")).exists()
    assert "theirs" not in (tmp_path / shard_for("launch")).read_text()


@pytest.mark.django_db
def test_a_hub_names_its_newest_and_how_many_more(project, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "MOST_LINKS", 3)
    hub = make_node(project, "hub", node_type="channel", title="#general")
    for n in range(8):
        at = NOON + timedelta(days=n)
        make_edge(
            make_node(project, f"m{n}", f"m{n}"), hub, "posted_in", occurred_at=at
        )
    export_graph(project, tmp_path)
    text = (tmp_path / page_of("channel", "hub")).read_text()
    assert re.findall(r"\[(m\d)\]", text) == ["m7", "m6", "m5"]
    assert "- 5 more in data/edges.jsonl" in text


@pytest.mark.django_db
def test_an_empty_project_is_an_export_too(project, tmp_path):
    exported = export_graph(project, tmp_path)
    assert exported.lines["nodes"] == 0
    assert Path(tmp_path / "manifest.json").is_file()
