"""The guard: what a person or a model wrote becomes a statement that only reads.

The text is parsed, everything in it compared with lists of what is known to be harmless
and with the schema that may be seen, written anew, and read again. Only what came out
is ever sent. Nothing here touches a database.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokens import Token, TokenType

from connections.databases.base import Flavour, Guarded, GuardRefused, Schema
from connections.databases.guard_dialects import READS
from connections.databases.guard_functions import FUNCTIONS, SYNTAX
from connections.databases.guard_limits import (
    BRACKETS,
    BYTES,
    SELECTS,
    SET_OPERATIONS,
    TOKENS,
    cap_rows,
)
from connections.databases.guard_queries import read_query
from connections.databases.guard_rules import refuse
from connections.databases.guard_scopes import Statement

# Control characters but tab and line ends; marks that turn the direction of text; the
# line ends of Unicode, which servers do not take for such.
_ODD = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
_WRITES = (
    exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter,
    exp.Copy, exp.Into, exp.Lock, exp.Set, exp.Command, exp.Use, exp.Transaction,
    exp.Commit, exp.Rollback, exp.Pragma, exp.Describe, exp.Show, exp.Kill, exp.Grant,
    exp.Analyze, exp.LoadData, exp.TruncateTable, exp.Cache, exp.Hint,
)  # fmt: skip


# What a parser may raise over texts that nobody thought of.
_FAILURES = (
    SqlglotError, RecursionError, LookupError, ValueError, TypeError, AttributeError,
    AssertionError, ArithmeticError,
)  # fmt: skip


def guard(sql: str, schema: Schema, *, limit: int, values: int = 0) -> Guarded:
    """Return the statement to send for `sql`, asking for `limit` rows and one more.

    With `values`, the statement holds exactly as many `?`; PostgreSQL's come out as `$1`
    and so on, as its server reads them.

    Raises `GuardRefused`, which says what to change, and never another error.
    """
    try:
        return _guarded(sql, schema, limit, values)
    except GuardRefused:
        raise
    except _FAILURES as error:
        raise _unreadable(error) from None


def _unreadable(error: Exception) -> GuardRefused:
    if isinstance(error, RecursionError):
        return GuardRefused("complexity", "The statement is nested too deeply.")
    said = re.sub(r"\x1b\[\d*m", "", str(error)).partition("\n")[0][:200]
    return GuardRefused("syntax", f"The statement cannot be read: {said}")


def _guarded(sql: str, schema: Schema, limit: int, values: int) -> Guarded:
    check_text(sql)
    tree = _parsed(sql, schema.flavour)
    check_shape(tree)
    statement = Statement(schema, read_query, values)
    outputs = read_query(statement, tree, None, {})
    cap_rows(tree, limit)
    text, tokens = _written(tree, schema.flavour, statement)
    return Guarded(
        sql=_with_values(text, tokens, values, schema.flavour),
        original=sql,
        limit=limit,
        tables=tuple(sorted(statement.tables)),
        columns=tuple(sorted(statement.columns)),
        masked=frozenset(
            place for place, output in enumerate(outputs) if output.exposure == "masked"
        ),
    )


def check_text(sql: str) -> None:
    """Refuse texts that a server may read in another way than a parser does."""
    if len(sql) > BYTES or len(sql.encode("utf-8", "replace")) > BYTES:
        refuse("length", f"The statement is longer than {BYTES} bytes.")
    if found := _ODD.search(sql):
        refuse("text", f"Remove the character U+{ord(found[0]):04X}.")
    if any(0xD800 <= ord(one) <= 0xDFFF for one in sql):
        refuse("text", "The text is not valid Unicode.")
    if "/*!" in sql or re.search(r"/\*M!", sql, re.IGNORECASE):
        refuse("text", "Remove the comment that starts with /*! or /*M!.")
    if re.search(r"\\['\"`]", sql):
        refuse("text", "Write a quote inside a text twice, not with a backslash.")


def _parsed(sql: str, flavour: Flavour) -> exp.Query:
    dialect = READS[flavour]
    tokens = dialect.tokenize(sql)
    _check_size(tokens)
    trees = dialect.parser(error_level=ErrorLevel.RAISE).parse(tokens, sql)
    found = [tree for tree in trees if tree is not None]
    if len(found) != 1:
        refuse("one-statement", "Write exactly one statement.")
    tree = found[0]
    while isinstance(tree, exp.Subquery) and not _has_more(tree):
        tree = tree.this
    if type(tree) not in (exp.Select, exp.Union, exp.Intersect, exp.Except):
        refuse(
            "reading-only", "Only SELECT, and UNION and the like of it, are allowed."
        )
    return tree  # type: ignore[return-value] # one of the four


def _has_more(tree: exp.Expr) -> bool:
    return any(value for name, value in tree.args.items() if name != "this")


def _check_size(tokens: list[Token]) -> None:
    if len(tokens) > TOKENS:
        refuse("length", f"The statement has more than {TOKENS} words.")
    deep = 0
    for token in tokens:
        if token.token_type in _OPENING:
            deep += 1
            if deep > BRACKETS:
                refuse("complexity", f"More than {BRACKETS} brackets in each other.")
        elif token.token_type in _CLOSING:
            deep -= 1


def check_shape(tree: exp.Expr) -> None:
    """Refuse a tree that writes, locks or sets anywhere, or is too large."""
    counts: Counter[type] = Counter()
    for node in tree.walk():
        if isinstance(node, _WRITES):
            said = type(node).__name__.upper()
            refuse("reading-only", f"{said} is not allowed: the statement only reads.")
        counts[type(node)] += 1
    if counts[exp.Select] > SELECTS:
        refuse("complexity", f"More than {SELECTS} SELECTs in one statement.")
    if counts[exp.Union] + counts[exp.Intersect] + counts[exp.Except] > SET_OPERATIONS:
        refuse("complexity", f"More than {SET_OPERATIONS} set operations.")


def _written(
    tree: exp.Query, flavour: Flavour, statement: Statement
) -> tuple[str, list[Token]]:
    """Return the text of a tree; it reads as that tree again, or is refused."""
    dialect = READS[flavour]
    text = tree.sql(
        dialect=dialect,
        comments=False,
        identify=True,
        unsupported_level=ErrorLevel.RAISE,
    )
    tokens = dialect.tokenize(text)
    _check_calls(tokens, flavour, statement)
    again = dialect.parser(error_level=ErrorLevel.RAISE).parse(tokens, text)
    if len(again) != 1 or again[0] != tree:
        refuse("rendering", "The statement cannot be written safely: make it plainer.")
    return text, tokens


def _check_calls(tokens: list[Token], flavour: Flavour, statement: Statement) -> None:
    """Refuse a text in which a name before a bracket is no function that is allowed."""
    allowed = FUNCTIONS[flavour]
    for before, token in pairwise(tokens):
        if token.token_type is not TokenType.L_PAREN:
            continue
        name = before.text
        if before.token_type is TokenType.IDENTIFIER:
            known = name in statement.listed
        else:
            word = name[:1].isalpha() and before.token_type is not TokenType.STRING
            # Some words come in pairs, such as ORDER BY.
            last = name.lower().split()[-1] if word else ""
            known = not word or name.lower() in allowed or last in SYNTAX
        if not known:
            refuse("function", f"The function {name[:60]}() is not allowed here.")


def _with_values(text: str, tokens: list[Token], values: int, flavour: Flavour) -> str:
    places = [one.start for one in tokens if one.token_type is TokenType.PLACEHOLDER]
    if len(places) != values:
        refuse("values", f"{len(places)} placeholders `?` stand for {values} values.")
    if flavour != "postgres":
        return text
    parts, last = [], 0
    for number, place in enumerate(places, start=1):
        parts.append(f"{text[last:place]}${number}")
        last = place + 1
    return "".join([*parts, text[last:]])
