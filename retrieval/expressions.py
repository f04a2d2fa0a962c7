"""Expressions of our own SQL within a queryset of nodes."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import BooleanField, Field, FloatField
from django.db.models.expressions import RawSQL


def number(text: str, values: Sequence[object]) -> RawSQL:
    """Return a number; `text` is a constant of ours, `values` are bound."""
    return expression(text, values, FloatField())


def condition(text: str, values: Sequence[object]) -> RawSQL:
    """Return a condition to filter by."""
    return expression(text, values, BooleanField())


def expression(text: str, values: Sequence[object], kind: Field) -> RawSQL:
    """Return an expression of another kind."""
    return RawSQL(text, values, kind)  # noqa: S611 - no word of a caller is in the text
