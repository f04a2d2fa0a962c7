"""Snapshots: what differs is told, what staff chose stays, all or nothing is stored."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from connections.databases import snapshot
from connections.databases.base import ForeignKey
from connections.databases.exposure import (
    ExposureRefused,
    expose_columns,
    expose_tables,
)
from connections.databases.found import Found, FoundColumn, FoundTable
from connections.databases.sampling import ColumnSample
from connections.databases.snapshot import schema_of, store
from connections.models import (
    Audit,
    Database,
    DatabaseChange,
    DatabaseColumn,
    DatabaseKey,
    DatabaseTable,
)
from tests.targets import Target, make_database

pytestmark = pytest.mark.django_db

NOWHERE = Target("postgres", "127.0.0.1", 1, "shop", "reader", "none", {})
DAY = datetime(2026, 3, 2, tzinfo=UTC)


def column(name, kind="text", family="text", **more):
    fields = {"position": 1, "nullable": True, "comment": "", "is_key": False, **more}
    return FoundColumn(name=name, data_type=kind, family=family, **fields)


def table(name, *columns, schema="public", **more):
    fields = {"kind": "table", "comment": "", "rows": 3, **more}
    return FoundTable(schema=schema, name=name, columns=columns, **fields)


KEY = ForeignKey(
    name="fk", columns=("city",), target_schema="public", target_table="cities",
    target_columns=("id",),
)  # fmt: skip
CITIES = table("cities", column("id", "integer", "number", is_key=True))
STATE = column("state", "state", values=("open", "paid"))
PEOPLE = table("people", column("name"), column("city"), STATE, keys=(KEY,))


def keep(database, *tables, samples=None, day=1):
    found = Found(
        flavour="postgres", version="18.1", default_schema="public", tables=tables
    )
    return store(database, found, samples or {}, DAY + timedelta(days=day))


@pytest.fixture
def database(project) -> Database:
    made = make_database(project, NOWHERE)
    keep(made, CITIES, PEOPLE)
    return made


def told(database):
    return [
        (change.kind, change.what, change.before, change.after)
        for change in DatabaseChange.objects.filter(database=database).order_by("pk")
    ]


def one(database, name, of="people"):
    return DatabaseColumn.objects.get(
        table__database=database, table__name=of, name=name
    )


def test_the_first_snapshot_has_nothing_to_differ_from(project):
    database = make_database(project, NOWHERE)
    changes = keep(database, CITIES, PEOPLE)
    assert {change.kind for change in changes} == {"added"}
    assert told(database) == []


def test_the_same_again_tells_and_writes_nothing(
    database, django_assert_max_num_queries
):
    with django_assert_max_num_queries(10):
        assert keep(database, CITIES, PEOPLE, day=2) == []
    assert told(database) == []


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ((CITIES, PEOPLE, table("new", column("a"))),
         [("added", "table public.new", "", "")]),
        ((CITIES, replace(PEOPLE, columns=PEOPLE.columns[1:])),
         [("removed", "column public.people.name", "", "")]),
        ((CITIES, replace(PEOPLE, columns=(*PEOPLE.columns, column("b", "date")))),
         [("added", "column public.people.b", "", "date")]),
        ((CITIES, replace(PEOPLE, comment="All")),
         [("changed", "comment of table public.people", "", "All")]),
        ((CITIES, replace(PEOPLE, kind="view")),
         [("changed", "kind of table public.people", "table", "view")]),
        ((CITIES, replace(PEOPLE, keys=())),
         [("removed", "key public.people fk", "(city) -> public.cities (id)", "")]),
        ((CITIES, replace(PEOPLE, keys=(replace(KEY, columns=("name",)),))),
         [("changed", "key public.people fk", "(city) -> public.cities (id)",
           "(name) -> public.cities (id)")]),
        ((CITIES, replace(PEOPLE, columns=(column("name", "varchar(9)", comment="Who"),
                                           *PEOPLE.columns[1:]))),
         [("changed", "type of column public.people.name", "text", "varchar(9)"),
          ("changed", "comment of column public.people.name", "", "Who")]),
        ((CITIES, replace(PEOPLE, columns=(
            *PEOPLE.columns[:2], replace(STATE, values=("open", "paid", "sent"))))),
         [("changed", "values of column public.people.state", "open, paid",
           "open, paid, sent")]),
        ((CITIES, replace(PEOPLE, columns=(
            column("name", nullable=False, is_key=True), *PEOPLE.columns[1:]))),
         [("changed", "nullability of column public.people.name", "may be null",
           "never null"),
          ("changed", "primary key of column public.people.name", "no part of it",
           "part of it")]),
        ((replace(PEOPLE, keys=()),),
         [("removed", "table public.cities", "", ""),
          ("removed", "key public.people fk", "(city) -> public.cities (id)", "")]),
    ],
)  # fmt: skip
def test_what_differs_is_told(database, tables, expected):
    keep(database, *tables, day=2)
    assert told(database) == expected
    before = len(expected)
    keep(database, *tables, day=3)
    assert len(told(database)) == before, "once"


def test_what_vanished_is_gone_and_comes_back_as_it_was_exposed(database):
    cities = DatabaseTable.objects.get(database=database, name="cities")
    expose_tables(database, "hidden", tables=[cities.pk])
    name = one(database, "name")
    expose_columns(database, "aggregate", columns=[name.pk])
    keep(database, day=2)
    assert schema_of(database).tables == ()
    assert DatabaseTable.objects.filter(database=database, gone_at=None).count() == 0
    keep(database, CITIES, PEOPLE, day=3)
    cities.refresh_from_db()
    assert (cities.exposure, cities.gone_at) == ("hidden", None)
    assert one(database, "name").exposure == "aggregate"


def test_a_vanished_column_comes_back_as_it_was_exposed(database):
    expose_columns(database, "masked", columns=[one(database, "name").pk])
    keep(database, CITIES, replace(PEOPLE, columns=PEOPLE.columns[1:]), day=2)
    assert one(database, "name").gone_at is not None
    assert "name" not in schema_of(database).by_path["public", "people"].by_name
    keep(database, CITIES, PEOPLE, day=3)
    back = one(database, "name")
    assert (back.exposure, back.gone_at) == ("masked", None)


def test_what_staff_opened_stays_open_but_has_no_values(project):
    database = make_database(project, NOWHERE)
    people = table("people", column("email"), column("c1"))
    keep(database, people, samples={people.path: {"c1": ColumnSample(looks="secret")}})
    assert one(database, "email").exposure == "masked"
    assert one(database, "c1").exposure == "hidden"
    ids = [one(database, "email").pk, one(database, "c1").pk]
    expose_columns(database, "visible", columns=ids)
    sampled = {"email": ColumnSample(("x",)), "c1": ColumnSample(looks="secret")}
    keep(database, people, samples={people.path: sampled}, day=2)
    for name in ("email", "c1"):
        assert (one(database, name).exposure, one(database, name).values) == (
            "visible",
            [],
        )


def test_a_column_that_turns_personal_is_closed(database):
    sampled = {"name": ColumnSample(("Ann",), complete=True)}
    keep(database, CITIES, PEOPLE, samples={PEOPLE.path: sampled}, day=2)
    assert one(database, "name").values == ["Ann"]
    sampled = {"name": ColumnSample(looks="personal")}
    keep(database, CITIES, PEOPLE, samples={PEOPLE.path: sampled}, day=3)
    assert (one(database, "name").exposure, one(database, "name").values) == (
        "masked",
        [],
    )


def test_values_stay_where_nothing_was_sampled(database):
    sampled = {"name": ColumnSample(("Ann",), complete=True)}
    keep(database, CITIES, PEOPLE, samples={PEOPLE.path: sampled}, day=2)
    keep(database, CITIES, PEOPLE, day=3)
    assert one(database, "name").values == ["Ann"]
    keep(database, CITIES, PEOPLE, samples={PEOPLE.path: {}}, day=4)
    assert one(database, "name").values == ["Ann"], "also where it took too long"


def test_closing_a_column_takes_its_values_at_once(database):
    assert one(database, "state").values == ["open", "paid"]
    for exposure in ("masked", "aggregate", "hidden"):
        DatabaseColumn.objects.filter(name="state").update(
            exposure="visible", values=["open"]
        )
        expose_columns(database, exposure, columns=[one(database, "state").pk])
        assert one(database, "state").values == []
        keep(database, CITIES, PEOPLE, day=5)
        assert one(database, "state").values == []


def test_the_database_refuses_values_of_a_masked_column(database):
    with pytest.raises(IntegrityError), transaction.atomic():
        DatabaseColumn.objects.filter(name="state").update(exposure="masked")


def test_hiding_a_schema_hides_its_tables_and_keeps_no_value(database):
    chosen = expose_tables(database, "hidden", schema="public")
    assert chosen.tables == 2
    assert schema_of(database).tables == ()
    assert one(database, "state").values == []
    keep(database, CITIES, PEOPLE, day=2)
    assert one(database, "state").values == []
    assert Audit.objects.filter(verb="database.exposure").count() == 1


def test_an_unknown_exposure_is_refused_with_those_there_are(database):
    with pytest.raises(ExposureRefused, match="visible, masked, aggregate, hidden"):
        expose_columns(database, "open", columns=[])
    with pytest.raises(ExposureRefused, match="visible, hidden"):
        expose_tables(database, "masked", tables=[])


def test_no_choice_reaches_another_database(database, other_project):
    theirs = make_database(other_project, NOWHERE)
    keep(theirs, CITIES, PEOPLE)
    ids = DatabaseColumn.objects.filter(table__database=theirs).values_list("pk")
    tables = DatabaseTable.objects.filter(database=theirs).values_list("pk")
    assert (
        expose_columns(database, "hidden", columns=[pk for (pk,) in ids]).columns == 0
    )
    assert (
        expose_tables(database, "hidden", tables=[pk for (pk,) in tables]).tables == 0
    )
    expose_tables(database, "hidden", schema="public")
    assert len(schema_of(theirs).tables) == 2


def test_hidden_columns_take_the_keys_that_need_them(database):
    expose_columns(database, "hidden", columns=[one(database, "id", "cities").pk])
    schema = schema_of(database)
    assert [found.name for found in schema.tables] == ["people"]
    assert schema.by_path["public", "people"].foreign_keys == ()


@pytest.mark.parametrize("step", ["_write_columns", "_write_keys"])
def test_a_process_that_dies_on_the_way_leaves_the_snapshot_before(
    database, step, monkeypatch
):
    before = schema_of(database), told(database), database.discovered_at

    def dies(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(snapshot, step, dies)
        with pytest.raises(KeyboardInterrupt):
            keep(database, table("new", column("a")), day=2)
    database.refresh_from_db()
    assert (schema_of(database), told(database), database.discovered_at) == before
    keep(database, table("new", column("a")), day=2)
    assert [found.name for found in schema_of(database).tables] == ["new"]


def test_a_thousand_tables_are_stored_and_read_in_few_statements(
    project, django_assert_max_num_queries
):
    database = make_database(project, NOWHERE)
    columns = [column(f"c{n}", values=("a", "b")) for n in range(12)]
    tables = [table(f"t{n}", *columns) for n in range(1000)]
    with django_assert_max_num_queries(40):
        keep(database, *tables)
    assert DatabaseKey.objects.count() == 0
    started = time.monotonic()
    with django_assert_max_num_queries(3):
        schema = schema_of(database)
    assert sum(len(found.columns) for found in schema.tables) == 12_000
    assert time.monotonic() - started < 5, "with others at work; alone a tenth"
    with django_assert_max_num_queries(12):
        assert keep(database, *tables, day=2) == []


def test_an_empty_snapshot_is_an_empty_schema(project):
    schema = schema_of(make_database(project, NOWHERE))
    assert (schema.tables, schema.flavour) == ((), "postgres")
