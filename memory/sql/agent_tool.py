"""The agent's tool for questions to databases: it asks as the asker, and only reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connections.models import Database
from memory.agent.database import database as own_database
from memory.agent.tools import Reading, Told, ToolError, tool
from memory.sql.answered import Unanswered
from memory.sql.choosing import choose_database, databases_for, is_named
from memory.sql.joined import ask_both
from memory.sql.splitting import split
from memory.sql.telling import told_of

NAME = "ask_database"
NONE = "There is no database here that this person may ask."
UNSURE = (
    "Which database is meant does not follow from the question. There are: {names}. "
    "Ask the person to name one, as in: in the database {first}."
)


@tool(
    NAME,
    "Ask a database of the company for figures and rows: customers, orders, sums, "
    "counts, rankings. Give the whole question in words, not SQL, with periods and "
    "numbers. Asked too for messages or mails that mention what the rows hold, it looks "
    "for them, all names at once.",
    {
        "question": {"type": "string", "minLength": 1, "maxLength": 1000},
        "database": {
            "type": "string",
            "maxLength": 63,
            "description": "Its name, where the person named one.",
        },
    },
    required=("question",),
    asks_elsewhere=True,
)
def ask(reading: Reading, arguments: Mapping[str, Any]) -> Told:
    question = str(arguments["question"])
    with own_database():
        database = _chosen(reading, str(arguments.get("database", "")))
    joined = ask_both(
        database,
        split(question),
        user=reading.user,
        project=reading.project,
        shown_in=reading.shown_in,
        stop=reading.stop,
    )
    if isinstance(joined.answer, Unanswered):
        raise ToolError(f"{database.name}: {joined.answer.reason}")
    with own_database():
        return told_of(reading, database, question, joined)


def _chosen(reading: Reading, wanted: str) -> Database:
    """Return the database to ask: by the words of the person who asks.

    What a model wants may come from a document that it read. It is followed only
    where the person's own question leaves no other, names that one, or leads to it.
    """
    open_ones = databases_for(reading.project, reading.user)
    if not open_ones:
        raise ToolError(NONE)
    by_name = {one.name: one for one in open_ones}
    if wanted and wanted not in by_name:
        raise ToolError(
            f"There is no database {wanted!r}; there are: {_names(by_name)}."
        )
    if len(open_ones) == 1:
        return open_ones[0]
    if wanted and is_named(by_name[wanted], reading.question):
        return by_name[wanted]
    asked = split(reading.question).database
    chosen = choose_database(asked, reading.project, reading.user)
    if chosen is None or (wanted and wanted != chosen.name):
        raise ToolError(UNSURE.format(names=_names(by_name), first=open_ones[0].name))
    return chosen


def _names(by_name: Mapping[str, Database]) -> str:
    return ", ".join(sorted(by_name))
