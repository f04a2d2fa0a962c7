from __future__ import annotations

import pytest

from benchmarks.databases import ROWS, measure
from tests.factories import make_project
from tests.targets import make_database


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("engine", ["postgres", "mariadb"])
def test_fifty_thousand_rows_cost_under_100_megabytes(request, engine):
    target = request.getfixturevalue(f"{engine}_target")
    if engine == "mariadb":
        target.run("GRANT SELECT ON shop.* TO reader@'127.0.0.1'")
    database = make_database(make_project(), target, rows_most=100_000, seconds_most=60)
    cost = measure(database, "runner")
    assert cost.rows == ROWS == 50_000
    # What holds the rows is seen at all, and is not too much.
    assert 5 < cost.megabytes < 100
