from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError

from connections.api.pagination import _values
from graph.models import Node
from memory.models import Conversation
from tests.connections.api.callers import session_client

URL = "/api/v1/projects/"


def packed(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "%%%",
        "é",
        packed([]),
        packed(["1", "2"]),
        packed([1]),
        packed(["a"]),
        packed({"a": 1}),
        packed([None]),
        "A" * 400,
        "A" * 401,
        "\x00",
    ],
)
def test_a_cursor_of_no_list_is_a_400(cursor, project, member):
    answer = session_client(member).get(URL, {"cursor": cursor})
    assert answer.status_code == 400
    assert "cursor" in answer.json()["errors"]


def test_a_cursor_beyond_all_numbers_gives_an_empty_page(project, member):
    answer = session_client(member).get(URL, {"cursor": packed([str(10**30)])})
    assert answer.json() == {"results": [], "next_cursor": None}


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "1.5", "9" * 50, "\x00"])
def test_a_limit_out_of_range_is_a_400(limit, project, member):
    answer = session_client(member).get(URL, {"limit": limit})
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["limit"]


@given(st.text(max_size=60))
def test_any_text_is_a_cursor_or_a_validation_error(text):
    for model, order in ((Node, ("pk",)), (Conversation, ("-created_at", "-pk"))):
        try:
            assert len(_values(text, model, order)) == len(order)
        except ValidationError as error:
            assert "cursor" in error.detail  # noqa: PT017
