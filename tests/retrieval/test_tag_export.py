from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from retrieval.tag_export import SHARDS, export_tags, shard_for
from tests.factories import make_node


@pytest.mark.parametrize(
    ("tag", "shard"),
    [
        ("launch", "tags/l.md"),
        ("#Launch", "tags/l.md"),
        ("2026", "tags/2.md"),
        ("\u00e4rger", "tags/_.md"),
        ("_x", "tags/_.md"),
        ("", "tags/_.md"),
    ],
)
def test_a_tag_is_in_the_file_of_its_first_sign(tag, shard):
    assert shard_for(tag) == shard


@given(st.text())
def test_every_tag_has_a_file(tag):
    assert shard_for(tag) in {f"tags/{name}.md" for name in SHARDS}


@pytest.mark.django_db
def test_one_open_finds_a_tag_with_its_nodes(project, other_project, tmp_path):
    make_node(project, "a", "x", title="Plan *B*", tags=["launch", "2026"])
    make_node(project, "b", "some\nwords", tags=["launch"])
    make_node(other_project, "c", "theirs", tags=["launch", "secret"])
    assert export_tags(project, tmp_path) == 2
    text = (tmp_path / shard_for("launch")).read_text()
    assert "## launch\n\n- " in text
    assert "- Plan \\*B\\* (`a`)" in text
    assert "- some words (`b`)" in text
    assert "theirs" not in text
    assert "## 2026" in (tmp_path / "tags/2.md").read_text()
    assert len(list((tmp_path / "tags").iterdir())) == len(SHARDS)


@pytest.mark.django_db
def test_a_tag_that_is_gone_is_gone_from_its_file(project, tmp_path):
    node = make_node(project, "a", "x", tags=["launch"])
    export_tags(project, tmp_path)
    node.delete()
    assert export_tags(project, tmp_path) == 0
    assert "launch" not in (tmp_path / "tags/l.md").read_text()


@pytest.mark.django_db
def test_the_command_says_how_many_and_what_was_wrong(project, tmp_path, capsys):
    make_node(project, "a", "x", tags=["launch"])
    call_command("export_tags", str(tmp_path), "--project", "acme/main", "--json")
    assert json.loads(capsys.readouterr().out)["tags"] == 1
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(CommandError, match="Not a directory"):
        call_command("export_tags", str(blocked), "--project", "acme/main")
