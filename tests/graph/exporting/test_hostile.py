"""What is no export, or no longer what was written, is refused with file and line."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from connections.models import Project
from graph.exporting.errors import BadExport, ExportingError, FolderError, NotEmpty
from graph.exporting.export import Options, export_graph
from graph.exporting.restore import import_graph
from graph.models import Node
from tests.factories import NOON, make_edge, make_node, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def copy(project) -> Project:
    return make_project("acme/copy")


@pytest.fixture
def folder(project, tmp_path) -> Path:
    one = make_node(project, "a", "first", occurred_at=NOON, tags=["launch"])
    make_edge(one, make_node(project, "b", "second"))
    export_graph(project, tmp_path / "out")
    return tmp_path / "out"


def forge(folder: Path, part: str, line: int, **changed: object) -> None:
    """Change a line as one would who writes a manifest that fits."""
    path = folder / f"data/{part}.jsonl"
    lines = path.read_text().splitlines()
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | changed)
    rewrite(folder, part, "".join(f"{text}\n" for text in lines).encode())


def rewrite(folder: Path, part: str, content: bytes) -> None:
    path = folder / f"data/{part}.jsonl"
    path.write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][f"data/{part}.jsonl"] = {
        "lines": content.count(b"\n"),
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))


def refused(project: Project, folder: Path, said: str) -> None:
    with pytest.raises(ExportingError, match=said):
        import_graph(project, folder)
    assert not Node.objects.filter(project=project).exists()


def test_a_truncated_file_is_refused_by_name_and_line(copy, folder):
    path = folder / "data/nodes.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    refused(copy, folder, r"data/nodes.jsonl, line 2: the file is cut off here")
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    refused(copy, folder, r"data/nodes.jsonl, line 1: it ends here; .* has 2 lines")


def test_a_changed_file_is_refused_by_name_and_where_it_shows_by_line(copy, folder):
    path = folder / "data/nodes.jsonl"
    whole = path.read_text()
    path.write_text(whole.replace("second", "2nd"))
    refused(copy, folder, "data/nodes.jsonl: it was changed since")
    path.write_text(whole.replace('{"key":"b"', '{"key":b'))
    refused(copy, folder, "data/nodes.jsonl, line 2: it is no JSON")
    path.unlink()
    refused(copy, folder, "data/nodes.jsonl: the file is missing")


def test_a_changed_page_and_a_foreign_one_are_refused(copy, folder):
    page = next((folder / "nodes").rglob("*.md"))
    before = page.read_text()
    page.write_text(before + "more")
    refused(copy, folder, f"{page.name}: it was changed")
    page.write_text(before)
    (page.parent / "notes.md").write_text("mine")
    refused(copy, folder, "SHA256SUMS: it lists .* pages")
    (page.parent / "notes.md").unlink()
    (folder / "data/other.jsonl").write_text("")
    refused(copy, folder, "data/other.jsonl: no export has this")
    (folder / "data/other.jsonl").unlink()
    (folder / ".obsidian").mkdir()
    assert import_graph(copy, folder).lines["nodes"] == 2


def test_what_is_no_export_is_refused(copy, folder, tmp_path):
    refused(copy, tmp_path / "nothing", "is no folder; unpack an archive first")
    shutil.make_archive(str(tmp_path / "packed"), "zip", folder)
    refused(copy, tmp_path / "packed.zip", "is no folder; unpack")
    (tmp_path / "empty").mkdir()
    refused(copy, tmp_path / "empty", "has no manifest.json")
    said = json.loads((folder / "manifest.json").read_text())
    for changed, why in (
        ({"format": "zip"}, "no export of Fabric"),
        ({"version": 2}, "reads version 1"),
        ({"files": 7}, "damaged"),
        ({"pages": None}, "damaged"),
        (
            {
                "files": said["files"]
                | {"../../etc/passwd": said["files"]["data/nodes.jsonl"]}
            },
            "etc/passwd.*no export has",
        ),
        ({"files": {}}, "does not name data/"),
    ):
        (folder / "manifest.json").write_text(json.dumps(said | changed))
        refused(copy, folder, why)
    (folder / "manifest.json").write_text("[" * 100_000)
    refused(copy, folder, "nested too deeply|no JSON")


def test_links_to_other_places_are_not_followed(copy, folder, tmp_path):
    path = folder / "data/nodes.jsonl"
    path.rename(tmp_path / "nodes.jsonl")
    path.symlink_to(tmp_path / "nodes.jsonl")
    refused(copy, folder, "data/nodes.jsonl: it is a link")


def test_sums_may_name_no_file_outside(copy, folder):
    sums = folder / "SHA256SUMS"
    sums.write_text(f"{'0' * 64}  nodes/../../../etc/passwd\n")
    said = json.loads((folder / "manifest.json").read_text())
    said["pages"]["sums"] = hashlib.sha256(sums.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(said))
    refused(copy, folder, "SHA256SUMS, line 1: it names no page")


@pytest.mark.parametrize(
    ("part", "changed", "why"),
    [
        ("nodes", {"node_type": "spaceship"}, "no node type 'spaceship'"),
        ("edges", {"relation": "teleports"}, "no relation 'teleports'"),
        ("edges", {"target": "of another project"}, "target is .*does not have"),
        ("nodes", {"audience": "members:nobody"}, "audience is .*does not have"),
        ("nodes", {"title": 7}, "title is no text"),
        ("nodes", {"title": None}, "title may not be null"),
        ("nodes", {"title": "a\0b"}, "it holds a NUL"),
        ("nodes", {"title": "\ud800"}, "half a sign"),
        ("nodes", {"origin": "x" * 40}, "40 signs, 32 at most"),
        ("nodes", {"tags": "launch"}, "tags is no list"),
        ("nodes", {"occurred_at": "yesterday"}, "occurred_at is no moment"),
        ("nodes", {"precedence": "1"}, "precedence is no number"),
        ("nodes", {"key": "memory:9999999999999999999"}, "no number of a memory"),
        ("nodes", {"key": "k" * 600}, "1 to 512 bytes"),
        ("nodes", {"language": "klingon"}, "no text search configuration"),
        ("nodes", {"surprise": 1}, "'surprise' is not known"),
        ("edges", {"weight": -1}, "graph_edges_weight"),
        ("records", {"version": 1 << 70}, "version is not between"),
        ("audiences", {"kind": "everyone"}, "none of members, private, public"),
        ("audiences", {"kind": "private", "key": "user:1"}, "by number"),
        ("sources", {"owner": "not an address"}, "no e-mail address"),
    ],
)
def test_a_line_that_cannot_be_is_refused_by_file_and_line(
    copy, folder, part, changed, why
):
    forge(folder, part, 1, **changed)
    refused(copy, folder, rf"data/{part}.jsonl(, line 1)?: .*{why}")


def test_numbers_that_are_none_and_lines_without_end_are_refused(
    copy, folder, monkeypatch
):
    whole = (folder / "data/nodes.jsonl").read_bytes()
    rewrite(folder, "nodes", whole.replace(b'"precedence":0', b'"precedence":NaN', 1))
    refused(copy, folder, "line 1: NaN is no number")
    rewrite(folder, "nodes", whole.replace(b'"precedence":0', b'"precedence":1e999', 1))
    refused(copy, folder, "line 1: precedence is no number")
    rewrite(folder, "nodes", whole.replace(b"first", b"\xff", 1))
    refused(copy, folder, "line 1: it is no UTF-8")
    monkeypatch.setattr("graph.exporting.checking.MOST_LINE", 200)
    rewrite(folder, "nodes", whole)
    refused(copy, folder, "line 1: it is longer than 200 bytes")


def test_the_same_address_twice_is_refused(copy, folder):
    whole = (folder / "data/nodes.jsonl").read_bytes()
    rewrite(folder, "nodes", whole + whole.splitlines(keepends=True)[0])
    refused(copy, folder, "data/nodes.jsonl, line 3: an earlier line has the same")


def test_a_project_that_is_not_empty_is_refused_unless_it_is_the_same(
    project, copy, folder
):
    import_graph(copy, folder)
    assert import_graph(copy, folder).already
    assert import_graph(project, folder).already
    make_node(copy, "c", "another")
    with pytest.raises(NotEmpty, match="acme/copy is not empty"):
        import_graph(copy, folder)
    assert Node.objects.filter(project=copy).count() == 3


def test_an_export_as_of_a_moment_is_for_reading(project, copy, tmp_path):
    make_node(project, "old", "was", valid_to=NOON)
    make_node(project, "new", "is", valid_from=NOON)
    exported = export_graph(project, tmp_path / "then", Options(as_of=NOON))
    names = [path.name for path in (tmp_path / "then").rglob("*.md")]
    assert (
        [name for name in names if name.startswith(("old", "new"))]
        == [name for name in names if name.startswith("new")]
        != []
    )
    assert exported.lines == {}
    refused(copy, tmp_path / "then", "it is for reading")


def test_a_dry_run_checks_all_and_keeps_nothing(folder, capsys):
    call_command(
        "import_graph",
        str(folder),
        "--project",
        "new/one",
        "--create",
        "--dry-run",
        "--json",
    )
    assert json.loads(capsys.readouterr().out)["lines"]["nodes"] == 2
    assert not Project.objects.filter(slug="one").exists()
    forge(folder, "nodes", 1, node_type="spaceship")
    with pytest.raises(CommandError, match="spaceship"):
        call_command(
            "import_graph", str(folder), "--project", "new/one", "--create", "--dry-run"
        )


def test_the_commands_export_and_import(folder, tmp_path, capsys):
    out = tmp_path / "again"
    call_command("export_graph", str(out), "--project", "acme/main", "--json")
    assert json.loads(capsys.readouterr().out)["lines"]["nodes"] == 2
    call_command("import_graph", str(out), "--project", "new/one", "--create")
    assert "lines restored" in capsys.readouterr().out
    call_command("import_graph", str(out), "--project", "new/one")
    assert "is this export already" in capsys.readouterr().out
    with pytest.raises(CommandError, match="not 'soon'"):
        call_command(
            "export_graph", str(out), "--project", "acme/main", "--as-of", "soon"
        )


def test_a_folder_of_somebody_else_is_never_replaced(project, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work")
    with pytest.raises(FolderError, match=r"holds thesis.txt"):
        export_graph(project, tmp_path / "mine")
    assert (tmp_path / "mine/thesis.txt").read_text() == "years of work"
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="Not a directory"):
        export_graph(project, tmp_path / "file")
    assert sorted(os.listdir(tmp_path)) == ["file", "mine"]


def test_git_stays_in_the_folder_that_is_replaced(project, folder):
    (folder / ".git").mkdir()
    (folder / ".git/HEAD").write_text("ref: refs/heads/main")
    make_node(project, "c", "third")
    export_graph(project, folder)
    assert (folder / ".git/HEAD").read_text() == "ref: refs/heads/main"
    assert "third" in (folder / "data/nodes.jsonl").read_text()
    assert sorted(p.name for p in folder.parent.iterdir()) == ["out"]


def test_a_failed_export_leaves_the_one_before(project, folder, monkeypatch):
    before = (folder / "manifest.json").read_bytes()
    make_node(project, "c", "third")
    monkeypatch.setattr("graph.exporting.export.MOST_LINE", 10)
    with pytest.raises(ExportingError, match="a line of"):
        export_graph(project, folder)
    assert (folder / "manifest.json").read_bytes() == before
    assert sorted(p.name for p in folder.parent.iterdir()) == ["out"]


def test_bad_exports_are_told_apart_from_folders_that_are_none():
    assert str(BadExport("data/x.jsonl", "why", line=3)) == "data/x.jsonl, line 3: why"
