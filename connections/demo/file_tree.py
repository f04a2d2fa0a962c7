"""The company's shared folder: hand-written pages, pages from parts, office files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from connections.demo.company import TEXT, Company
from connections.demo.office import docx_bytes, xlsx_bytes
from connections.demo.pages import Page

_OFFICE = {
    "brackwater-agreement": "sales/agreements/brackwater-agreement.docx",
    "hollis-byre-summary": "security/hollis-byre-summary.docx",
}
_UPDATED = re.compile(r"^updated: (\d{4}-\d\d-\d\d)$", re.MULTILINE)
_DEFAULT_DAY = "2026-11-13"


def write_files(folder: Path, company: Company, pages: Iterable[Page]) -> None:
    """Write the tree; a file's time of change is the day that its page names."""
    for source in sorted((TEXT / "files").rglob("*")):
        if source.is_file():
            name = source.relative_to(TEXT / "files").as_posix()
            _put(folder / name, source.read_bytes())
    for page in pages:
        _put(folder / page.path, page.markdown().encode())
    for name, target in _OFFICE.items():
        text = (TEXT / "office" / f"{name}.md").read_text(encoding="utf-8")
        _put(folder / target, docx_bytes(text))
    press = (TEXT / "office/press-2026.html").read_bytes()
    _put(folder / "company/press-2026.html", press)
    revenue = xlsx_bytes("Revenue", _revenue(company))
    _put(folder / "finance/revenue-by-customer.xlsx", revenue)


def _revenue(company: Company) -> list[list[object]]:
    head: list[object] = ["Customer", "Segment", "Town", "Revenue in euro"]
    rows: list[list[object]] = [
        [c.name, c.segment, c.town, c.revenue] for c in company.customers.values()
    ]
    return [head, *rows]


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    found = _UPDATED.search(content[:600].decode("utf-8", "ignore"))
    day = datetime.fromisoformat(found[1] if found else _DEFAULT_DAY)
    moment = day.replace(hour=12, tzinfo=UTC).timestamp()
    os.utime(path, (moment, moment))
