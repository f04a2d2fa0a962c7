"""A turn as the page shows it: its text with numbers, and a card for each source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.contrib.postgres.search import SearchHeadline, SearchQuery
from django.db.models import Count
from django.utils import timezone
from django.utils.safestring import SafeString

from connections.models import User
from connections.records import node_types
from graph.models import Node
from graph.staleness import thresholds_of
from memory.agent.offline import MODEL
from memory.answers import ChatAnswer, Cited
from memory.chips import Chip, chips_of, ignored_in
from memory.conversations import load_answer
from memory.marked_up import answer_html
from memory.models import Feedback, Observation, Turn
from memory.sql.result_grids import ShownTurnTable, shown_turn_tables

_NUMBER = re.compile(r"\s*\[(\d{1,3})\]")
_OPEN, _CLOSE = "\x02", "\x03"
_WORDS_MARKED = 40
_AROUND = 240
# How long a page looks for what was remembered from an answer.
REMEMBERING = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text: plain, marked, or the number of a citation."""

    text: str
    is_marked: bool = False
    cited: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """A source of an answer; `is_withheld` where its reader may not see it (now)."""

    cited: Cited
    icon: str
    kind: str
    quote: tuple[Piece, ...]
    shared: tuple[str, ...]
    is_open: bool
    is_withheld: bool = False

    @property
    def host(self) -> str:
        """Return where its original lies, as a person would say it."""
        return (urlsplit(self.cited.url).hostname or "").removeprefix("www.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Something that was read for an answer and is not cited by it."""

    node_id: int
    title: str
    context: str
    icon: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """A question, its answer and its cards, ready for a template."""

    turn: Turn
    answer: ChatAnswer
    html: SafeString
    paragraphs: tuple[tuple[Piece, ...], ...]
    cards: tuple[Card, ...]
    also_read: tuple[Read, ...]
    followups: tuple[str, ...]
    chips: tuple[Chip, ...]
    asked_at: datetime
    is_withheld: bool
    feedback: Feedback | None
    remembered: int
    tables: tuple[ShownTurnTable, ...] = ()

    @property
    def has_errors(self) -> bool:
        return any(call.error for call in self.answer.calls)

    @property
    def is_running(self) -> bool:
        return self.turn.state == Turn.State.RUNNING

    @property
    def is_being_remembered(self) -> bool:
        is_new = timezone.now() - self.asked_at < REMEMBERING
        is_done = self.turn.state == Turn.State.DONE
        return is_done and self.turn.remembered_at is None and is_new

    @property
    def ignored(self) -> tuple[str, ...]:
        return ignored_in(self.turn)

    @property
    def tokens(self) -> int:
        return self.turn.tokens_read + self.turn.tokens_written


def shown_turns(turns: Iterable[Turn], user: User) -> list[ShownTurn]:
    """Return `turns`, of one conversation, as `user` may see them."""
    turns = list(turns)
    said = Feedback.objects.filter(turn__in=turns, user=user)
    given = {feedback.turn_id: feedback for feedback in said}
    visible = Node.objects.visible_to(user).current()
    kept = Observation.objects.filter(turn__in=turns, left_at=None, node__in=visible)
    counted = kept.order_by().values_list("turn").annotate(Count("pk"))
    remembered = dict(counted)
    tables = shown_turn_tables(turns, user)
    thresholds = thresholds_of(turns[0].conversation.project) if turns else None
    return [
        shown(
            turn,
            user,
            given.get(turn.pk),
            remembered.get(turn.pk, 0),
            tuple(tables.get(turn.pk, ())),
            thresholds,
        )
        for turn in turns
    ]


def shown(
    turn: Turn,
    user: User,
    feedback: Feedback | None = None,
    remembered: int = 0,
    tables: tuple[ShownTurnTable, ...] | None = None,
    thresholds: Mapping[str, int | None] | None = None,
) -> ShownTurn:
    """Return `turn` as `user` may see it.

    An answer is made of its sources' words: where one of them, or a database that it
    asked, is closed to the user by now, the answer is withheld with it. So is what could
    be asked next, where anything that was read is closed: it may say its name.
    """
    if tables is None:
        tables = tuple(shown_turn_tables([turn], user).get(turn.pk, ()))
    answer = load_answer(turn, thresholds)
    contents = _open_contents(user, answer)
    marked = _marked_quotes(turn)
    cards = tuple(_card(cited, contents, marked) for cited in answer.citations)
    is_withheld = any(card.is_withheld for card in cards) or any(
        table.is_withheld for table in tables
    )
    numbers = {cited.n for cited in answer.citations}
    # What was quoted stays as its source has it; only a model writes Markdown.
    is_quoted = answer.model in ("", MODEL)
    text = "" if is_withheld else answer.answer
    also_read = () if is_withheld else _also_read(turn, user)
    is_all_open = not is_withheld and len(also_read) == len(turn.also_read)
    return ShownTurn(
        turn=turn,
        answer=answer,
        html=SafeString("") if is_quoted else _html(turn, answer, text),
        paragraphs=paragraphs(text, numbers) if is_quoted else (),
        cards=cards,
        also_read=also_read,
        followups=tuple(turn.followups) if is_all_open else (),
        chips=chips_of(turn, user),
        asked_at=turn.created_at,
        is_withheld=is_withheld,
        feedback=feedback,
        remembered=remembered,
        tables=() if is_withheld else tables,
    )


def _html(turn: Turn, answer: ChatAnswer, text: str) -> SafeString:
    numbers = [cited.n for cited in answer.citations]
    addresses = [cited.url for cited in answer.citations]
    return answer_html(text, numbers, addresses, f"turn-{turn.pk}")


def paragraphs(text: str, numbers: set[int]) -> tuple[tuple[Piece, ...], ...]:
    """Split an answer into paragraphs of pieces; only known numbers become links."""
    blocks = (block.strip() for block in re.split(r"\n\s*\n", text))
    return tuple(tuple(_pieces(block, numbers)) for block in blocks if block)


def _pieces(block: str, numbers: set[int]) -> list[Piece]:
    pieces, start = [], 0
    for match in _NUMBER.finditer(block):
        n = int(match[1])
        if n not in numbers:
            continue
        pieces += [Piece(block[start : match.start()]), Piece(match[1], cited=n)]
        start = match.end()
    pieces.append(Piece(block[start:]))
    return [piece for piece in pieces if piece.text]


def _open_contents(user: User, answer: ChatAnswer) -> dict[int, str]:
    """Return the words of the cited nodes that `user` may see, by node."""
    ids = [cited.node_id for cited in answer.citations if cited.node_id]
    visible = Node.objects.visible_to(user).current().filter(pk__in=ids)
    return dict(visible.values_list("pk", "content"))


def _also_read(turn: Turn, user: User) -> tuple[Read, ...]:
    """Return what was read and not cited, as far as `user` may see it now."""
    if not turn.also_read:
        return ()
    visible = Node.objects.visible_to(user).current().filter(pk__in=turn.also_read)
    columns = ("pk", "key", "node_type", "title", "context")
    rows = {row[0]: _read(*row) for row in visible.values_list(*columns)}
    return tuple(rows[node] for node in turn.also_read if node in rows)


def _read(node: int, key: str, node_type: str, title: str, context: str) -> Read:
    known = node_types.get(node_type)
    return Read(
        node_id=node,
        title=title or context or key,
        context=context if title else "",
        icon=known.icon if known else "circle",
        kind=node_type.replace("_", " "),
    )


def _marked_quotes(turn: Turn) -> dict[int, str]:
    """Return each citation's quote with the question's words set off, by number."""
    words = re.findall(r"\w+", turn.question)[:_WORDS_MARKED]
    asked = " or ".join(word for word in words if word.lower() != "or")
    if not asked:
        return {}
    config = turn.conversation.project.language
    headline = SearchHeadline(
        "quote",
        SearchQuery(asked, config=config, search_type="websearch"),
        config=config,
        start_sel=_OPEN,
        stop_sel=_CLOSE,
        highlight_all=True,
    )
    return dict(turn.citations.annotate(marked=headline).values_list("n", "marked"))


def _card(cited: Cited, contents: Mapping[int, str], marked: Mapping[int, str]) -> Card:
    known = node_types.get(cited.node_type)
    icon = known.icon if known else "circle"
    kind = cited.node_type.replace("_", " ")
    if cited.node_id and cited.node_id not in contents:
        return Card(cited, icon, kind, (), (), is_open=False, is_withheld=True)
    words = quote_pieces(cited.quote, marked.get(cited.n, ""))
    shared = dict.fromkeys(piece.text.lower() for piece in words if piece.is_marked)
    around = passage_pieces(cited.quote, contents.get(cited.node_id or 0, ""))
    return Card(
        cited,
        icon,
        kind,
        around or words,
        tuple(shared)[:12],
        is_open=cited.node_id is not None,
    )


def passage_pieces(quote: str, content: str) -> tuple[Piece, ...]:
    """Return the quote, marked, in its surroundings; nothing where all is quote."""
    start = content.find(quote) if quote else -1
    if start < 0 or len(content.strip()) == len(quote.strip()):
        return ()
    before, after = content[:start], content[start + len(quote) :]
    if len(before) > _AROUND:
        before = "\u2026" + before[-_AROUND:].partition(" ")[2]
    if len(after) > _AROUND:
        after = after[:_AROUND].rpartition(" ")[0] + "\u2026"
    pieces = (
        Piece(before.lstrip()),
        Piece(quote, is_marked=True),
        Piece(after.rstrip()),
    )
    return tuple(piece for piece in pieces if piece.text)


def quote_pieces(quote: str, marked: str) -> tuple[Piece, ...]:
    """Return `quote` in pieces, its words unchanged, marked where `marked` is.

    The database's headline drops what looks like a tag; then nothing is marked.
    """
    if marked.replace(_OPEN, "").replace(_CLOSE, "") != quote:
        return (Piece(quote),) if quote else ()
    pieces = []
    for n, run in enumerate(re.split(f"[{_OPEN}{_CLOSE}]", marked)):
        if run:
            pieces.append(Piece(run, is_marked=n % 2 == 1))
    return tuple(pieces)
