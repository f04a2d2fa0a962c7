from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from connections.databases.base import DatabaseError, GuardRefused
from connections.databases.runner import (
    Plan,
    RunFailed,
    explain,
    refused,
    run,
)
from connections.databases.runs import end_lost
from connections.models import Audit, DatabaseQuery
from tests.connections.databases.running import (
    ask,
    await_no_sessions,
    guarded,
    sessions,
)
from tests.factories import make_audience
from tests.targets import make_database

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["postgres", "mariadb"])
def target(request):
    return request.getfixturevalue(f"{request.param}_target")


@pytest.fixture
def goods(target):
    reader = target.user if target.engine == "postgres" else "reader@'127.0.0.1'"
    target.run(
        "DROP TABLE IF EXISTS goods",
        "CREATE TABLE goods (id int PRIMARY KEY, name varchar(50))",
        "INSERT INTO goods VALUES (1, 'Anna'), (2, 'Bertram'), (3, 'Ünal')",
        f"GRANT SELECT ON goods TO {reader}",
    )
    yield target
    target.run("DROP TABLE goods")


@pytest.fixture
def database(project, goods):
    return make_database(project, goods, seconds_most=5)


def test_rows_come_with_their_columns_and_no_session_stays(database, goods):
    found = ask(database, "SELECT id, name FROM goods ORDER BY id")
    assert found.rows == [(1, "Anna"), (2, "Bertram"), (3, "Ünal")]
    assert [(c.name, c.family) for c in found.columns] == [
        ("id", "number"),
        ("name", "text"),
    ]
    assert not found.truncated
    assert found.took_ms > 0
    await_no_sessions(goods, goods.user)


def test_no_rows_have_columns_all_the_same(database):
    found = ask(database, "SELECT id FROM goods WHERE id > 99")
    assert (found.rows, [c.name for c in found.columns]) == ([], ["id"])


def test_a_run_is_a_row_that_says_who_asked_what_and_what_became_of_it(
    database, member
):
    found = run(
        database,
        guarded("SELECT id FROM goods"),
        user=member,
        question="Which goods?",
        shown_in="turn:12",
    )
    query = DatabaseQuery.objects.get(pk=found.run)
    assert query.verdict == DatabaseQuery.Verdict.DONE
    assert (query.user, query.question) == (member, "Which goods?")
    assert (query.sent_sql, query.shown_in) == ("SELECT id FROM goods", "turn:12")
    assert (query.rows, query.truncated) == (3, False)
    assert query.finished_at is not None
    audit = Audit.objects.get(verb="database.asked")
    assert (audit.actor, audit.target) == (member, "database:shop")


def test_what_the_server_says_of_a_wrong_name_is_told_and_kept(database):
    with pytest.raises(RunFailed, match=r"(?i)nonsense"):
        ask(database, "SELECT nonsense FROM goods")
    query = DatabaseQuery.objects.get()
    assert query.verdict == DatabaseQuery.Verdict.FAILED
    assert "nonsense" in query.error


def test_one_who_may_not_see_a_database_may_not_ask_it(
    project, goods, member, outsider, stranger
):
    few = make_audience(project, "few", [member])
    database = make_database(project, goods, audience=few)
    assert run(database, guarded("SELECT id FROM goods"), user=member).rows
    for other in (outsider, stranger):
        with pytest.raises(DatabaseError, match="no such database"):
            run(database, guarded("SELECT id FROM goods"), user=other)
    assert DatabaseQuery.objects.count() == 1


def test_a_database_switched_off_is_not_asked(database):
    database.enabled = False
    database.save()
    with pytest.raises(DatabaseError, match="switched off"):
        ask(database, "SELECT 1")


def test_values_are_bound_never_pasted(database, goods):
    wanted = "Anna' OR '1'='1"
    place = "$1" if goods.engine == "postgres" else "?"
    sql = f"SELECT id FROM goods WHERE name = {place} AND name NOT LIKE '%?%'"  # noqa: S608 # our own
    assert ask(database, sql, values=[wanted]).rows == []
    assert ask(database, sql, values=["Anna"]).rows == [(1,)]


def test_percent_signs_are_percent_signs(database):
    found = ask(database, "SELECT id FROM goods WHERE name LIKE 'A%' OR name = '%s'")
    assert found.rows == [(1,)]


def test_too_few_values_are_an_error_of_the_statement(database, goods):
    places = "$1, $2" if goods.engine == "postgres" else "?, ?"
    with pytest.raises(RunFailed):
        ask(database, f"SELECT id FROM goods WHERE id IN ({places})", values=[1])  # noqa: S608 # our own


def test_a_superuser_is_refused_unless_row_and_operator_allow_it(
    project, goods, monkeypatch
):
    login = {"user": goods.owner["user"], "password": _secret(goods)}
    database = make_database(project, goods, **login)
    for allowed in (False, True):
        database.superuser_allowed = allowed
        database.save()
        with pytest.raises(DatabaseError, match="may do everything"):
            ask(database, "SELECT 1")
    monkeypatch.setitem(settings.FABRIC, "DATABASE_SUPERUSERS", True)
    assert ask(database, "SELECT 1").rows == [(1,)]


def test_explaining_tells_what_the_server_expects_and_runs_nothing(database, goods):
    plan = explain(database, guarded("SELECT id FROM goods"))
    assert isinstance(plan, Plan)
    assert plan.rows >= 1
    sleep = "pg_sleep(3)" if goods.engine == "postgres" else "SLEEP(3)"
    assert explain(database, guarded(f"SELECT {sleep} FROM goods")).rows >= 1  # noqa: S608 # our own
    with pytest.raises(RunFailed, match=r"(?i)nonsense"):
        explain(database, guarded("SELECT id FROM nonsense"))
    for hostile in (
        "ANALYZE SELECT 1",
        "SELECT 1; SELECT 2",
        "UPDATE goods SET id = 9",
    ):
        if hostile.startswith("UPDATE") and goods.engine == "postgres":
            continue
        with pytest.raises(RunFailed):
            explain(database, guarded(hostile))
    await_no_sessions(goods, goods.user)
    assert sessions(goods, goods.user) == 0


def test_a_refusal_of_the_guard_is_a_row_with_its_rule(database, member):
    error = GuardRefused("one_statement", "Only one statement can be run.")
    query = refused(
        database, "SELECT 1; DROP\0 x", error, user=member, question="Drop it"
    )
    query.refresh_from_db()
    assert query.verdict == DatabaseQuery.Verdict.REFUSED
    assert (query.rule, query.sent_sql) == ("one_statement", "")
    assert query.asked_sql == "SELECT 1; DROP\N{REPLACEMENT CHARACTER} x"


def test_runs_whose_process_died_are_ended_others_not(database):
    long_ago = timezone.now() - timedelta(minutes=5)
    rows = [
        DatabaseQuery.objects.create(
            tenant=database.tenant,
            project=database.project,
            database=database,
            database_name="shop",
            asked_sql="SELECT 1",
            alive_at=alive_at,
        )
        for alive_at in (long_ago, None, timezone.now())
    ]
    assert end_lost() == 2
    verdicts = [DatabaseQuery.objects.get(pk=row.pk).verdict for row in rows]
    assert verdicts == ["failed", "failed", "running"]
    assert end_lost() == 0


def test_the_schedule_ends_lost_runs():
    from fabric_site.schedule import JOBS

    assert "connections.tasks.end_lost_runs" in {job["task"] for job in JOBS.values()}


def _secret(target):
    from connections.secrets import Secret

    return Secret(target.owner["password"])
