"""Tags as Markdown, sharded so that one file opened finds a tag."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from connections.models import Project
from graph.copying import fetch

SHARDS = (*string.ascii_lowercase, *string.digits, "_")
_ROWS = """
    SELECT tag.name, n.title, left(n.content, 90), n.key
      FROM graph_nodes n CROSS JOIN LATERAL unnest(n.tags) AS tag (name)
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.trashed_at IS NULL AND n.tags <> '{}'
     ORDER BY lower(tag.name) COLLATE "C", tag.name COLLATE "C",
              n.occurred_at DESC NULLS LAST, n.key COLLATE "C"
"""


def shard_for(tag: str) -> str:
    """Return the file that has `tag`: "tags/" and its first letter or digit, `_` for
    any other sign."""
    first = tag.lstrip("#").lower()[:1]
    return f"tags/{first if first in SHARDS and first else '_'}.md"


def export_tags(project: Project, folder: Path) -> int:
    """Write every tag of the project with its nodes under `folder`; return how many.

    An operator's read of the whole project. All shards are written, each at once, so
    that none keeps a tag that is gone.
    """
    scope = {"tenant": project.tenant_id, "project": project.pk}
    shards: dict[str, list[str]] = {f"tags/{name}.md": [] for name in SHARDS}
    count = 0
    for tag, rows in groupby(fetch(_ROWS, scope), key=lambda row: row[0]):
        shards[shard_for(tag)] += [f"## {_heading(tag)}", "", *_nodes(rows), ""]
        count += 1
    (folder / "tags").mkdir(parents=True, exist_ok=True)
    for name, lines in shards.items():
        _write(folder / name, [f"# Tags: {Path(name).stem}", "", *lines])
    return count


def _nodes(rows: Iterator[tuple[str, str, str, str]]) -> Iterator[str]:
    for _, title, content, key in rows:
        code = " ".join(key.replace("`", "'").split())
        yield f"- {_line(title or content or key)} (`{code}`)"


def _heading(tag: str) -> str:
    """Return a tag as it is searched for."""
    return " ".join(tag.split())


def _line(text: str) -> str:
    """Return `text` in one line that Markdown leaves as it is."""
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", " ".join(text.split()))


def _write(path: Path, lines: list[str]) -> None:
    whole = path.with_name(f"{path.name}.new")
    whole.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    os.replace(whole, path)
