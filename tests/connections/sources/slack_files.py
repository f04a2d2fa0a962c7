"""Made-up Slack exports for tests, and ways to read what a pull gave."""

from __future__ import annotations

import json
import zipfile
from decimal import Decimal
from pathlib import Path

from connections.records import AudienceDraft, Failure, Record
from connections.sources.base import Pull
from connections.sources.slack import SlackConnector

ANN = {
    "id": "U1",
    "name": "ann",
    "profile": {
        "real_name": "Ann Lee",
        "display_name": "annie",
        "title": "Engineer",
        "email": "Ann@Acme.test",
    },
}
BOB = {"id": "U2", "name": "bob", "profile": {"real_name": "Bob Ray"}}
BOT = {"id": "U3", "name": "ci", "is_bot": True, "profile": {"real_name": "CI"}}
GENERAL = {"id": "C1", "name": "general", "topic": {"value": "All &amp; more"}}
ROOT = {"users.json": [ANN, BOB, BOT], "channels.json": [GENERAL]}
DAY = "2023-05-08.json"
T0 = "1683554240.000002"


def make_message(**values: object) -> dict[str, object]:
    return {"type": "message", "user": "U1", "text": "Hello", "ts": T0, **values}


def write(folder: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(raw)
    return folder


def pull(location: Path, audience: AudienceDraft | None = None):
    return list(SlackConnector().pull(Pull(location, "slack", audience=audience)))


def records(location: Path) -> dict[str, Record]:
    found = pull(location)
    assert not [item for item in found if isinstance(item, Failure)]
    return {record.key: record for record in found}


def of_messages(tmp_path: Path, *messages: object, **root: object) -> list:
    files = ROOT | {f"{name}.json": value for name, value in root.items()}
    found = pull(write(tmp_path, files | {f"general/{DAY}": list(messages)}))
    kept = ("account", "channel")
    return [i for i in found if isinstance(i, Failure) or i.kind not in kept]


def one(tmp_path: Path, **values: object) -> Record:
    (record,) = of_messages(tmp_path, make_message(**values))
    assert isinstance(record, Record)
    return record


def edges(record: Record) -> dict[tuple[str, str], Decimal | None]:
    return {(e.relation, e.target): e.position for e in record.edges}


def failures(found: list) -> list[tuple[str, str]]:
    return [(f.item, f.error) for f in found if isinstance(f, Failure)]


def pack(path: Path, folder: Path, under: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*.json")):
            packed.write(file, under + file.relative_to(folder).as_posix())
        packed.writestr("__MACOSX/._users.json", b"\x00")
    return path
