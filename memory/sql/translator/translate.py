"""From a question to a statement by rules, without a model; or a refusal to guess."""

from __future__ import annotations

import re
from datetime import date

from connections.databases.base import Schema
from memory.sql.translator.asked import complete, read_groups, read_outputs
from memory.sql.translator.base import (
    Declined,
    NotUnderstood,
    Output,
    Plan,
    Translation,
)
from memory.sql.translator.building import Builder
from memory.sql.translator.english import ENGLISH
from memory.sql.translator.filters import read_filters
from memory.sql.translator.language import Language
from memory.sql.translator.lexicon import Lexicon
from memory.sql.translator.linking import Item, link
from memory.sql.translator.links import Links
from memory.sql.translator.ranking import read_orders, read_ranks
from memory.sql.translator.reading import Reading
from memory.sql.translator.word_lists import word_list
from memory.sql.translator.wording import reading_of

# Of the development questions read with less, 14 were right and 23 wrong.
LEAST = 0.5
LONGEST_QUESTION = 600
FULL_NAME = 0.95
VERB_LIKE, UNKNOWN, LOOSELY_NAMED, MANY_TABLES = 0.85, 0.4, 0.92, 0.85
ELSEWHERE = frozenset(word_list("where when why how wo wann warum wie"))
OWNING = frozenset(word_list("has have had having hat haben hatte hatten"))


def translate(question: str, schema: Schema, *, today: date) -> Translation | Declined:
    """Return a statement that answers `question`, or why there is none.

    The statement is one SELECT over tables and columns of `schema`; it still has to
    pass the guard. Periods such as "last week" are counted from `today`.
    """
    if len(question) > LONGEST_QUESTION:
        return Declined("The question is too long to be read by rules.")
    try:
        return _translated(question, schema, today)
    except NotUnderstood as reason:
        return Declined(f"Not understood: {reason}.")


def _translated(question: str, schema: Schema, today: date) -> Translation | Declined:
    lexicon = Lexicon(schema)
    items, language, notes = link(question, lexicon, today=today)
    factor, unknown = _unknown(items, language)
    if not any(item.tables or item.columns or item.held for item in items):
        raise NotUnderstood("nothing in it names a table or column of this database")
    light = [item for item in items if item.kind in "_x"]
    hinted = [item.tables[0][0] for item in items if item.tables]
    _settle(items)
    reading = Reading(_told(items), lexicon, language, light)
    _read(reading)
    plan = reading.plan
    for text in notes:
        plan.assume(text, LOOSELY_NAMED)
    _check_exposure(plan)
    builder = Builder(plan, schema, Links(schema, hinted))
    tree = builder.build()
    if len(builder.joins.used) > 3:
        plan.confidence *= MANY_TABLES
    confidence = round(plan.confidence * factor, 3)
    if confidence < LEAST:
        words = ", ".join(f"“{word}”" for word in unknown)
        said = f" without {words}" if words else ""
        raise NotUnderstood(f"it can be read{said} only as a guess")
    return Translation(
        sql=tree.sql(dialect=schema.dialect),
        reading=reading_of(plan),
        assumptions=tuple(plan.assumptions),
        tables=tuple(sorted(builder.joins.used)),
        confidence=confidence,
    )


def _read(reading: Reading) -> None:
    read_filters(reading)
    read_orders(reading)
    read_ranks(reading)
    read_groups(reading)
    read_outputs(reading)
    complete(reading)


def _unknown(items: list[Item], language: Language) -> tuple[float, list[str]]:
    """Return how much unknown words take away, and those that matter."""
    factor, words = 1.0, []
    for item in items:
        if item.kind != "x":
            continue
        verb = language is ENGLISH and re.search("(ed|ing)$", item.text.lower())
        factor *= VERB_LIKE if verb else UNKNOWN
        if not verb:
            words.append(item.text)
    return factor, words


def _repeats(told: list[Item], item: Item) -> bool:
    """Whether a table is said twice in other words ("Sängerinnen und Sänger")."""
    if len(told) < 2 or item.kind != "t" or told[-1].kind != "&":
        return False
    before = told[-2]
    if before.kind != "t" or item.value == "verb":
        return False
    return before.tables[0][0].path == item.tables[0][0].path


def _settle(items: list[Item]) -> None:
    """Turn "total" into the column of that name where no other follows it."""
    for place, item in enumerate(items):
        if item.kind != "a" or not item.columns:
            continue
        if max(score for _, score in item.columns) < FULL_NAME:
            continue
        before = items[place - 1].kind if place else ""
        after = "".join(i.kind for i in items[place + 1 : place + 3])
        if before == "a" or (before and before in "wco") or after[:1] in ("", ">", "b"):
            item.kind = "c"


def _told(items: list[Item]) -> list[Item]:
    """Return the items that rules read: without small words, "which" as what it is."""
    told: list[Item] = []
    named = {t.path for i in items if i.kind == "t" for t, _ in i.tables[:1]}
    if items and items[0].kind == "w" and items[0].text.lower() in ELSEWHERE:
        raise NotUnderstood(f"“{items[0].text}” asks for no column by its name")
    for item in items:
        if item.kind == "_" and item.tables and item.tables[0][0].path not in named:
            item.kind, item.value = "t", "verb"
        if _repeats(told, item):
            told.pop()
            continue
        if item.kind in "_x" or (item.kind == "h" and item.text.lower() not in OWNING):
            continue
        if item.kind == "W":
            if not told or told[-1].kind in ",&Lp":
                if told and told[-1].kind == "p":
                    told[-1].kind = "w"
                continue
            item.kind = "w"
        if item.kind == "L" and not told:
            continue
        told.append(item)
    while told and told[-1].kind == ",":
        told.pop()
    return told


def _check_exposure(plan: Plan) -> None:
    """Refuse what the guard would: columns that may only be counted or masked."""
    conditions = [
        *plan.filters,
        *plan.both,
        *(f for a in plan.absent for f in a.filters),
    ]
    used = [found.ref for found in conditions] + plan.groups
    orders = [*plan.orders, *([plan.picked] if plan.picked else [])]
    ordered = [o.output.ref for o in orders if o.output.ref and not o.output.aggregate]
    for ref in [*used, *ordered]:
        if ref.column.exposure != "visible":
            raise NotUnderstood(f"{ref.shown} may not be used that way")
    for output in (*plan.outputs, *(o.output for o in orders)):
        if not _may_show(output):
            raise NotUnderstood(f"{output.ref and output.ref.shown} may not be shown")


def _may_show(output: Output) -> bool:
    if output.ref is None or output.ref.column.exposure == "visible":
        return True
    if output.ref.column.exposure == "aggregate":
        return output.aggregate in ("count", "sum", "avg")
    return output.aggregate in (None, "count")
