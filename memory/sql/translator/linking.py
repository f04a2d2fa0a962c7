"""Words of a question linked to the schema, its values and the language's phrases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from connections.databases.base import Table
from memory.sql.translator.base import Period, Ref
from memory.sql.translator.english import ENGLISH
from memory.sql.translator.german import GERMAN
from memory.sql.translator.language import Kind, Language
from memory.sql.translator.lexicon import (
    DISTANT,
    FULL,
    LOOSE,
    PART,
    SAME_ROOT,
    Lexicon,
    Named,
)
from memory.sql.translator.periods import period_at
from memory.sql.translator.word_lists import word_list
from memory.sql.translator.words import Token, stem, tokens_of

LONGEST_NAME, LONGEST_VALUE = 6, 8
# Roles whose phrases outrank a column of the same name.
FIRM = frozenset("#aes!0>&|bB")
ARTICLES = frozenset(word_list("the a an of der die das des dem den"))
ONES = frozenset(word_list("a an ein eine einen einem einer eines"))
LEAST_VALUE = 3


@dataclass(slots=True, eq=False)
class Item:
    """A few words of the question with their role and what they may mean."""

    kind: Kind
    text: str
    place: int
    value: object = None
    columns: tuple[tuple[Ref, float], ...] = ()
    tables: tuple[tuple[Table, float], ...] = ()
    held: tuple[tuple[Ref, str], ...] = ()
    number: int | float | None = None
    quoted: bool = False
    sentence: int = 0


@dataclass
class Linker:
    """Links the tokens of one question, longest first, from left to right."""

    question: str
    lexicon: Lexicon
    language: Language
    today: date
    tokens: list[Token] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    factor: float = 1.0
    notes: list[str] = field(default_factory=list)

    def run(self) -> list[Item]:
        """Return the items of the question, without what says nothing."""
        place = 0
        while place < len(self.tokens):
            place += self._next(place)
        return self.items

    def _next(self, place: int) -> int:
        token = self.tokens[place]
        if token.is_mark:
            if token.text in ",;":
                self._add(",", place, 1)
            elif token.text in ".?!":
                self._add(",", place, 1, value="end")
            return 1
        if token.quoted:
            return self._quoted(place)
        found = period_at(self.tokens[place:], self.language, self.today)
        if found:
            length, period = found
            self._add("d", place, length, value=period)
            return length
        return self._words(place)

    def _quoted(self, place: int) -> int:
        token = self.tokens[place]
        held = self.lexicon.values.get(token.low, ())
        kind: Kind = "v" if held else "n" if token.number is not None else "q"
        item = self._add(kind, place, 1, value=token.text, held=tuple(held))
        item.quoted, item.number = True, token.number
        return 1

    def _words(self, place: int) -> int:
        token = self.tokens[place]
        phrase = self._phrase(place)
        named, name_length, score = self._name(place)
        value_length = self._value_length(place, phrase[0], name_length)
        if value_length:
            return self._held(place, value_length)
        phrase_wins = phrase[0] > name_length or (
            phrase[0] == name_length and (phrase[1] in FIRM or score <= PART)
        )
        if phrase[0] and phrase_wins:
            item = self._add(phrase[1], place, phrase[0], value=phrase[2])
            if phrase[0] == name_length:
                item.columns = named.columns
            return phrase[0]
        if token.number is not None:
            self._add("n", place, 1, value=token.text).number = token.number
            return 1
        small = token.low in self.language.stops or self._is_light(token)
        if name_length == 1 and self._tells_when(token, named):
            self._add("_", place, 1, value="light")
            return 1
        if name_length and not (small and score < FULL and name_length == 1):
            self._named(place, name_length, named)
            return name_length
        return self._other(place)

    def _tells_when(self, token: Token, named: Named) -> bool:
        """Whether a verb just says what happened at the time in a column of days."""
        if named.tables or named.best >= FULL or not token.low.endswith("ed"):
            return False
        families = {ref.column.family for ref, _ in named.columns}
        return families <= {"date", "timestamp"}

    def _is_light(self, token: Token) -> bool:
        """Whether a word only relates others; German nouns are written large."""
        is_noun = self.language is GERMAN and token.capital and token.place > 0
        return token.low in self.language.light and not is_noun

    def _named(self, place: int, length: int, named: Named) -> None:
        sure = max((score for _, score in named.tables), default=0.0)
        best = named.best
        kind: Kind = "t" if sure and sure >= min(best, 0.7) else "c"
        self._add(kind, place, length, columns=named.columns, tables=named.tables)

    def _held(self, place: int, length: int) -> int:
        low = self._said(place, length).lower()
        self._add("v", place, length, held=tuple(self.lexicon.values[low]))
        return length

    def _said(self, place: int, length: int) -> str:
        last = self.tokens[place + length - 1]
        return self.question[self.tokens[place].start : last.end]

    def _phrase(self, place: int) -> tuple[int, Kind, object]:
        longest = min(self.language.longest, len(self.tokens) - place)
        for length in range(longest, 0, -1):
            some = self.tokens[place : place + length]
            if any(token.is_mark or token.quoted for token in some):
                continue
            found = self.language.phrases.get(tuple(token.low for token in some))
            if found:
                return length, *found
        return 0, "x", None

    def _value_length(self, place: int, phrase: int, name: int) -> int:
        """Return over how many tokens a known value reaches, if nothing beats it."""
        longest = min(LONGEST_VALUE, len(self.tokens) - place)
        for length in range(longest, max(phrase, name) - 1, -1):
            if length < 1 or self.tokens[place + length - 1].is_mark:
                continue
            said = self._said(place, length)
            if said.lower() not in self.lexicon.values:
                continue
            if length > max(phrase, name) and length > 1:
                return length
            if self._stands_alone(place, length, phrase, name):
                return length
        return 0

    def _stands_alone(self, place: int, length: int, phrase: int, name: int) -> bool:
        """Whether one word is a value rather than a name, a phrase or a small word."""
        token = self.tokens[place]
        if token.number is not None or phrase >= length:
            return False
        small = token.low in self.language.stops or token.low in self.language.light
        if token.low in self.language.light and self._describes(place, length):
            return True
        proper = token.capital and place > 0 and self.language is ENGLISH
        if name >= length:
            return False
        if small:
            return token.low not in self.language.stops and proper
        return len(token.text) >= LEAST_VALUE or token.text.isupper()

    def _describes(self, place: int, length: int) -> bool:
        """Whether a value is said of the table that follows: "open tickets"."""
        held = self.lexicon.values[self._said(place, length).lower()]
        before = {t.path for i in self.items for t, _ in i.tables[:1] if i.kind == "t"}
        if any(ref.table.path in before for ref, _ in held):
            return True
        if place + length >= len(self.tokens):
            return False
        named = self._name(place + length)[0]
        tables = {table.path for table, _ in named.tables}
        return any(ref.table.path in tables for ref, _ in held)

    def _name(self, place: int) -> tuple[Named, int, float]:
        """Return the longest run of words that names something of the schema."""
        best: tuple[Named, int, float] = Named(), 0, 0.0
        longest = min(LONGEST_NAME, len(self.tokens) - place)
        for length in range(longest, 0, -1):
            some = self.tokens[place : place + length]
            if any(t.is_mark or t.quoted or t.number is not None for t in some):
                continue
            if {some[0].low, some[-1].low} & ARTICLES:
                continue
            if length > 1 and self._is_glue(some[-1]):
                continue
            stems = [stem(t.text) for t in some if t.low not in ARTICLES]
            named = self._lookup(stems, is_single=length == 1)
            if named.best > best[2] or (named.best and not best[1]):
                return named, length, named.best
        return best

    def _is_glue(self, token: Token) -> bool:
        """Whether a word only leads on to the next: no name ends with it."""
        found = self.language.phrases.get((token.low,))
        is_small = token.low in self.language.stops
        return is_small or (found is not None and found[0] == "p")

    def _lookup(self, stems: list[str], *, is_single: bool) -> Named:
        named = self.lexicon.named(stems)
        if named.best:
            return named
        if not is_single and len(stems) > 1:
            swapped = self.lexicon.named(stems[::-1])
            return swapped if swapped.best >= LOOSE else Named()
        return Named()

    def _other(self, place: int) -> int:
        """Add a word that is neither phrase nor name as such."""
        token = self.tokens[place]
        if token.low in self.language.numbers:
            item = self._add("n", place, 1, value=token.text)
            item.number = self.language.numbers[token.low]
            return 1
        if token.low in ONES and self.items and self.items[-1].kind == ">":
            self._add("n", place, 1, value=token.text).number = 1
            return 1
        if token.low in self.language.stops:
            return 1
        light = self._is_light(token)
        if not light and self._meant(place, token):
            return 1
        if light:
            self._light(place, token)
            return 1
        if token.capital and place and self.language is ENGLISH:
            return self._proper(place)
        self._add("x", place, 1)
        return 1

    def _light(self, place: int, token: Token) -> None:
        """Add a verb; where a table is called alike, it hints at that table."""
        item = self._add("_", place, 1, value="light")
        for word, score in self.lexicon.meant(token.text):
            if score < SAME_ROOT:
                continue
            tables = self.lexicon.named([word]).tables
            if tables:
                item.tables = tables
                return

    def _meant(self, place: int, token: Token) -> bool:
        """Link a word by its root, a synonym, an abbreviation or as a compound."""
        if self._prefixed(place, token):
            return True
        for word, factor in self.lexicon.meant(token.text):
            named = self.lexicon.named([word])
            if named.best:
                self._named(place, 1, _weaker(named, factor))
                self.notes.append(f"“{token.text}” read as {word}")
                return True
        parts = self.lexicon.split(token.text)
        if parts:
            whole = self.lexicon.named(parts)
            if whole.best:
                self._named(place, 1, whole)
                return True
            heads = [self.lexicon.named([part]) for part in parts]
            if all(head.best for head in heads):
                # In a compound the last word is what is asked for.
                self._named(place, 1, heads[1])
                self._named(place, 1, heads[0])
                return True
        for word in self.lexicon.ending(token.text):
            named = self.lexicon.named([word])
            if named.best:
                self._named(place, 1, _weaker(named, LOOSE))
                self.notes.append(f"“{token.text}” read as {word}")
                return True
        return False

    def _prefixed(self, place: int, token: Token) -> bool:
        for prefix, (kind, value) in self.language.prefixes.items():
            rest = token.low.removeprefix(prefix)
            if rest == token.low or len(rest) < LEAST_VALUE:
                continue
            named = self.lexicon.named([stem(rest)])
            if not named.best:
                words = [word for word, _ in self.lexicon.meant(rest)]
                named = self.lexicon.named(words[:1]) if words else Named()
            if named.best:
                self._add(kind, place, 1, value=value)
                self._named(place, 1, named)
                return True
        return False

    def _proper(self, place: int) -> int:
        """Add capitalised words that no column is known to hold as one text."""
        length = 1
        while place + length < len(self.tokens):
            token = self.tokens[place + length]
            if token.is_mark or token.quoted or not token.capital:
                break
            length += 1
        self._add("q", place, length, value=self._said(place, length))
        return length

    def _add(
        self,
        kind: Kind,
        place: int,
        length: int,
        *,
        value: object = None,
        columns: tuple[tuple[Ref, float], ...] = (),
        tables: tuple[tuple[Table, float], ...] = (),
        held: tuple[tuple[Ref, str], ...] = (),
    ) -> Item:
        text = self._said(place, length)
        item = Item(kind, text, place, value, columns, tables, held)
        self.items.append(item)
        return item


def link(
    question: str, lexicon: Lexicon, *, today: date
) -> tuple[list[Item], Language, list[str]]:
    """Return the items of a question, its language, and what was read how."""
    tokens = tokens_of(question)
    language = language_of(tokens)
    linker = Linker(question, lexicon, language, today, tokens)
    return linker.run(), language, linker.notes


def language_of(tokens: Sequence[Token]) -> Language:
    """Return the language whose small words there are more of; English on a tie."""
    words = [token.low for token in tokens if not token.quoted]
    return GERMAN if GERMAN.knows(words) > ENGLISH.knows(words) else ENGLISH


def period_of(item: Item) -> Period:
    """Return the period that an item of kind `d` tells."""
    if not isinstance(item.value, Period):
        raise TypeError(item.kind)
    return item.value


def _weaker(named: Named, factor: float) -> Named:
    return Named(
        tuple((table, score * factor) for table, score in named.tables),
        tuple(
            (ref, max(score * factor, DISTANT * factor)) for ref, score in named.columns
        ),
    )
