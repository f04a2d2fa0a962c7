"""A project restored from an export: all of it, or nothing.

One transaction: who dies in the middle leaves an empty project, and the same command
run again ends in the same graph. Lines are copied into temporary tables, each gets its
id there, addresses are resolved to ids by joins, and one INSERT a table follows.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.db import DatabaseError, connection, connections, transaction

from connections.models import Project, User, record_audit
from graph.copying import copy_rows, execute, fetch
from graph.exporting import audience_names, vectors
from graph.exporting import restoring_sql as sql
from graph.exporting.checking import (
    Manifest,
    lines_of,
    read_manifest,
    read_vector,
    verify,
)
from graph.exporting.errors import BadExport, NotEmpty
from graph.exporting.export import name_rows, part_lines, snapshot
from graph.exporting.graph_parts import known_languages
from graph.exporting.parts import Part, ordered_parts
from graph.exporting.selecting import Scope, in_project_statement
from graph.exporting.undo_payloads import assignee_of
from graph.exporting.values import LineReader
from graph.locks import lock_project

# What a project has from its first moment on.
_OF_EVERY_PROJECT = ("project", "audiences", "audience_parts", "audience_members")
_MEMORY_KEY = re.compile(r"memory:(\d+)")
_NODE_IDS = "pg_get_serial_sequence('graph_nodes', 'id')"
_FIRST_AFTER = 1000

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Restored:
    """What an import did: lines of each part; `already`: the same was there before.

    `unknown`: addresses of people who had no account here; `vectors` were taken over.
    """

    lines: Mapping[str, int]
    already: bool = False
    unknown: tuple[str, ...] = ()
    vectors: int = 0


@dataclass(slots=True)
class _Run:
    manifest: Manifest
    project: Project
    progress: Progress
    emails: set[str]
    last_memory: int = 0


def import_graph(
    project: Project,
    folder: Path,
    *,
    dry_run: bool = False,
    actor: User | None = None,
    progress: Progress = lambda _: None,
) -> Restored:
    """Restore the export in `folder` into an empty project, to the same keys.

    Where the project already is that export, nothing is done. With `dry_run` all is
    read, checked and resolved, and nothing is kept. Raises `ExportingError`.
    """
    manifest = read_manifest(folder)
    progress("checking sums")
    verify(manifest)
    if _is_filled(project):
        if not is_same(project, manifest):
            raise NotEmpty(
                f"{project.path} is not empty, and is not this export: import into a "
                "project of its own."
            )
        return Restored(_counts(manifest), already=True)
    with transaction.atomic():
        lock_project(project)
        if _is_filled(project):
            raise NotEmpty(f"{project.path} was filled meanwhile: run this again.")
        restored = _restore(_Run(manifest, project, progress, set()), actor)
        if dry_run:
            transaction.set_rollback(True)
    if not dry_run:
        execute("ANALYZE", [])
    return restored


def is_same(project: Project, manifest: Manifest) -> bool:
    """Say whether an export of `project` would be the one of `manifest`."""
    scope = Scope(project.tenant_id, project.pk, manifest.with_memory)
    with snapshot():
        name_rows(project, scope)
        for part in manifest.held():
            digest = hashlib.sha256()
            for line in part_lines(part, scope):
                digest.update(line)
            if digest.hexdigest() != manifest.files[part.file].sha256:
                return False
    return True


def _is_filled(project: Project) -> bool:
    return any(
        fetch(in_project_statement(part, project), [])
        for part in ordered_parts()
        if part.is_scoped and part.name not in _OF_EVERY_PROJECT
    )


def _counts(manifest: Manifest) -> dict[str, int]:
    return {Path(path).stem: file.lines for path, file in manifest.files.items()}


def _restore(run: _Run, actor: User | None) -> Restored:
    known_languages()
    execute("SET LOCAL jit TO off", [])
    execute("SET LOCAL work_mem TO '64MB'", [])
    for part in run.manifest.held():
        run.progress(f"reading {part.file}")
        _stage(run, part)
    unknown = _find_users(run)
    execute(
        "DELETE FROM audiences a WHERE a.tenant_id = %s AND a.project_id = %s",
        [run.project.tenant_id, run.project.pk],
    )
    for part in run.manifest.held():
        if run.manifest.files[part.file].lines:
            run.progress(f"writing {part.table}")
            _write(run, part)
    for part in run.manifest.held():
        if part.restored is not None:
            part.restored(run.project)
    _pass_memories(run.last_memory)
    given = _restore_vectors(run) if run.manifest.with_vectors else 0
    restored = Restored(_counts(run.manifest), unknown=tuple(unknown), vectors=given)
    record_audit(
        "import.graph",
        target=str(run.manifest.folder),
        project=run.project,
        actor=actor,
        lines=dict(restored.lines),
        unknown=len(unknown),
    )
    return restored


def _stage(run: _Run, part: Part) -> None:
    """Copy the lines of a part into its temporary table, each one looked at."""
    execute(f"DROP TABLE IF EXISTS {sql.in_table(part)}", [])
    execute(sql.stage_statement(part), [])
    if not run.manifest.files[part.file].lines:
        return
    reader = LineReader(part)
    _copy(sql.in_table(part), _checked(run, part, reader))
    run.emails |= reader.emails
    execute(f"ANALYZE {sql.in_table(part)}", [])
    own = sql.own_id_statement(part)
    if own:
        execute(own, [])
    if part.name == "nodes":
        execute(sql.index_statement(part), [])
    twice = fetch(sql.twice_statement(part), [])[0][0]
    if twice is not None:
        raise BadExport(part.file, "an earlier line has the same address", line=twice)
    for column in sql.references(part):
        for line, said in fetch(sql.missing_statement(part, column), []):
            raise BadExport(
                part.file,
                f"{column.name} is {said!r:.120}, which the export does not have",
                line=line,
            )


def _checked(
    run: _Run, part: Part, reader: LineReader
) -> Iterator[tuple[int, str, str]]:
    for number, line in lines_of(run.manifest.folder, part.file):
        try:
            row = reader.read(line)
            if part.name == "audiences" and (email := audience_names.user_of(row)):
                reader.emails.add(email)
            if part.name == "review_decisions" and (assignee := assignee_of(row)):
                reader.emails.add(assignee)
        except ValueError as error:
            raise BadExport(part.file, str(error), line=number) from None
        if part.name == "nodes" and (found := _MEMORY_KEY.fullmatch(row["key"])):
            run.last_memory = max(run.last_memory, int(found[1]))
        yield number, json.dumps(part.name_of(row), ensure_ascii=False), line


def _copy(table: str, rows: Iterable[tuple[int, str, str]]) -> None:
    """Copy staged lines as they come; nothing else may use the connection meanwhile."""
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} (line, address, doc) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)


def _find_users(run: _Run) -> list[str]:
    """List the accounts of the export's people; who has none gets one that is closed.

    Nobody can sign in with it, so what is theirs stays closed, until an admin opens
    the account for the person of that address. Returns those made.
    """
    execute(f"DROP TABLE IF EXISTS {sql.USERS}", [])
    execute(sql.STAGE_USERS, [])
    emails = sorted(run.emails)
    known = {
        email.lower(): pk
        for pk, email in fetch(
            "SELECT u.id, u.email FROM connections_user u"
            " WHERE lower(u.email) = ANY(%s)",
            [emails],
        )
    }
    unknown = [email for email in emails if email not in known]
    made = User.objects.bulk_create(
        User(email=email, is_active=False, password=f"!{secrets.token_urlsafe(30)}")
        for email in unknown
    )
    known |= {user.email: user.pk for user in made}
    copy_rows(sql.USERS, ("email", "id"), sorted(known.items()))
    execute(f"ANALYZE {sql.USERS}", [])
    return unknown


def _write(run: _Run, part: Part) -> None:
    scope = {"tenant": run.project.tenant_id, "project": run.project.pk}
    values = {f.name: sql.fixed_value(part, f) for f in sql.fixed_fields(part)}
    statement = (
        sql.update_statement(part)
        if part.model is Project
        else sql.insert_statement(part)
    )
    try:
        with transaction.atomic():
            execute(statement, values | scope)
    except DatabaseError as error:
        said = str(error).splitlines()
        detail = next((s for s in said if s.startswith("DETAIL")), "")
        raise BadExport(part.file, " ".join([said[0], detail]).strip()) from error


def _pass_memories(last: int) -> None:
    """See to it that no memory made here ever gets the key of one that came in."""
    if not last:
        return
    upcoming = fetch(f"SELECT nextval({_NODE_IDS})", [])[0][0]
    if last >= upcoming:
        with connections["owner"].cursor() as cursor:
            cursor.execute(f"SELECT setval({_NODE_IDS}, %s)", [last + _FIRST_AFTER])


def _restore_vectors(run: _Run) -> int:
    execute(f"DROP TABLE IF EXISTS {vectors.TABLE}", [])
    execute(vectors.STAGE, [])
    _copy(vectors.TABLE, _checked_vectors(run))
    execute(f"ANALYZE {vectors.TABLE}", [])
    return vectors.put_vectors()[0]


def _checked_vectors(run: _Run) -> Iterator[tuple[int, str, str]]:
    for number, line in lines_of(run.manifest.folder, vectors.FILE):
        try:
            row = read_vector(line)
        except ValueError as error:
            raise BadExport(vectors.FILE, str(error), line=number) from None
        yield number, json.dumps(row["node"], ensure_ascii=False), line
