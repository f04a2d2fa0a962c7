from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.utils import timezone

from connections.models import DatabaseColumn, DatabaseKey, DatabaseTable, Role
from memory.sql import asking, choosing
from memory.sql import translator as real
from tests.factories import make_audience, make_edge, make_member, make_node
from tests.targets import make_database

TABLES = (
    "CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL,"
    " revenue numeric(12, 2) NOT NULL, plan text NOT NULL, email text NOT NULL)",
    "CREATE TABLE orders (id integer PRIMARY KEY,"
    " customer_id integer NOT NULL REFERENCES customers (id), status text NOT NULL)",
    "INSERT INTO customers VALUES"
    " (1, 'Larkmoor Seafood', 12400.00, 'large', 'a@larkmoor.test'),"
    " (2, 'Penhallow Dairies', 9300.50, 'small', 'b@penhallow.test'),"
    " (3, 'Northern Foods', 810.00, 'small', 'c@northern.test')",
    "INSERT INTO orders SELECT n, 1 + n % 3, CASE WHEN n % 4 = 0 THEN 'open'"
    " ELSE 'shipped' END FROM generate_series(1, 12) n",
)
TOP = "SELECT name, revenue FROM customers ORDER BY revenue DESC LIMIT 3"


def Translation(sql, **fields):  # as the real one is made
    """Return what the translator would, with some of it left out."""
    given = {
        "reading": "As it was asked",
        "assumptions": (),
        "tables": (),
        "confidence": 0.9,
        **fields,
    }
    return real.Translation(sql=sql, **given)


DECLINED = real.Declined(reason="Nothing of this schema is meant by that.")


@dataclass
class Translator:
    """Knows some questions by heart, and declines all others."""

    known: dict[str, real.Translation] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __call__(self, question, schema, *, today):
        self.asked.append(question)
        return self.known.get(
            question, real.Declined("Nothing of this schema is meant by that.")
        )


@pytest.fixture
def translator(monkeypatch):
    made = Translator()
    monkeypatch.setattr(asking, "translate", made)
    monkeypatch.setattr(choosing, "translate", made)
    return made


@pytest.fixture(scope="module")
def _tables(postgres_target):
    grant = f"GRANT SELECT ON customers, orders TO {postgres_target.user}"
    postgres_target.run(*TABLES, grant)
    yield
    postgres_target.run("DROP TABLE orders, customers")


def describe(database, name, columns, *, schema="public", comment="", **fields):
    """Note a table as a discovery would."""
    table = DatabaseTable.objects.create(
        database=database, schema=schema, name=name, comment=comment, **fields
    )
    for position, (column, given) in enumerate(columns.items(), start=1):
        values = {"data_type": "text", "family": "text", **given}
        DatabaseColumn.objects.create(
            table=table, name=column, position=position, **values
        )
    return table


NUMBER = {"data_type": "numeric", "family": "number"}


@pytest.fixture
def audience(project, member):
    """Those who may ask the database: the member and the reviewer."""
    return make_audience(project, "buyers", [member])


@pytest.fixture
def shop(project, postgres_target, _tables, audience):
    database = make_database(
        project, postgres_target, audience=audience, flavour="postgres",
        version="18.0", default_schema="public", discovered_at=timezone.now(),
    )  # fmt: skip
    customers = describe(
        database, "customers", comment="Companies that buy",
        columns={
            "id": {**NUMBER, "is_key": True}, "name": {},
            "revenue": {**NUMBER, "comment": "In euro, of twelve months"},
            "plan": {"values": ["large", "small"], "values_complete": True},
            "email": {"exposure": "hidden"},
        },
    )  # fmt: skip
    orders = describe(
        database, "orders",
        columns={
            "id": {**NUMBER, "is_key": True}, "customer_id": NUMBER,
            "status": {"values": ["open", "shipped"], "values_complete": True},
        },
    )  # fmt: skip
    DatabaseKey.objects.create(
        table=orders, name="orders_customer", columns=["customer_id"],
        target=customers, target_columns=["id"],
    )  # fmt: skip
    return database


@pytest.fixture
def reviewer(project, audience):
    user = make_member(project, "reviewer@acme.test", Role.REVIEWER)
    audience.members.create(user=user)
    return user


JOINED = "top 3 customers by revenue, and the Slack #support threads that mention them"
NOW = timezone.now()


def say(project, key, text, *, channel, thread="", hours=1, **fields):
    """Put a message into a channel, and into a thread where one is named."""
    node = make_node(
        project, key, text, context=f"Ann Lee · {channel.title}",
        occurred_at=NOW - timedelta(hours=hours), **fields,
    )  # fmt: skip
    make_edge(node, channel, "posted_in")
    if thread:
        make_edge(node, thread, "in_thread")
    return node


def place(project, key, title, node_type, **fields):
    return make_node(project, key, title=title, node_type=node_type, **fields)


@pytest.fixture
def talk(project, member, other_project):
    """A public #support and #lunch, a closed channel, another tenant's talk."""
    support = place(project, "slack:C1", "#support", "channel")
    lunch = place(project, "slack:C2", "#lunch", "channel")
    closed = make_audience(project, "slack:P1", [member])
    board = place(project, "slack:P1", "#support", "channel", audience=closed)
    first = place(project, "slack-thread:C1:1.0", "Alarm", "thread")
    theirs = place(other_project, "slack:C1", "#support", "channel")
    say(project, "m1", "The alarm of Larkmoor Seafood rang at four.",
        channel=support, thread=first, hours=5)  # fmt: skip
    say(project, "m2", "Larkmoor Seafood wrote again.",
        channel=support, thread=first, hours=4)  # fmt: skip
    say(project, "m3", "It is quiet today. Penhallow has wet probes.",
        channel=support, hours=9)  # fmt: skip
    say(project, "m4", "Northern Ireland is far.", channel=support)
    say(project, "m5", "Lunch with Larkmoor Seafood.", channel=lunch)
    say(project, "m6", "Penhallow Dairies will leave us.", channel=board,
        audience=closed)  # fmt: skip
    say(other_project, "m7", "Larkmoor Seafood is ours.", channel=theirs)
    return support
