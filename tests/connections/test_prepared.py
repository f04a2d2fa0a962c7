"""RULE: a prepared statement gives what any other gives, and is planned once."""

from __future__ import annotations

import uuid

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from connections.prepared import fetch_prepared

pytestmark = pytest.mark.django_db
KNOWN = """
    SELECT generic_plans + custom_plans FROM pg_prepared_statements
     WHERE position(%s IN statement) > 0 AND statement NOT LIKE '%%pg_prepared%%'
"""


@pytest.fixture
def mark():
    return f"mark{uuid.uuid4().hex}"


def known(mark):
    with connection.cursor() as cursor:
        cursor.execute(KNOWN, [mark])
        return [row[0] for row in cursor.fetchall()]


def test_it_is_prepared_once_however_often_it_is_asked(mark):
    for number in range(4):
        rows = fetch_prepared(f"SELECT %s::int + 1 AS {mark}", [number])
        assert rows == [(number + 1,)]
    assert known(mark) == [4]


def test_values_by_name_and_by_place_are_values_whatever_they_hold(mark):
    hostile = "'; DROP TABLE graph_nodes; -- % %s \\"
    assert fetch_prepared("SELECT %s::text", [hostile]) == [(hostile,)]
    by_name = fetch_prepared("SELECT %(a)s::text, %(a)s::text", {"a": hostile})
    assert by_name == [(hostile, hostile)]
    assert fetch_prepared("SELECT %s::bigint[]", [[1, None]]) == [([1, None],)]


def test_behind_a_pooler_it_is_asked_without_being_prepared(mark, monkeypatch):
    connection.ensure_connection()
    monkeypatch.setattr(connection.connection, "prepare_threshold", None)
    for number in range(3):
        assert fetch_prepared(f"SELECT %s::int AS {mark}", [number]) == [(number,)]
    assert known(mark) == []


def test_it_is_counted_and_wrapped_as_every_statement_is(mark):
    seen = []

    def wrapper(execute, sql, params, many, context):
        seen.append(sql)
        return execute(sql, params, many, context)

    with (
        CaptureQueriesContext(connection) as asked,
        connection.execute_wrapper(wrapper),
    ):
        for _ in range(3):
            fetch_prepared(f"SELECT 1 AS {mark}", ())
    statement = f"SELECT 1 AS {mark}"
    assert [each["sql"] for each in asked] == seen == [statement] * 3


def test_a_fault_is_the_error_that_django_gives():
    with pytest.raises(DatabaseError, match="nothing_there"):
        fetch_prepared("SELECT nothing_there", ())
