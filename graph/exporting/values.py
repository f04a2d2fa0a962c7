"""What a field of a line may hold: said before the database is asked."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import connection, models
from django.db.models import Field

from connections.models import User
from graph.exporting.parts import Part, Row, target_of

# Of a value: what is wrong with it, or nothing.
Look = Callable[[Any], str]


class LineReader:
    """Reads lines of one part; raises `ValueError` that says what is wrong with one."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.looks = {f.name: _look(part, f) for f in part.fields}
        self.names = {*self.looks, *part.extra}
        if part.is_numbered:
            self.names.add("n")
        self.users = [f.name for f in part.fields if target_of(f) is User]
        self.emails: set[str] = set()

    def read(self, line: str) -> Row:
        """Return the row of a line."""
        row = parse(line)
        if row.keys() != self.names:
            raise ValueError(_wrong_names(row, self.names))
        for name, look in self.looks.items():
            wrong = look(row[name])
            if wrong:
                raise ValueError(f"{name} {wrong}")
        for check in self.part.checks:
            wrong = check(row)
            if wrong:
                raise ValueError(wrong)
        self.emails.update(row[name] for name in self.users if row[name] is not None)
        return row


def parse(line: str) -> dict[str, Any]:
    """Return the object of a line; raises `ValueError`."""
    try:
        row = json.loads(line, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg}, at sign {error.pos}") from None
    if not isinstance(row, dict):
        raise ValueError("it is no JSON object")
    if "\\u" in line:
        _refuse_odd_signs(row)
    return row


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _refuse_odd_signs(row: Mapping[str, Any]) -> None:
    """Refuse what JSON can escape and PostgreSQL cannot keep."""
    text = json.dumps(row, ensure_ascii=False)
    if "\\u0000" in text.replace("\\\\", ""):
        raise ValueError("it holds a NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half a sign: a lone surrogate") from None


def _wrong_names(row: Row, names: set[str]) -> str:
    missing, other = sorted(names - row.keys()), sorted(row.keys() - names)
    said = [f"{missing[0]} is missing"] if missing else []
    said += [f"{other[0]!r:.80} is not known"] if other else []
    return " and ".join(said)


def _look(part: Part, column: Field[Any, Any]) -> Look:
    look = _of_kind(part, column)
    if not column.null:
        return lambda value: "may not be null" if value is None else look(value)
    return lambda value: "" if value is None else look(value)


def _of_kind(part: Part, column: Field[Any, Any]) -> Look:
    to = target_of(column)
    if to is User:
        return _email
    is_json = isinstance(column, models.JSONField)
    if to is not None or (column.name in part.translated and not is_json):
        return _reference
    if isinstance(column, ArrayField):
        return _texts
    for kind, look in _LOOKS.items():
        if isinstance(column, kind):
            return look(column)
    raise TypeError(f"{column} is of a kind that no export knows.")


def _email(value: Any) -> str:
    try:
        validate_email(value)
    except (ValidationError, TypeError):
        return f"is no e-mail address: {value!r:.80}"
    is_plain = len(value) <= 254 and value == value.lower()
    return "" if is_plain else "is an e-mail address in small letters, of 254 at most"


def _reference(value: Any) -> str:
    return "" if isinstance(value, str | list | int) else "is no address of a row"


def _texts(value: Any) -> str:
    is_list = isinstance(value, list) and all(isinstance(v, str) for v in value)
    return "" if is_list else "is no list of texts"


def _text(column: Any) -> Look:
    most = column.max_length
    allowed = {value for value, _ in column.flatchoices} if column.choices else None

    def look(value: Any) -> str:
        if not isinstance(value, str):
            return f"is no text: {value!r:.80}"
        if most is not None and len(value) > most:
            return f"has {len(value):,} signs, {most} at most"
        if allowed is not None and value not in allowed:
            return f"is {value!r:.80}, which is none of {', '.join(sorted(allowed))}"
        return ""

    return look


def _whole(column: Any) -> Look:
    least, most = connection.ops.integer_field_range(column.get_internal_type())

    def look(value: Any) -> str:
        if type(value) is not int:
            return f"is no whole number: {value!r:.80}"
        return "" if least <= value <= most else f"is not between {least} and {most}"

    return look


def _number(_: Any) -> Look:
    def look(value: Any) -> str:
        is_number = type(value) in (int, float)
        is_fine = is_number and math.isfinite(value)
        return "" if is_fine else f"is no number: {value!r:.80}"

    return look


def _flag(_: Any) -> Look:
    return lambda value: "" if type(value) is bool else "is neither true nor false"


def _moment(_: Any) -> Look:
    return lambda value: _parsed(datetime.fromisoformat, value, "moment")


def _day(_: Any) -> Look:
    return lambda value: _parsed(date.fromisoformat, value, "day")


def _uuid(_: Any) -> Look:
    return lambda value: _parsed(uuid.UUID, value, "UUID")


def _anything(_: Any) -> Look:
    return lambda value: ""


def _parsed(parse_it: Callable[[str], object], value: Any, kind: str) -> str:
    try:
        parse_it(value)
    except (ValueError, TypeError, AttributeError):
        return f"is no {kind}: {value!r:.80}"
    return ""


_LOOKS: Mapping[type[Any], Callable[[Any], Look]] = {
    models.CharField: _text,
    models.TextField: _text,
    models.BooleanField: _flag,
    models.IntegerField: _whole,
    models.FloatField: _number,
    models.DecimalField: _number,
    models.DateTimeField: _moment,
    models.DateField: _day,
    models.UUIDField: _uuid,
    models.JSONField: _anything,
}
