"""Runs over real folders and exports, as the command makes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.db import connection

from connections.models import Audit, SyncRun
from connections.records import Failure
from connections.sources.base import SourceBusy, SourceError
from graph import embed
from graph import ingest as runs
from graph.ingest import ingest
from graph.integrity import find_gaps
from graph.models import Edge, Node, Record
from graph.sources import connect_source
from tests.connections.sources.slack_files import ROOT, make_message, write
from tests.factories import draft_message, make_project, take_in
from tests.graph.snapshots import differences, snapshot, writes
from tests.migrated import owner_at

pytestmark = pytest.mark.django_db


def make_export(folder: Path, days: int = 2) -> Path:
    """Write a small Slack export with a thread, a mention and a private channel."""
    secret = {"id": "G1", "name": "secret", "members": ["U1"], "is_private": True}
    files: dict[str, object] = ROOT | {"groups.json": [secret]}
    for day in range(days):
        base = 1683554240 + 86400 * day
        root = f"{base}.000001"
        files[f"general/2023-05-{8 + day:02}.json"] = [
            make_message(ts=root, text=f"Shall we ship {day}?", thread_ts=root),
            make_message(
                ts=f"{base + 1}.000001", text="Yes, <@U1>.", user="U2", thread_ts=root
            ),
            make_message(ts=f"{base + 2}.000001", text=f"Lunch {day}"),
        ]
        files[f"secret/2023-05-{8 + day:02}.json"] = [
            make_message(ts=f"{base + 3}.000001", text=f"Reorganisation {day}"),
        ]
    return write(folder, files)


def make_files(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def read(project, kind, location, **options):
    source = connect_source(project=project, kind=kind, location=location, **options)
    return ingest(source)


def counts(run):
    return {
        name: getattr(run, name)
        for name in ("seen", "created", "updated", "unchanged", "deleted", "failed")
        if getattr(run, name)
    }


@pytest.fixture
def folder(project, tmp_path):
    files = {f"note{n}": f"# Note {n}\n\nWords of {n}." for n in range(5)}
    make_files(tmp_path / "files", **files)
    read(project, "folder", tmp_path / "files")
    return tmp_path / "files"


class TestCounts:
    def test_a_first_run_creates_and_a_second_finds_all_unchanged(
        self, project, tmp_path
    ):
        export = make_export(tmp_path)
        first = read(project, "slack", export)
        assert first.state == SyncRun.State.FINISHED
        assert counts(first) == {"seen": 8, "created": 8}
        assert counts(read(project, "slack", export)) == {"seen": 8, "unchanged": 8}
        assert Audit.objects.filter(verb="source.read").count() == 2

    def test_what_could_not_be_read_is_counted_and_listed(self, project, tmp_path):
        export = make_export(tmp_path)
        (export / "general" / "2023-05-10.json").write_text("{no json")
        run = read(project, "slack", export)
        assert counts(run) == {"seen": 9, "created": 8, "failed": 1}
        assert "2023-05-10.json" in run.errors.get(is_warning=False).item

    def test_a_source_that_cannot_be_read_leaves_a_run_that_says_why(
        self, project, tmp_path
    ):
        make_export(tmp_path / "export")
        source = connect_source(
            project=project, kind="slack", location=tmp_path / "export"
        )
        (tmp_path / "export").rename(tmp_path / "moved")
        with pytest.raises(SourceError):
            ingest(source)
        run = source.runs.get()
        assert run.state == SyncRun.State.FAILED
        assert "export" in run.error

    def test_a_failed_item_from_a_push_is_kept_too(self, project):
        found = take_in(project, Failure("x.json", "is no JSON"), draft_message())
        assert (found.seen, found.failed, found.created) == (2, 1, 1)


class TestFiles:
    def test_a_vanished_file_is_marked_and_stays_readable(self, project, folder):
        (folder / "note0.md").unlink()
        assert counts(read(project, "folder", folder)) == {
            "seen": 4,
            "unchanged": 4,
            "deleted": 1,
        }
        gone = Node.objects.of(project).exclude(gone_at=None)
        assert {n.key for n in gone} == {"file:note0.md", "file:note0.md#0"}
        assert gone.filter(valid_to=None, trashed_at=None).count() == 2
        assert find_gaps(project).nodes == ()
        again = counts(read(project, "folder", folder))
        assert again == {"seen": 4, "unchanged": 4}

    def test_what_a_vanished_file_said_ends_though_nothing_else_changed(
        self, project, folder
    ):
        make_files(folder, plan="# Plan\n\nWe decided to use Elasticsearch.")
        read(project, "folder", folder)
        said = Node.objects.of(project).filter(origin="extraction", valid_to=None)
        known = said.filter(content__contains="Elasticsearch")
        assert known.count() == 1
        (folder / "plan.md").unlink()
        assert counts(read(project, "folder", folder))["deleted"] == 1
        assert not known.exists()

    def test_a_returned_file_is_as_before(self, project, folder):
        before = snapshot(project)
        text = (folder / "note0.md").read_bytes()
        stat = (folder / "note0.md").stat()
        (folder / "note0.md").unlink()
        read(project, "folder", folder)
        (folder / "note0.md").write_bytes(text)
        os.utime(folder / "note0.md", (stat.st_atime, stat.st_mtime))
        assert read(project, "folder", folder).updated == 1
        assert differences(before, snapshot(project)) == []

    def test_a_moved_file_is_ended_where_it_was_and_says_where_it_went(
        self, project, folder
    ):
        (folder / "note0.md").rename(folder / "renamed.md")
        run = read(project, "folder", folder)
        assert counts(run) == {"seen": 5, "created": 1, "unchanged": 4, "deleted": 1}
        assert Record.objects.get(key="file:note0.md").moved_to == "file:renamed.md"
        ended = Node.objects.of(project).exclude(valid_to=None)
        assert {n.key for n in ended} == {"file:note0.md", "file:note0.md#0"}
        (folder / "renamed.md").rename(folder / "note0.md")
        read(project, "folder", folder)
        back = Node.objects.of(project).get(key="file:note0.md")
        assert (back.valid_to, back.gone_at) == (None, None)
        assert Record.objects.get(key="file:note0.md").moved_to == ""

    def test_a_file_that_cannot_be_read_this_time_has_not_vanished(
        self, project, folder, monkeypatch
    ):
        from connections.sources import files

        real = files.contents

        def refuse(path):
            if "note0" in str(path):
                raise files.NotRead("the disk says no")
            return real(path)

        monkeypatch.setattr(files, "contents", refuse)
        run = read(project, "folder", folder)
        assert (run.failed, run.deleted) == (1, 0)
        assert Node.objects.of(project).get(key="file:note0.md").gone_at is None

    def test_what_lies_in_a_folder_that_cannot_be_read_has_not_vanished(
        self, project, tmp_path, monkeypatch
    ):
        folder = make_files(tmp_path, top="Top")
        make_files(folder / "below" / "deep", a="A", b="B")
        read(project, "folder", folder)
        real = os.scandir

        def refuse(path):
            if str(path).endswith("below"):
                raise PermissionError(13, "Permission denied")
            return real(path)

        monkeypatch.setattr(os, "scandir", refuse)
        run = read(project, "folder", folder)
        assert (run.failed, run.deleted) == (1, 0)
        assert not Node.objects.of(project).exclude(gone_at=None).exists()

    def test_an_empty_folder_is_taken_for_a_mount_that_is_gone(self, project, folder):
        for path in folder.iterdir():
            path.unlink()
        with pytest.raises(SourceError, match="is it mounted"):
            read(project, "folder", folder)
        assert not Node.objects.of(project).exclude(gone_at=None).exists()

    def test_many_missing_files_are_not_believed(self, project, tmp_path):
        names = [f"n{n:03}" for n in range(120)]
        folder = make_files(tmp_path / "many", **dict.fromkeys(names, "words"))
        read(project, "folder", folder)
        for name in names[:51]:
            (folder / f"{name}.md").unlink()
        with pytest.raises(SourceError, match="51 of 120"):
            read(project, "folder", folder)
        assert not Record.objects.exclude(gone_at=None).exists()
        (folder / f"{names[0]}.md").write_text("words")
        assert read(project, "folder", folder).deleted == 50

    def test_an_archive_never_deletes_by_absence(self, project, tmp_path):
        export = make_export(tmp_path, days=2)
        read(project, "slack", export)
        (export / "general" / "2023-05-09.json").unlink()
        run = read(project, "slack", export)
        assert run.deleted == 0
        assert not Record.objects.exclude(gone_at=None).exists()

    def test_an_edited_file_loses_what_it_no_longer_says(self, project, folder):
        make_files(folder, note0="# Note 0\n\nSee [one](note1.md).")
        read(project, "folder", folder)
        link = Edge.objects.of(project).live().get(relation="mentions")
        assert (link.source.key, link.target.key) == (
            "file:note0.md#1",
            "file:note1.md",
        )
        make_files(folder, note0="# Note 0\n\nNothing.")
        read(project, "folder", folder)
        assert not Edge.objects.of(project).live().filter(relation="mentions").exists()
        gaps = find_gaps(project)
        assert (gaps.nodes, gaps.edges) == ((), ())

    def test_two_folders_keep_their_files_apart(self, project, folder, tmp_path):
        make_files(tmp_path / "other", note0="Others' words")
        read(project, "folder", tmp_path / "other", name="other")
        keys = set(
            Node.objects.of(project)
            .filter(node_type="file")
            .values_list("key", flat=True)
        )
        assert {"file:note0.md", "file:other/note0.md"} < keys


class TestInterrupted:
    def test_what_follows_a_run_is_made_up_for_after_one_that_broke_off(
        self, project, tmp_path, monkeypatch
    ):
        export = make_export(tmp_path)
        with monkeypatch.context() as patch:
            patch.setattr(
                runs, "_after", lambda source: (_ for _ in ()).throw(MemoryError)
            )
            with pytest.raises(MemoryError):
                read(project, "slack", export)
        read(project, "slack", export)
        undisturbed = make_project("acme/undisturbed")
        read(undisturbed, "slack", export)
        assert differences(snapshot(undisturbed), snapshot(project)) == []
        assert Edge.objects.of(project).filter(relation="has_email").exists()

    def test_a_run_that_was_killed_is_closed_by_the_next(self, project, tmp_path):
        export = make_export(tmp_path)
        source = connect_source(project=project, kind="slack", location=export)
        killed = SyncRun.objects.create(source=source)
        ingest(source)
        killed.refresh_from_db()
        assert killed.state == SyncRun.State.FAILED
        assert "killed" in killed.error


def test_a_source_is_read_by_one_run_at_a_time(project, tmp_path):
    source = connect_source(
        project=project, kind="slack", location=make_export(tmp_path)
    )
    with owner_at(connection.settings_dict["NAME"]) as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", [0x736F_7263, source.pk])
        with pytest.raises(SourceBusy, match="another run"):
            ingest(source)
        other.execute("SELECT pg_advisory_unlock_all()")
    assert ingest(source).state == SyncRun.State.FINISHED


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
class TestOutsideATransaction:
    def test_a_second_run_writes_nothing_in_graph_tables(self, tmp_path):
        project = make_project()
        export, files = make_export(tmp_path / "slack"), tmp_path / "files"
        make_files(files, a="# A\n\nSee [b](b.md).", b="# B\n\nWords.")
        for kind, location in (("slack", export), ("folder", files)):
            read(project, kind, location)
        embed.embed_backlog(project.pk)
        before = writes()
        assert all(
            before[table][0]
            for table in (
                "graph_records",
                "graph_nodes",
                "graph_edges",
                "graph_evidence",
                "graph_identities",
            )
        )
        for kind, location in (("slack", export), ("folder", files)):
            run = read(project, kind, location)
            assert run.unchanged == run.seen > 0
        assert embed.embed_backlog(project.pk) == 0
        assert writes() == before

    def test_a_broken_item_neither_frees_the_source_nor_loses_the_walk(
        self, tmp_path, monkeypatch
    ):
        """The lock and the table of what was seen live in the session."""
        from dataclasses import replace

        from connections.sources import files as source_files

        project = make_project()
        make_files(tmp_path, a="A", b="B", c="C")
        real = source_files._Reading.record

        def spoil(self, found):
            record = real(self, found)
            is_b = getattr(record, "key", "") == "file:b.md"
            return replace(record, kind="x" * 50) if is_b else record

        monkeypatch.setattr(source_files._Reading, "record", spoil)
        sessions = set()

        def progress(_):
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_backend_pid(), to_regclass('pg_temp.seen_by_run')"
                )
                sessions.add(cursor.fetchone())

        source = connect_source(project=project, kind="folder", location=tmp_path)
        run = ingest(source, progress=progress)
        assert (run.created, run.failed) == (2, 1)
        assert len({pid for pid, _ in sessions}) == 1

    def test_vectors_of_a_first_load_are_there_at_once_and_so_is_their_index(
        self, tmp_path
    ):
        project = make_project()
        read(project, "slack", make_export(tmp_path))
        assert embed.index_exists()
        messages = Node.objects.of(project).filter(node_type="message")
        assert messages.exclude(embedding=None).count() == 8
