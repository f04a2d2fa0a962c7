"""One writer of a project's graph at a time, by advisory lock."""

from connections.models import Project
from graph.copying import execute

LOCK = 0x6661_6272  # "fabr"


def lock_project(project: Project) -> None:
    """Wait until no other transaction writes to this project's graph."""
    execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, project.pk])
