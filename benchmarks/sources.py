"""The connectors on real archives, beside counts made without them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.counted import Counted, count_files, count_mbox, count_slack
from benchmarks.database import read
from benchmarks.report import Table, progress, real_data
from connections.models import Project, SyncRun
from graph.models import Edge, Node


@dataclass(frozen=True, slots=True)
class Archive:
    """A real source, and who else counts what it holds."""

    name: str
    kind: str
    path: tuple[str, ...]
    counted: Callable[[Path], Counted] | None = None


ARCHIVES = (
    Archive("easy-ham", "mail", ("email", "spamassassin-easy-ham.mbox"), count_mbox),
    Archive("mime-nasty", "mail", ("email", "mime-nasty"), count_files),
    Archive("r-contributors", "slack", ("slack", "r-contributors"), count_slack),
    Archive("houstondatavis", "slack", ("slack", "houstondatavis"), count_slack),
    Archive("18f-handbook", "folder", ("documents", "18f-handbook"), count_files),
    Archive("clef-handbook", "folder", ("documents", "clef-handbook"), count_files),
    Archive("thoughtbot", "folder", ("documents", "thoughtbot-guides"), count_files),
    Archive("office", "folder", ("documents", "office"), count_files),
)
RUN = ("seen", "created", "updated", "unchanged", "failed")


def run() -> list[Table]:
    """Read each archive twice; the second run has nothing to do."""
    table = Table("archive", "measure", "Fabric", "counted without it")
    for archive in ARCHIVES:
        path = real_data(*archive.path)
        if archive.kind == "slack":
            (path,) = path.glob("*.zip")
        progress(archive.name)
        where = f"bench/{archive.name}"
        project, first = read(where, archive.kind, path, name=archive.name)
        _, second = read(where, archive.kind, path, name=archive.name)
        _add(table, archive, path, project, (first, second))
    return [table]


def _add(
    table: Table,
    archive: Archive,
    path: Path,
    project: Project,
    runs: tuple[SyncRun, SyncRun],
) -> None:
    first, second = runs
    counted = archive.counted(path) if archive.counted else {}
    found = _counts(project, archive.kind)
    table.add(archive.name, "first run", _shown(first), counted.pop("items", ""))
    table.add("", "second run", _shown(second), "0 created, 0 updated")
    table.add("", "items a second", f"{first.seen / _seconds(first):,.0f}", "")
    for name in {**found, **counted}:
        table.add("", name, found.get(name, ""), counted.get(name, ""))
    for reason, items in _failures(first).items():
        table.add("", f"failed: {reason}", len(items), f"such as {items[0]}")


def _failures(run: SyncRun) -> dict[str, list[str]]:
    """Return the items that failed, by the reason given."""
    found: dict[str, list[str]] = defaultdict(list)
    for error in run.errors.filter(is_warning=False):
        found[_cell(error.error)].append(_cell(error.item))
    return found


def _shown(run: SyncRun) -> str:
    return ", ".join(f"{getattr(run, name)} {name}" for name in RUN)


def _seconds(run: SyncRun) -> float:
    assert run.finished_at
    return (run.finished_at - run.started_at).total_seconds()


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:160]


def _counts(project: Project, kind: str) -> dict[str, object]:
    """Return what is in the graph, by the names the independent counts use."""
    nodes = Node.objects.of(project).current()
    edges = Edge.objects.of(project).live()
    found: dict[str, object] = {"nodes": nodes.count(), "edges": edges.count()}
    if kind == "folder":
        files = nodes.filter(node_type="file")
        return found | {"files": files.count()}
    replies = edges.filter(relation="replied_to").values("source").distinct()
    threads = edges.filter(relation="in_thread").values_list("target", "source")
    sizes: dict[int, int] = {}
    for thread, _ in threads:
        sizes[thread] = sizes.get(thread, 0) + 1
    found["replies whose parent is there"] = replies.count()
    found["threads of two or more"] = sum(size > 1 for size in sizes.values())
    if kind == "slack":
        found["channels"] = nodes.filter(node_type="channel").count()
    return found
