"""Prompt injection: real attacks through every carrier, what of them gets out, and what
is remembered of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

from benchmarks.attacked_memory import WAYS, Kept, ObedientLearner, try_to_teach
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
from connections.models import Audience, Project, Role, User
from memory import remembering
from memory.agent.citations import CitationFilter
from memory.learning import asking
from memory.remembering import remember_once

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
    return [table, _remembered(attacks, len(texts))]


def _remembered(attacks: list[Attack], texts: int) -> Table:
    """Have every attack cited and the turn remembered: by a model, by rules; then by
    a model whose proposals nobody checks."""
    table = Table(
        "remembered by", "turns", "proposed", "kept", *WAYS, "wrongly in all",
        caption=(
            f"{texts} texts of {FOLDER} cited in turns, through {len(CARRIERS)} "
            "carriers; a model that proposes what no source says"
        ),
    )  # fmt: skip
    learner = ObedientLearner()
    with patch.object(remembering, "model_for", lambda project, purpose: learner):
        taught = _taught(attacks, remember_once)
        for carrier, kept in taught.items():
            _add_kept(table, f"a model, {carrier}", kept, "")
        _add_kept(table, "a model, all", _all_kept(taught), f"{learner.proposed:,}")
        learner.proposed = 0
        with patch.object(asking, "_is_said", lambda *said, wholly=False: True):
            sample = attacks[:: max(1, len(attacks) // 100)]
            found = _all_kept(_taught(sample, remember_once))
        unchecked = found, f"{learner.proposed:,}"
    by_rules = _taught(attacks, lambda turn: remember_once(turn, with_rules=True))
    _add_kept(table, "rules, all", _all_kept(by_rules), "")
    _add_kept(table, "a sample of the model's, unchecked", *unchecked)
    return table


def _taught(
    attacks: list[Attack], remembers: Callable[[int], object]
) -> dict[str, Kept]:
    project, user = _readers_project()
    other = User.objects.create_user(f"other{User.objects.count()}@acme.test")
    project.memberships.create(user=other, role=Role.VIEWER)
    return try_to_teach(project, user, other, attacks, remembers)


def _all_kept(found: dict[str, Kept]) -> Kept:
    return Kept(
        sum(kept.turns for kept in found.values()),
        sum(kept.kept for kept in found.values()),
        sum((kept.wrong for kept in found.values()), Counter()),
    )


def _add_kept(table: Table, name: str, kept: Kept, proposed: str) -> None:
    wrong = [kept.wrong[way] for way in WAYS]
    table.add(name, kept.turns, proposed, kept.kept, *wrong, kept.wrongly)


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
    project, user = _readers_project()
    closed = Audience.objects.create(
        tenant_id=project.tenant_id, project=project, kind="members", key="closed"
    )
    secret = Attack(f"The secret is {SECRET}.", "Slack")
    plant(project, secret, -1, key=SECRET_KEY, audience=closed)
    return try_attacks(project, user, attacks)


def _readers_project() -> tuple[Project, User]:
    """Return a project of its own, and who reads there."""
    project = create_project(f"attacks/run{User.objects.count()}")
    user = User.objects.create_user(f"reader{User.objects.count()}@acme.test")
    project.memberships.create(user=user, role=Role.VIEWER)
    return project, user


def _sum(found: dict[str, Tried]) -> Tried:
    return Tried(
        sum(tried.attacks for tried in found.values()),
        sum(tried.read for tried in found.values()),
        sum((tried.leaks for tried in found.values()), Counter()),
    )


def _add(table: Table, name: str, tried: Tried) -> None:
    counted = [tried.leaks[leak] for leak in LEAKS]
    table.add(name, tried.attacks, tried.read, *counted, tried.leaked)
