"""The pages under docs/ say what the code does.

`.venv/bin/python -m tests.site.test_docs` writes the generated tables anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "schema.md"
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
AGAIN = "run `.venv/bin/python -m tests.site.test_docs` to write it anew"


def relations_table() -> str:
    from connections.records import relations

    rows = ["| relation | from | to | meaning | example |", "|---|---|---|---|---|"]
    for each in sorted(relations.values(), key=lambda relation: relation.name):
        ends = (end.replace("|", ", ") for end in (each.source, each.target))
        rows.append(
            f"| `{each.name}` | {' | '.join(ends)} | {each.meaning} | {each.example} |"
        )
    return "\n".join(rows)


def node_types_table() -> str:
    from connections.records import node_types

    rows = ["| type | meaning | found by |", "|---|---|---|"]
    for each in sorted(node_types.values(), key=lambda kind: kind.name):
        found = "relations" if each.structure else "words and meaning"
        rows.append(f"| `{each.name}` | {each.meaning} | {found} |")
    return "\n".join(rows)


TABLES = {"relations": relations_table, "node types": node_types_table}


def between(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"(<!-- generated: {name} -->\n)(.*?)(\n<!-- end -->)", re.DOTALL
    )


@pytest.mark.parametrize("name", TABLES)
def test_the_schema_page_shows_the_registry(name):
    found = between(name).search(SCHEMA.read_text(encoding="utf-8"))
    assert found, f"docs/schema.md has no table of {name}"
    assert found[2] == TABLES[name](), AGAIN


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_links_to_exists(page):
    links = re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def write() -> None:
    text = SCHEMA.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        text = between(name).sub(lambda m, t=table: m[1] + t() + m[3], text)
    SCHEMA.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fabric_site.settings")
    django.setup()
    write()
