"""Audiences by names that mean the same in every installation.

Their keys may hold the id of a user, or a digest of the ids of their parts: out they go
by e-mail address and by the names of the parts; back in they get the keys that this
installation would have given them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from connections.models import Audience, Project, User
from graph.copying import copy_rows, execute
from graph.exporting.parts import Row

TABLE = "exported_audiences"
_CREATE = (
    f"CREATE TEMPORARY TABLE {TABLE} (id bigint PRIMARY KEY, address jsonb NOT NULL)"
    " ON COMMIT DROP"
)
_OF_USER = re.compile(r"user:(\d+)")
# In the file as it is named; in the table as `graph.audiences` names it.
KEY_OUT = (
    "CASE WHEN strpos(self.address #>> '{}', ':') = 0 THEN ''"
    " ELSE substr(self.address #>> '{}', strpos(self.address #>> '{}', ':') + 1) END"
)
KEY_BACK = (
    "CASE WHEN s.doc ->> 'kind' = 'private' AND s.doc ->> 'key' LIKE 'user:%%' THEN"
    " 'user:' || (SELECT u.id FROM restored_users u"
    " WHERE u.email = substr(s.doc ->> 'key', 6))"
    " ELSE s.doc ->> 'key' END"
)
_NAME_COMBINED = """
    UPDATE audiences a
       SET key = a.combines || ':' || encode(sha256(convert_to((
               SELECT string_agg(p.to_audience_id::text, '+'
                                 ORDER BY p.to_audience_id)
                 FROM audience_parts p WHERE p.from_audience_id = a.id
           ), 'UTF8')), 'hex')
     WHERE a.tenant_id = %s AND a.project_id = %s AND a.combines <> ''
       AND EXISTS (SELECT 1 FROM audience_parts p WHERE p.from_audience_id = a.id)
"""


def name_audiences(project: Project) -> None:
    """Make the table of the project's audiences and their names."""
    names = _Names(project)
    execute(_CREATE, [])
    copy_rows(
        TABLE,
        ("id", "address"),
        [(pk, json.dumps(names.of(pk), ensure_ascii=False)) for pk in names.rows],
    )


def name_combined(project: Project) -> None:
    """Name combined audiences by their parts' ids, as `graph.audiences` looks them up."""
    execute(_NAME_COMBINED, [project.tenant_id, project.pk])


def address_of(row: Row) -> str:
    """Return the name of an audience of the file."""
    return f"{row['kind']}:{row['key']}" if row["key"] else str(row["kind"])


def user_of(row: Row) -> str:
    """Return whose own audience a row of the file is, by e-mail address, or nothing."""
    is_own = row["kind"] == "private" and row["key"].startswith("user:")
    return row["key"].removeprefix("user:") if is_own else ""


def wrong_user(row: Row) -> str:
    """Say what is wrong with an audience that names its user by a number."""
    name = user_of(row)
    if name.isdigit():
        return f"the audience user:{name} names a user by number, not by e-mail address"
    return ""


class _Names:
    """The audiences of a project, each named once."""

    def __init__(self, project: Project) -> None:
        own = Audience.objects.filter(tenant_id=project.tenant_id, project=project)
        self.rows: Mapping[int, Any] = {
            row[0]: row[1:] for row in own.values_list("pk", "kind", "key", "combines")
        }
        self.parts: dict[int, list[int]] = {}
        through = Audience.parts.through.objects.filter(from_audience__in=own)
        for whole, part in through.values_list("from_audience", "to_audience"):
            self.parts.setdefault(whole, []).append(part)
        ids = {int(m[1]) for _, key, _ in self.rows.values() if (m := _whose(key))}
        known = User.objects.filter(pk__in=ids).values_list("pk", "email")
        self.emails = {pk: email.lower() for pk, email in known}
        self._named: dict[int, str] = {}

    def of(self, audience: int) -> str:
        if audience not in self._named:
            kind, key, combines = self.rows[audience]
            self._named[audience] = address_of(
                {"kind": kind, "key": self._key(audience, kind, key, combines)}
            )
        return self._named[audience]

    def _key(self, audience: int, kind: str, key: str, combines: str) -> str:
        if combines and audience in self.parts:
            listed = "\n".join(sorted(self.of(part) for part in self.parts[audience]))
            return f"{combines}:{hashlib.sha256(listed.encode()).hexdigest()}"
        whose = _whose(key)
        if kind == Audience.Kind.PRIVATE and whose:
            email = self.emails.get(int(whose[1]))
            # Of a user who is gone: nobody's, and never another's.
            return f"user:{email}" if email else f"gone-{key}"
        return str(key)


def _whose(key: str) -> re.Match[str] | None:
    return _OF_USER.fullmatch(key)
