"""The demo company, end to end and without a key: its database and its chat in one."""

from __future__ import annotations

import pytest
from django.utils import timezone

from connections.databases.discovery import refresh
from connections.demo.generate import SCRIPT
from graph.models import Node
from memory.ask import ask
from tests.factories import make_user
from tests.site.browsing import load_demo
from tests.targets import make_database

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
QUESTION = (
    "top 10 customers by revenue who opened a support ticket in the last 7 days, "
    "and the Slack #support threads that mention them"
)
EXPECTED = (
    "SELECT c.name FROM customers c WHERE EXISTS (SELECT 1 FROM support_tickets t"
    " WHERE t.customer_id = c.id AND t.created_at > now() - interval '7 days')"
    " ORDER BY c.revenue DESC LIMIT 10"
)


@pytest.fixture
def demo(db, tmp_path, postgres_target):
    user = make_user("asker@acme.test")
    project = load_demo(user, tmp_path / "demo")
    script = (tmp_path / "demo" / SCRIPT).read_text(encoding="utf-8")
    grant = f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {postgres_target.user}"
    with postgres_target.admin() as owner:
        owner.execute(script)
        owner.execute(grant)
    database = make_database(project, postgres_target, name="operations")
    refresh(database)
    database.refresh_from_db()
    yield project, user
    postgres_target.run(
        "DROP TABLE support_tickets, orders, products, customers",
        "DROP TYPE ticket_status, ticket_priority, order_status",
    )


def said_in_support(project, name):
    """Return the messages of #support that hold the name, found by reading them all."""
    channel = Node.objects.get(project=project, node_type="channel", title="#support")
    inside = Node.objects.filter(
        project=project,
        node_type="message",
        outgoing__relation="posted_in",
        outgoing__target=channel,
    )
    return set(inside.filter(content__icontains=name).values_list("key", flat=True))


def test_customers_come_with_their_rows_and_the_threads_that_mention_them(
    demo, postgres_target
):
    project, user = demo
    with postgres_target.admin() as owner:
        expected = [row[0] for row in owner.execute(EXPECTED).fetchall()]
    assert len(expected) == 10
    began = timezone.now()
    answer = ask(project, QUESTION, user=user)
    assert (timezone.now() - began).total_seconds() < 30
    (table,) = answer.tables
    found = [next(c for c in row if c in expected) for row in table.rows]
    assert found == expected
    rows = [c for c in answer.citations if c.key.startswith("db_table:operations:")]
    assert len(rows) == 10
    cited = {c.key for c in answer.citations} - {c.key for c in rows}
    told = 0
    for name in expected:
        assert name in answer.answer
        said = said_in_support(project, name)
        told += bool(said)
        assert not said or said & cited, f"no thread about {name} is cited"
    assert told >= 3, "the demo's #support speaks of some of these customers"
    assert answer.grounded
