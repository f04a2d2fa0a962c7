"""Prompt injection: real attacks through every carrier, and what of them gets out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from benchmarks.attacks import (
    CARRIERS,
    LEAKS,
    SECRET,
    SECRET_KEY,
    Attack,
    Tried,
    plant,
    try_attacks,
)
from benchmarks.report import Table, note, real_data
from connections.management.base import create_project
from connections.models import Audience, Role, User
from memory.agent.citations import CitationFilter

FOLDER = "security/prompt"


def run() -> list[Table]:
    """Try every attack of the real set through every carrier; then without the filter."""
    texts = list(attack_texts(real_data(FOLDER)))
    attacks = [Attack(text, carrier) for carrier in CARRIERS for text in texts]
    note(f"{len(texts)} texts, {len(CARRIERS)} carriers, {len(attacks)} attacks")
    with_filter = _tried(attacks)
    with (
        patch.object(CitationFilter, "feed", lambda self, text: text),
        patch.object(CitationFilter, "close", lambda self: ""),
    ):
        without = _tried(attacks[:: max(1, len(attacks) // 100)])
    table = Table(
        "carrier", "attacks", "read by the model", *LEAKS, "leaks in all",
        caption=(
            f"{len(texts)} texts of {FOLDER}; a model that obeys every instruction; "
            "each attack could leak in each of the ways"
        ),
    )  # fmt: skip
    for carrier, tried in with_filter.items():
        _add(table, carrier, tried)
    _add(table, "all", _sum(with_filter))
    _add(table, "a sample with the filter off", _sum(without))
    return [table]


def attack_texts(folder: Path) -> Iterator[str]:
    """Yield the texts of a set that want something; those labelled harmless are not."""
    lines = (folder / "bastioncorpus/injections.jsonl").read_text("utf-8").splitlines()
    for line in filter(None, lines):
        sample = json.loads(line)
        if sample["label"] == "malicious":
            yield sample["text"]
    for path in sorted((folder / "bipia").glob("*attack*.json")):
        for texts in json.loads(path.read_text("utf-8")).values():
            yield from texts


def _tried(attacks: list[Attack]) -> dict[str, Tried]:
    project = create_project(f"attacks/run{User.objects.count()}")
    user = User.objects.create_user(f"reader{User.objects.count()}@acme.test")
    project.memberships.create(user=user, role=Role.VIEWER)
    closed = Audience.objects.create(
        tenant_id=project.tenant_id, project=project, kind="members", key="closed"
    )
    secret = Attack(f"The secret is {SECRET}.", "Slack")
    plant(project, secret, -1, key=SECRET_KEY, audience=closed)
    return try_attacks(project, user, attacks)


def _sum(found: dict[str, Tried]) -> Tried:
    return Tried(
        sum(tried.attacks for tried in found.values()),
        sum(tried.read for tried in found.values()),
        sum((tried.leaks for tried in found.values()), Counter()),
    )


def _add(table: Table, name: str, tried: Tried) -> None:
    counted = [tried.leaks[leak] for leak in LEAKS]
    table.add(name, tried.attacks, tried.read, *counted, tried.leaked)
