from __future__ import annotations

import pytest

from connections.databases.base import DatabaseError
from connections.databases.connecting import open_connection
from connections.secrets import Secret
from tests.targets import make_database

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["postgres", "mariadb"])
def target(request):
    found = request.getfixturevalue(f"{request.param}_target")
    if request.param == "mariadb":
        found.run(
            "GRANT USAGE ON *.* TO reader@'127.0.0.1'",
            "GRANT SHOW VIEW ON shop.* TO reader@'127.0.0.1'",
        )
    return found


def test_a_database_is_reached_and_says_what_it_is(project, target):
    opened = open_connection(make_database(project, target))
    assert opened.read("SELECT 1 + 1") == [(2,)]
    assert opened.flavour in ("postgres", "mariadb")
    assert opened.version[:1].isdigit()
    opened.close()


def test_a_wrong_password_is_a_clear_error_that_does_not_say_it(project, target):
    database = make_database(project, target, password=Secret("not this one"))
    with pytest.raises(DatabaseError) as refused:
        open_connection(database)
    assert "not this one" not in str(refused.value)
    assert target.host not in str(refused.value)
