"""Requests to the pages of databases, and a turn that asked one."""

from __future__ import annotations

import csv
import io

from django.test import Client
from django.urls import reverse

from connections.models import Database, Project, User
from memory.models import Turn, TurnTable
from tests.memory.memories import make_conversation

BY_COUNTRY = "SELECT country, count(*) AS people FROM customers GROUP BY country"

HTMX = {"HX-Request": "true"}


def url(name: str, shop: Database, *more: object) -> str:
    return reverse(name, args=[shop.pk, *more])


def run(page: Client, shop: Database, sql: str, **sent: str):
    return page.post(url("database_run", shop), {"sql": sql, **sent}, headers=HTMX)


def lines(response) -> list[list[str]]:
    text = response.content.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def a_turn(project: Project, user: User, shop: Database, **fields: object) -> TurnTable:
    conversation = make_conversation(project, user)
    turn = Turn.objects.create(
        conversation=conversation, question="How many?", answer="There are 3.",
        grounded=True, model="a-model",
    )  # fmt: skip
    values = {
        "place": 0,
        "database": shop,
        "database_name": shop.name,
        "question": "How many customers are there?",
        "assumptions": ["customers = rows of customers"],
        "sql": "SELECT count(*) AS people FROM customers",
        "tables": ["public.customers"],
        "columns": [{"name": "people", "family": "number"}],
        "rows": [[1234]],
        "row_count": 1,
        "took_ms": 3.2,
        "chart": {"kind": "number", "x": None, "y": [0]},
        **fields,
    }
    return TurnTable.objects.create(turn=turn, **values)
