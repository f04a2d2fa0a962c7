from __future__ import annotations

import hashlib
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connections.records import AudienceDraft, EdgeDraft, Failure, Record, clean_key
from connections.sources import files_walk
from connections.sources.base import Pull, SourceError, connectors
from connections.sources.files import FolderConnector
from connections.sources.files_links import resolve
from connections.sources.files_walk import clean_name


def write(root: Path, path: str, text: str | bytes = "Words.") -> Path:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())
    return target


def pull(location: Path, **more: object) -> list[Record | Failure]:
    return list(FolderConnector().pull(Pull(location, "docs", **more)))  # type: ignore[arg-type]


def keys(location: Path, **more: object) -> list[str]:
    return [item.key for item in pull(location, **more) if isinstance(item, Record)]


def failures(location: Path) -> dict[str, str]:
    found = (item for item in pull(location) if isinstance(item, Failure))
    return {item.item: item.error for item in found}


def record(location: Path, key: str, **more: object) -> Record:
    found = (item for item in pull(location, **more) if isinstance(item, Record))
    return next(item for item in found if item.key == key)


def edges(item: Record, relation: str) -> list[EdgeDraft]:
    return [edge for edge in item.edges if edge.relation == relation]


def test_the_connector_is_registered_as_a_complete_shared_source() -> None:
    found = connectors["folder"]
    assert found is FolderConnector
    assert (found.kind, found.source_kind) == ("folder", "folder")
    assert (found.complete, found.personal) == (True, False)


def test_a_folder_comes_before_what_it_holds_in_sorted_order(tmp_path: Path) -> None:
    for path in ("b.md", "a/z.md", "a/b/c.txt"):
        write(tmp_path, path)
    assert keys(tmp_path) == [
        "folder:.",
        "folder:a",
        "folder:a/b",
        "file:a/b/c.txt",
        "file:a/z.md",
        "file:b.md",
    ]


def test_a_prefix_goes_between_the_kind_and_the_path(tmp_path: Path) -> None:
    write(tmp_path, "a/b.md", "# One\nx [c](c.md)\n# Two\ny")
    write(tmp_path, "a/c.md")
    found = record(tmp_path, "file:wiki/a/b.md", file_prefix="wiki/")
    assert [node.key for node in found.nodes] == [
        "file:wiki/a/b.md",
        "file:wiki/a/b.md#0",
        "file:wiki/a/b.md#1",
    ]
    assert [edge.target for edge in edges(found, "in_folder")] == ["folder:wiki/a"]
    assert [edge.target for edge in edges(found, "mentions")] == ["file:wiki/a/c.md"]
    parent = record(tmp_path, "folder:wiki/a", file_prefix="wiki/")
    assert [edge.target for edge in edges(parent, "in_folder")] == ["folder:wiki/."]


def test_a_file_is_a_record_with_its_sections(tmp_path: Path) -> None:
    text = (
        "---\ndate: 2023-05-08\nlang: de\ntags: [hr]\n---\n# Interviews\nx\n## Panel\ny"
    )
    write(tmp_path, "handbook/hiring/interviews.md", text)
    os.utime(tmp_path / "handbook/hiring/interviews.md", (0, 0))
    found = record(tmp_path, "file:handbook/hiring/interviews.md")
    own, first, second = found.nodes
    assert (own.node_type, own.title, own.content) == ("file", "Interviews", "")
    assert own.context == "handbook / hiring / interviews.md · Monday 8 May 2023"
    assert own.tags == ("hr",)
    assert own.occurred_at == found.occurred_at == datetime(2023, 5, 8, tzinfo=UTC)
    assert own.metadata["path"] == "handbook/hiring/interviews.md"
    assert own.metadata["size"] == len(text)
    assert own.metadata["type"] == "md"
    assert own.metadata["modified"] == "1970-01-01T00:00:00+00:00"
    assert own.metadata["title_source"] == "heading"
    assert {node.language for node in found.nodes} == {"german"}
    assert (first.node_type, first.title, first.part) == ("section", "Interviews", True)
    assert second.content == "## Panel\ny"
    assert second.context == (
        "Interviews · handbook / hiring / interviews.md · Monday 8 May 2023"
    )
    assert second.metadata == {"part": 1, "position": 1, "heading_path": ["Interviews"]}
    assert [edge.source for edge in edges(found, "part_of")] == [first.key, second.key]
    assert found.body == "# Interviews\nx\n\n## Panel\ny"
    assert found.raw_sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (found.kind, found.counted, found.version) == ("file", True, 0)


def test_a_folder_is_a_record_that_is_not_counted(tmp_path: Path) -> None:
    write(tmp_path, "team/plans/q1.md")
    found = record(tmp_path, "folder:team/plans")
    assert (found.kind, found.counted, found.nodes[0].title) == (
        "folder",
        False,
        "plans",
    )
    root = record(tmp_path, "folder:.")
    assert (root.nodes[0].title, root.edges) == (tmp_path.name, ())


def test_a_date_on_disk_is_no_day_of_the_document(tmp_path: Path) -> None:
    os.utime(write(tmp_path, "on-call_rota.txt"), (86_400, 86_400))
    own, section = record(tmp_path, "file:on-call_rota.txt").nodes
    assert own.occurred_at == datetime(1970, 1, 2, tzinfo=UTC)
    assert own.context == "on-call_rota.txt · on call rota"
    assert section.title == own.title == "on-call_rota.txt"
    assert own.metadata["title_source"] == "file name"


def test_a_day_in_the_name_of_a_file_is_its_date(tmp_path: Path) -> None:
    for name in ("2024-09-12_minutes.md", "2024-99-12.md", "12024-09-12.md"):
        os.utime(write(tmp_path, name), (0, 0))
    own, section = record(tmp_path, "file:2024-09-12_minutes.md").nodes
    assert own.occurred_at == datetime(2024, 9, 12, tzinfo=UTC)
    assert own.context.endswith("Thursday 12 September 2024")
    assert section.context.endswith("Thursday 12 September 2024")
    for name in ("2024-99-12.md", "12024-09-12.md"):
        on_disk = datetime(1970, 1, 1, tzinfo=UTC)
        assert record(tmp_path, f"file:{name}").occurred_at == on_disk


def test_deeper_sections_name_the_headings_above_them(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "# Top\nx\n## Mid\ny\n### Low\nz")
    assert record(tmp_path, "file:a.md").nodes[-1].context == "Top · Mid · a.md"


def test_links_to_files_of_the_folder_are_mentions(tmp_path: Path) -> None:
    text = (
        "[plan](../plan.md#when) [again](../plan.md) [site](/guide/) [self](links.md) "
        "[out](../../../etc/passwd) [web](https://x.test/plan.md) [gone](gone.md) "
        "[page](my%20page.html)"
    )
    for path in ("plan.md", "guide/index.md", "a/my page.md"):
        write(tmp_path, path)
    write(tmp_path, "a/links.md", text)
    found = edges(record(tmp_path, "file:a/links.md"), "mentions")
    assert [(edge.target, edge.weight, edge.quote) for edge in found] == [
        ("file:a/my page.md", 1.0, "page"),
        ("file:guide/index.md", 1.0, "site"),
        ("file:plan.md", 2.0, "plan"),
    ]
    assert {edge.source for edge in found} == {"file:a/links.md#0"}


@pytest.mark.parametrize(
    "target", ["", "#a", "//x/y", "http://[", "mailto:a@b.test", "../..", "a\0"]
)
def test_what_is_no_link_to_a_file_resolves_to_none(target: str) -> None:
    assert resolve(target, "b/c.md", {"a", "index.md"}) is None


def test_a_file_that_is_no_text_is_found_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, "art/org-chart.png", b"\x89PNG\x00\x00\x01")
    found = record(tmp_path, "file:art/org-chart.png")
    assert found.nodes[0].title == "org-chart.png"
    assert [node.content for node in found.nodes] == ["", ""]
    assert "org chart" in found.nodes[1].context
    assert found.warnings[0].startswith("not read as text: binary")


def test_what_could_not_be_read_of_a_file_is_a_warning(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "---\nx: [\n---\nText")
    assert "not valid YAML" in record(tmp_path, "file:a.md").warnings[0]


def test_an_address_in_the_frontmatter_is_the_permalink(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "---\nsource: https://acme.test/a\npermalink: /a/\n---\nx")
    assert record(tmp_path, "file:a.md").permalink == "https://acme.test/a"


def test_a_single_file_is_the_only_record(tmp_path: Path) -> None:
    write(tmp_path, "b.md")
    only = write(tmp_path, "a.md")
    found = record(only, "file:a.md")
    assert keys(only) == ["file:a.md"]
    assert edges(found, "in_folder") == []


def test_a_missing_or_empty_place_is_an_error_of_the_source(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        FolderConnector().pull(Pull(tmp_path / "none", "docs"))
    with pytest.raises(SourceError, match="holds no files"):
        FolderConnector().pull(Pull(tmp_path, "docs"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="is not a folder"):
        FolderConnector().pull(Pull(tmp_path / "pipe", "docs"))


def test_what_is_no_document_of_a_person_is_ignored(tmp_path: Path) -> None:
    for path in (
        ".git/config",
        ".hidden.md",
        "node_modules/x/readme.md",
        "__pycache__/a.py",
        ".venv/lib/a.py",
        "~$plan.docx",
        "Thumbs.db",
        ".DS_Store",
        "draft.md~",
        "kept.md",
    ):
        write(tmp_path, path)
    assert keys(tmp_path) == ["folder:.", "file:kept.md"]


def test_links_on_disk_never_lead_out_or_in_circles(tmp_path: Path) -> None:
    secret = write(tmp_path, "outside/secret.md", "Secret.")
    root = tmp_path / "root"
    write(root, "a/real.md")
    (root / "a/loop").symlink_to(root)
    (root / "a/out").symlink_to(secret.parent)
    (root / "a/secret.md").symlink_to(secret)
    (root / "alias.md").symlink_to(root / "a/real.md")
    (root / "dangling.md").symlink_to(root / "none.md")
    (root / "self.md").symlink_to(root / "self.md")
    assert keys(root) == ["folder:.", "folder:a", "file:a/real.md", "file:alias.md"]
    found = failures(root)
    assert sorted(found) == ["a/out", "a/secret.md", "dangling.md", "self.md"]
    assert "leads out of the folder" in found["a/secret.md"]
    assert "leads nowhere" in found["dangling.md"]


def test_pipes_and_sockets_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as plug:
        here = os.getcwd()
        os.chdir(tmp_path)
        try:
            plug.bind("socket.md")
        finally:
            os.chdir(here)
        assert keys(tmp_path) == ["folder:.", "file:a.md"]
    assert failures(tmp_path) == {}


def test_a_file_too_large_fails_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_walk, "MAX_FILE_BYTES", 10)
    write(tmp_path, "large.txt", "x" * 11)
    write(tmp_path, "small.txt", "x" * 10)
    assert keys(tmp_path) == ["folder:.", "file:small.txt"]
    assert "too large: 11 bytes; up to 10" in failures(tmp_path)["large.txt"]


def test_what_may_not_be_opened_fails_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "closed.md")
    write(tmp_path, "open.md")
    write(tmp_path, "shut/a.md")
    really_open, really_scan = os.open, os.scandir

    def opened(path: str, *rest: int) -> int:
        if path.endswith("closed.md"):
            raise PermissionError(13, "Permission denied")
        return really_open(path, *rest)

    def scanned(path: str) -> object:
        if path.endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return really_scan(path)

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "scandir", scanned)
    assert keys(tmp_path) == ["folder:.", "file:open.md", "folder:shut"]
    assert failures(tmp_path) == {
        "closed.md": "the file cannot be read: Permission denied",
        "shut": "the folder cannot be read: Permission denied",
    }


def test_names_that_are_not_utf8_or_hold_newlines_have_stable_keys(
    tmp_path: Path,
) -> None:
    for name in (b"caf\xe9.md", b"two\nlines.md", "naïve ü.md".encode()):
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
            file.write(b"# Menu\nx")
    assert keys(tmp_path) == [
        "folder:.",
        r"file:caf\xe9.md",
        "file:naïve ü.md",
        r"file:two\nlines.md",
    ]
    assert failures(tmp_path) == {}
    assert clean_name("plain-ü.md") == "plain-ü.md"


def test_two_files_of_one_key_are_not_merged_silently(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "one")
    write(tmp_path, "a.md ", "two")
    assert keys(tmp_path) == ["folder:.", "file:a.md"]
    assert "already that of 'a.md'" in failures(tmp_path)["a.md "]


def test_a_key_past_512_bytes_is_cut_the_same_way_everywhere(tmp_path: Path) -> None:
    folder = "/".join(["f" * 200] * 3)
    write(tmp_path, f"{folder}/a.md")
    found = record(tmp_path, clean_key(f"file:{folder}/a.md"))
    assert len(found.key) == 512
    assert edges(found, "in_folder")[0].target == clean_key(f"folder:{folder}")


def test_a_moved_file_has_the_key_of_its_new_place(tmp_path: Path) -> None:
    before = write(tmp_path, "a.md", "# A\nx")
    old = record(tmp_path, "file:a.md")
    (tmp_path / "b").mkdir()
    before.rename(tmp_path / "b/a.md")
    assert keys(tmp_path) == ["folder:.", "folder:b", "file:b/a.md"]
    assert record(tmp_path, "file:b/a.md").raw_sha256 == old.raw_sha256


def test_only_a_changed_file_has_another_content_hash(tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", "# A\nx")
    os.utime(path, (1, 1))
    first, again = (record(tmp_path, "file:a.md").content_hash for _ in range(2))
    path.write_text("# A\ny")
    os.utime(path, (1, 1))
    assert first == again
    assert record(tmp_path, "file:a.md").content_hash != first


@pytest.mark.parametrize("day", ["1970-01-01", "2099-12-31"])
def test_far_dates_pass_through(tmp_path: Path, day: str) -> None:
    write(tmp_path, "a.md", f"---\ndate: {day}\n---\nx")
    found = record(tmp_path, "file:a.md").occurred_at
    assert found == datetime.fromisoformat(f"{day}T00:00:00+00:00")


def test_bytes_that_are_no_utf8_are_still_words(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", b"caf\xe9 cr\xe8me, d\xe9j\xe0 vu")
    assert "caf" in record(tmp_path, "file:a.txt").body


def test_the_audience_that_was_decided_holds_for_all(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    mine = AudienceDraft("private", "ann@acme.test")
    assert {item.audience for item in pull(tmp_path, audience=mine)} == {mine}  # type: ignore[union-attr]
