from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.databases.masking import DOT, mask
from connections.databases.runner import RunFailed
from tests.connections.databases.running import ask
from tests.targets import make_database


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ("Sophie", "S•••"),
        ("Sophie Laurent", "S••••••"),
        ("sophie.laurent@a-long-name.example", "s•••••••••"),
        ("Al", "•••"),
        ("", "•••"),
        ("4111 1111 1111 1111", "••••••"),
        ("Ärzte", "Ä•••"),
        (None, None),
        (4711, "•••"),
        (Decimal("9.99"), "•••"),
        (True, "•••"),
        (date(1980, 1, 1), "•••"),
        (datetime(1980, 1, 1), "•••"),
        (time(1), "•••"),
        (timedelta(1), "•••"),
        (uuid4(), "•••"),
        (b"bytes", "•••"),
    ],
)
def test_a_mask_tells_no_more_than_a_first_letter_and_a_class_of_length(value, masked):
    assert mask(value) == masked


@given(st.text(max_size=300))
def test_whatever_follows_the_first_letter_leaves_no_trace(text):
    masked = mask(text)
    assert masked is not None
    assert masked.strip(DOT) in ("", text[:1])
    assert len(masked) <= 10
    # One of the same class and first letter has the same mask.
    assert mask(text[:1] + "x" * (len(text) - 1)) == masked or len(text) < 1


@pytest.mark.django_db
@pytest.mark.parametrize("engine", ["postgres", "mariadb"])
def test_masked_places_of_a_result_are_masked(request, project, engine):
    target = request.getfixturevalue(f"{engine}_target")
    if engine == "mariadb":
        target.run("GRANT SELECT ON shop.* TO reader@'127.0.0.1'")
    database = make_database(project, target)
    sql = "SELECT 1 AS id, 'Sophie Laurent' AS name, 1980 AS born, 'open' AS s"
    found = ask(database, sql, masked=frozenset({1, 2}))
    assert found.rows == [(1, "S••••••", "•••", "open")]
    assert [c.family for c in found.columns] == ["number", "text", "text", "text"]
    assert "Sophie" not in repr(found.rows)
    # A result that is not the one the guard has seen is not shown at all.
    with pytest.raises(RunFailed, match="masked"):
        ask(database, sql, masked=frozenset({4}))
