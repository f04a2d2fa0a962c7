"""Who writes into the graph by hand, and what is kept of it: a record and an audit."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from connections.models import Project, Source, User, record_audit
from connections.records import JSON, clean_key
from connections.refusals import Refused
from graph import by_hand_sql as sql
from graph.copying import fetch
from graph.edges import GraphScope

KIND = "hand"
NAME = "written by hand"
# Where a node or an edge comes from that a person, a token or an agent wrote.
ORIGINS = (KIND, "api", "agent")


class WriteRefused(Refused):
    """Something that is not written; the message says why and what to do."""

    code = "write_refused"
    status_code = 409


class NotByHand(WriteRefused):
    """Something that others than people say; the message says where it is changed."""

    code = "not_by_hand"


class Outdated(WriteRefused):
    """Something that was changed since it was seen."""

    code = "outdated"
    status_code = 412


class NotThere(WriteRefused):
    """Something that was never there, or went since it was seen."""

    code = "not_found"
    status_code = 404


class NotWritten(Refused):
    """A node that was written and is not there as it was written."""

    code = "not_written"
    status_code = 500


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes: a person, or what acts for one by a token."""

    user: User
    token_id: uuid.UUID | None = None
    agent: bool = False

    @property
    def origin(self) -> str:
        if self.agent:
            return "agent"
        return "api" if self.token_id else KIND


@dataclass(frozen=True, slots=True)
class Written:
    """The id of what was written; `is_new` where it was not there before."""

    id: int
    is_new: bool
    implied: tuple[str, ...] = ()


def write_record(
    scope: GraphScope,
    key: str,
    said: Mapping[str, object],
    words: str,
    audience: int,
    by: Author,
) -> int:
    """Return the record of what `by` wrote under `key`, as it is now."""
    source, _ = Source.objects.get_or_create(
        tenant_id=scope.key[0], project_id=scope.key[1], kind=KIND, name=NAME
    )
    text = json.dumps(said, sort_keys=True, default=str)
    values = {
        "tenant": scope.key[0],
        "project": scope.key[1],
        "source": source.pk,
        "audience": audience,
        "key": clean_key(f"{KIND}:{key}"),
        "body": words,
        "hash": hashlib.sha256(f"{by.origin}{text}".encode()).hexdigest(),
        "now": scope.now,
    }
    return int(fetch(sql.WRITE_RECORD, values)[0][0])


def audit_write(
    project: Project, verb: str, target: str, by: Author, **detail: JSON
) -> None:
    """Write down who wrote what; call it in the transaction of the write."""
    record_audit(
        verb,
        target=target,
        project=project,
        actor=by.user,
        token_id=by.token_id,
        origin=by.origin,
        **detail,  # type: ignore[arg-type] # the names of the detail are ours
    )
