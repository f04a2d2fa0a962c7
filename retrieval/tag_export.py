"""Tags as Markdown, sharded so that one file opened finds a tag."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from django.db import connection, transaction

from connections.models import Project

SHARDS = (*string.ascii_lowercase, *string.digits, "_")
_ROWS = """
    SELECT tag.name, n.title, left(n.content, 90), n.key, n.node_type
      FROM graph_nodes n CROSS JOIN LATERAL unnest(n.tags) AS tag (name)
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.trashed_at IS NULL AND n.tags <> '{}'
       AND (%(memory)s OR n.origin <> 'memory')
       AND (%(moment)s::timestamptz IS NULL
            OR ((n.valid_from IS NULL OR n.valid_from <= %(moment)s)
                AND (n.valid_to IS NULL OR n.valid_to > %(moment)s)))
     ORDER BY lower(tag.name) COLLATE "C", tag.name COLLATE "C",
              n.occurred_at DESC NULLS LAST, n.key COLLATE "C"
"""
_FETCH = 1000

# Where a node's own page is, from a file of tags: by its type and key.
Link = Callable[[str, str], str]


def shard_for(tag: str) -> str:
    """Return the file that has `tag`: "tags/" and its first letter or digit, `_` for
    any other sign."""
    first = tag.lstrip("#").lower()[:1]
    return f"tags/{first if first in SHARDS and first else '_'}.md"


def export_tags(
    project: Project,
    folder: Path,
    *,
    link: Link | None = None,
    with_memory: bool = True,
    moment: datetime | None = None,
) -> int:
    """Write every tag of the project with its nodes under `folder`; return how many.

    An operator's read of the whole project. All shards are written, each at once, so
    that none keeps a tag that is gone.
    """
    scope = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "memory": with_memory,
        "moment": moment,
    }
    (folder / "tags").mkdir(parents=True, exist_ok=True)
    count = 0
    with ExitStack() as stack:
        shards = {f"tags/{name}.md": _open(folder, name, stack) for name in SHARDS}
        for tag, rows in groupby(_rows(scope), key=lambda row: row[0]):
            file = shards[shard_for(tag)]
            file.write(f"\n## {_heading(tag)}\n\n")
            file.writelines(f"{line}\n" for line in _nodes(rows, link))
            count += 1
    for name in shards:
        os.replace(_unfinished(folder / name), folder / name)
    return count


def _rows(scope: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(_ROWS, scope)
        while rows := cursor.fetchmany(_FETCH):
            yield from rows


def _open(folder: Path, name: str, stack: ExitStack) -> IO[str]:
    path = _unfinished(folder / "tags" / f"{name}.md")
    file = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
    file.write(f"# Tags: {name}\n")
    return file


def _unfinished(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _nodes(rows: Iterator[tuple[Any, ...]], link: Link | None) -> Iterator[str]:
    for _, title, content, key, node_type in rows:
        code = " ".join(key.replace("`", "'").split())
        name = _line(title or content or key)
        if link is not None:
            name = f"[{name}]({link(node_type, key)})"
        yield f"- {name} (`{code}`)"


def _heading(tag: str) -> str:
    """Return a tag as it is searched for."""
    return " ".join(tag.split())


def _line(text: str) -> str:
    """Return `text` in one line that Markdown leaves as it is."""
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", " ".join(text.split()))
