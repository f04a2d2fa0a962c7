"""Pages by key: the place of the last row, not a count of rows before it."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError as InvalidValue
from django.db.models import Model, Q, QuerySet
from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

if TYPE_CHECKING:
    from rest_framework.views import APIView

LIMIT, LIMIT_MOST = 50, 200
CURSOR_CHARACTERS = 400


class PageParameters(serializers.Serializer):
    """Where a page begins and how much it holds."""

    cursor = serializers.CharField(
        required=False,
        max_length=CURSOR_CHARACTERS,
        help_text="`next_cursor` of the page before; empty: the first page.",
    )
    limit = serializers.IntegerField(
        required=False,
        default=LIMIT,
        min_value=1,
        max_value=LIMIT_MOST,
        help_text="How many results a page holds at most.",
    )


class ByKey(BasePagination):
    """Pages a queryset by the view's `page_by` fields, which must be unique together.

    A page is `{"results": [...], "next_cursor": "..." or null}`. Rows that come or go
    between two pages neither repeat nor hide others.
    """

    next_cursor: str | None = None

    def paginate_queryset(  # type: ignore[override] # never a sequence here
        self, queryset: QuerySet[Any], request: Request, view: APIView | None = None
    ) -> list[Any]:
        given = PageParameters(data=request.query_params)
        given.is_valid(raise_exception=True)
        order: tuple[str, ...] = getattr(view, "page_by", ("pk",))
        limit = given.validated_data["limit"]
        if cursor := given.validated_data.get("cursor"):
            queryset = queryset.filter(
                after(order, _values(cursor, queryset.model, order))
            )
        rows = list(queryset.order_by(*order)[: limit + 1])
        if len(rows) > limit:
            rows = rows[:limit]
            self.next_cursor = _cursor(rows[-1], order)
        return rows

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"results": data, "next_cursor": self.next_cursor})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["results", "next_cursor"],
            "properties": {
                "results": {"type": "array", "items": schema["items"]},
                "next_cursor": {
                    "type": "string",
                    "nullable": True,
                    "description": "`cursor` of the next page; null on the last one.",
                },
            },
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        return [
            {
                "name": "cursor",
                "in": "query",
                "required": False,
                "description": PageParameters().fields["cursor"].help_text,
                "schema": {"type": "string", "maxLength": CURSOR_CHARACTERS},
            },
            {
                "name": "limit",
                "in": "query",
                "required": False,
                "description": PageParameters().fields["limit"].help_text,
                "schema": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": LIMIT_MOST,
                    "default": LIMIT,
                },
            },
        ]


def _cursor(row: Model, order: tuple[str, ...]) -> str:
    values = [_field(type(row), name).value_to_string(row) for name in order]
    packed = json.dumps(values, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _values(cursor: str, model: type[Model], order: tuple[str, ...]) -> list[Any]:
    try:
        packed = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        values = json.loads(packed)
        if not isinstance(values, list) or len(values) != len(order):
            raise ValueError(cursor)
        if not all(isinstance(value, str) for value in values):
            raise ValueError(cursor)
        return [
            _field(model, name).to_python(value)
            for name, value in zip(order, values, strict=True)
        ]
    except (ValueError, binascii.Error, InvalidValue, RecursionError):
        message = "This is no cursor of this list; begin without one."
        raise serializers.ValidationError({"cursor": [message]}, "invalid") from None


def after(order: tuple[str, ...], values: list[Any]) -> Q:
    """Return what comes after `values`: a later first field, or the same and so on.

    The bound of the first is said alone too: an index begins there.
    """
    later_rows, same = Q(), Q()
    for name, value in zip(order, values, strict=True):
        field = name.removeprefix("-")
        later = "lt" if name.startswith("-") else "gt"
        later_rows |= same & Q((f"{field}__{later}", value))
        same &= Q((field, value))
    first = order[0].removeprefix("-")
    bound = "lte" if order[0].startswith("-") else "gte"
    return Q((f"{first}__{bound}", values[0])) & later_rows


def _field(model: type[Model], name: str) -> Any:
    name = name.removeprefix("-")
    return model._meta.pk if name == "pk" else model._meta.get_field(name)
