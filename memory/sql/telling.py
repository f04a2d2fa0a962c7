"""What a database answered, told: its rows as sources, and the answer with their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils import timezone

from connections.databases.base import Rows
from connections.models import Database
from connections.records import clean_key
from memory.agent.plain_words import plain
from memory.agent.sources import Source, SourceRow
from memory.agent.tools import Reading, Told
from memory.extract import QUOTE_CHARACTERS
from memory.sql.answered import Answered
from memory.sql.cells import as_written
from memory.sql.context import table_key
from memory.sql.joined import Joined
from memory.sql.mentions import Mention
from memory.sql.sentences import row_in_words, sentence_of
from memory.sql.tables import ShownTable, shown_table

# What of a result a model may read; the whole of it only the browser gets.
ROWS_TOLD = 20


@dataclass(frozen=True, slots=True)
class _Lines:
    """The parts of an answer, each a line, and the texts among its sources."""

    lines: tuple[str, ...]
    texts: tuple[Source, ...] = ()


def told_of(
    reading: Reading, database: Database, question: str, joined: Joined
) -> Told:
    """Return what the tool tells: rows and texts as sources, and an answer of them.

    The table is noted for the page. Call it with a turn at our own database.
    """
    answer = joined.answer
    if not isinstance(answer, Answered):
        raise TypeError("Only an answer is told.")
    table = shown_table(database, question, answer)
    reading.tables.append(table)
    sources = _row_sources(reading, database, answer)
    said = (
        _joined_lines(reading, question, joined, answer.rows, sources)
        if joined.looked
        else _Lines((_sentence(question, answer.rows, sources),))
    )
    notes = (*said.lines, *_about(database, answer, table))
    text = "\n\n".join([*said.lines, *_read_as(answer)])
    return Told(
        sources=(*sources, *said.texts),
        notes=notes,
        count=len(answer.rows.rows),
        answer=text,
    )


def _row_sources(
    reading: Reading, database: Database, answer: Answered
) -> list[Source]:
    """Return the first rows as sources: each is cited by its table's key."""
    path = answer.tables[0] if answer.tables else ""
    key = table_key(database, path)
    node = reading.nodes().filter(key=key).only("context").first()
    now = timezone.now()
    columns = answer.rows.columns
    rows = [
        SourceRow(
            identity=clean_key(f"row:{answer.rows.run}:{place}:{key}"),
            key=key,
            node_id=node.pk if node else None,
            title=f"{database} · {path}" if path else str(database),
            context=node.context if node else "",
            text="\n".join(
                [
                    row_in_words(columns, row),
                    " ".join(map(as_written, row)),
                    answer.reading,
                ]
            ),
            quote=row_in_words(columns, row)[:QUOTE_CHARACTERS],
            timestamp=now,
        )
        for place, row in enumerate(answer.rows.rows[:ROWS_TOLD])
    ]
    return reading.sources.add_rows(rows)


def _sentence(question: str, rows: Rows, sources: Sequence[Source]) -> str:
    """Return the answer in a sentence, each row with the number of its source."""
    said = ""
    for text, place in sentence_of(question, rows).pieces:
        words = " ".join(text.split()) if place is not None else text
        said += plain(words) if place is not None else plain_ends(text)
        if place is not None and place < len(sources):
            said = _cited(said, [sources[place]])
    return said


def plain_ends(text: str) -> str:
    """Return words between rows: made plain, but for the blanks at their ends."""
    bare = plain(text)
    lead = " " if text[:1].isspace() else ""
    return f"{lead}{bare}{' ' if text[-1:].isspace() else ''}"


def _cited(text: str, sources: Iterable[Source]) -> str:
    """Return `text` with the numbers of its sources, before a full stop at its end."""
    numbers = "".join(f"[{source.number}]" for source in sources)
    if text.endswith("."):
        return f"{text[:-1]} {numbers}."
    return f"{text} {numbers}"


def _joined_lines(
    reading: Reading,
    question: str,
    joined: Joined,
    rows: Rows,
    sources: Sequence[Source],
) -> _Lines:
    if not rows.rows:
        return _Lines((_sentence(question, rows, sources),))
    lines, texts = [], []
    for place, row in enumerate(rows.rows[: len(sources)]):
        said = joined.mentions.get(place, ())
        found = reading.sources.add_nodes(one.node for one in said)
        line = _cited(f"- {plain(row_in_words(rows.columns, row))}", [sources[place]])
        lines.append(f"{line}\n{_threads(said, found)}")
        texts += found
    rest = len(rows.rows) - len(sources)
    if rest > 0 or rows.truncated:
        lines.append("There are more rows than these.")
    return _Lines(
        tuple(lines), tuple({source.number: source for source in texts}.values())
    )


def _threads(said: Sequence[Mention], sources: Sequence[Source]) -> str:
    if not said:
        return "  Nothing that you may see there mentions it."
    return "\n".join(
        _cited(f"  - {_when(one)}\u201c{plain(one.quote)}\u201d", [source])
        for one, source in zip(said, sources, strict=True)
    )


def _when(mention: Mention) -> str:
    """Return where and when it was said, as the source's own line has it."""
    context = plain(mention.node.context.partition(" · to ")[0])
    return f"{context}: " if context else ""


def _read_as(answer: Answered) -> list[str]:
    """Return how the question was read, with what was assumed."""
    said = [f"Read as: {plain(answer.reading).rstrip('.')}."] if answer.reading else []
    if answer.assumptions:
        said.append(f"Assumed: {'; '.join(map(plain, answer.assumptions))}.")
    return [" ".join(said)] if said else []


def _about(database: Database, answer: Answered, table: ShownTable) -> list[str]:
    """Return what a model needs to know besides the rows."""
    rows = table.row_count
    notes = [f"The database {database.name} was asked: {answer.reading}"]
    notes += [f"Assumed: {one}" for one in answer.assumptions]
    notes.append(f"SQL: {answer.sql}")
    told = min(rows, ROWS_TOLD)
    notes.append(f"It gave {rows} rows; {told} of them are sources here.")
    if table.truncated:
        notes.append("There are more rows than were read.")
    return notes
