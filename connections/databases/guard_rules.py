"""The rules of the guard: each has a name that stays, and a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from connections.databases.base import GuardRefused

RULES: Mapping[str, str] = {
    "text": "The text is plain: no odd characters, no comments that servers execute.",
    "length": "A statement has at most so many characters, words and brackets.",
    "syntax": "The statement is SQL of this database's dialect.",
    "one-statement": "There is exactly one statement.",
    "reading-only": "The statement is a SELECT; nothing in it writes, locks or sets.",
    "construct": "Only constructs are used that are known to be harmless.",
    "literal": "Texts are written in plain single quotes.",
    "variable": "No variables, parameters or placeholders are used.",
    "function": "Only functions are called that are known to only compute.",
    "argument": "What makes long texts or many rows does so within bounds.",
    "cast": "Values are turned only into plain types.",
    "table": "Only tables are read that this connection shows.",
    "column": "Only columns are used that this connection shows.",
    "whole-row": "Columns are used one by one, never a row as a whole.",
    "name": "Names are plain and mean one thing only.",
    "masked": "A masked column is only shown, or counted.",
    "aggregate": "A column for figures only is used in count, sum and avg alone.",
    "join": "Tables that are joined have a condition that relates them.",
    "complexity": "Joins, subqueries, unions and depth stay within bounds.",
    "limit": "LIMIT and OFFSET are plain numbers within bounds.",
    "values": "There are as many placeholders as values, each once and in order.",
    "rendering": "The statement reads the same after it was written anew.",
}


def refuse(rule: str, message: str) -> NoReturn:
    """Raise the refusal of `rule`; a rule that is not listed is an error of ours."""
    if rule not in RULES:
        raise LookupError(f"There is no guard rule {rule!r}.")
    raise GuardRefused(rule, message)
