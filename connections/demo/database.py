"""The company's operational database as one PostgreSQL script."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from connections.demo.company import TEXT, Company, Customer, read_mapping
from connections.demo.words import Words, at_noon

TICKETS = 400
ORDERS = 600
# No ticket lies between 7 and 9 days back, so that "the last 7 days" has one answer.
_OLDEST_RECENT_HOURS, _NEWEST_OLD_HOURS, _YEAR_HOURS = 150, 216, 8_700
_ROWS_A_STATEMENT = 200


def database_script(company: Company, rng: random.Random) -> str:
    """Return the schema and the rows, dates relative to the moment of loading."""
    facts = read_mapping("database.yaml")
    schema = (TEXT / "schema.sql").read_text(encoding="utf-8")
    products = [(n, *row) for n, row in enumerate(facts["products"], start=1)]
    tickets = [*_recent(company, facts["recent"]), *_older(company, rng)]
    numbered = [(str(n), *row) for n, row in enumerate(tickets, start=1)]
    parts = [
        schema,
        _insert("customers", map(_customer, company.customers.values())),
        _insert(
            "products",
            [(str(n), quote(c), quote(name), f"{p:.2f}") for n, c, name, p in products],
        ),
        _insert("orders", _orders(company, rng, products)),
        _insert("support_tickets", numbered),
        "COMMIT;\n",
    ]
    return "\n".join(parts)


def quote(text: str) -> str:
    """Return `text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def _insert(table: str, rows: Iterable[Sequence[str]]) -> str:
    lines = [f"    ({', '.join(row)})" for row in rows]
    return "\n".join(
        f"INSERT INTO public.{table} VALUES\n"
        + ",\n".join(lines[start : start + _ROWS_A_STATEMENT])
        + ";"
        for start in range(0, len(lines), _ROWS_A_STATEMENT)
    )


def _customer(customer: Customer) -> tuple[str, ...]:
    per_sensor = customer.name == "Copperhythe Bakeries"
    large, medium = customer.revenue > 600_000, customer.revenue > 150_000
    plan = "large" if large else "medium" if medium else "small"
    days = 420 + customer.id * 97 % 1_900
    return (
        str(customer.id),
        quote(customer.name),
        f"{customer.revenue}.00",
        quote(customer.segment),
        quote(customer.town),
        quote(customer.email),
        quote("per sensor" if per_sensor else plan),
        str(1 + customer.revenue // 70_000),
        f"current_date - {days}",
    )


def _ago(hours: float) -> str:
    return f"now() - interval '{hours:g} hours'"


def _ticket(
    customer: Customer, subject: str, priority: str, status: str, hours: int, wait: int
) -> tuple[str, ...]:
    answered = hours * 60 > wait and status != "open"
    closed = status == "closed"
    return (
        str(customer.id),
        quote(subject),
        quote(priority),
        quote(status),
        quote(f"{_ASSIGNEES[(customer.id + hours) % 3]}@tarnwick.example"),
        _ago(hours),
        f"now() - interval '{hours * 60 - wait} minutes'" if answered else "NULL",
        _ago(hours * 0.6) if closed else "NULL",
    )


_ASSIGNEES = ("anna.okonjolu", "eoin.mulgraine", "yusra.haddadin")


def _recent(company: Company, rows: Iterable[Sequence]) -> list[tuple[str, ...]]:
    found = []
    for name, hours, priority, status, subject in rows:
        if hours > _OLDEST_RECENT_HOURS or name not in company.recent:
            raise ValueError(f"database.yaml: the ticket of {name!r} is not recent.")
        customer = company.customers[name]
        found.append(_ticket(customer, subject, priority, status, hours, 38))
    return found


def _older(company: Company, rng: random.Random) -> list[tuple[str, ...]]:
    customers = list(company.customers.values())
    weights = [2 + customer.revenue // 90_000 for customer in customers]
    templates = [
        "{Symptom} at the {place}",
        "{Symptom}",
        "Wish: {wish}",
        "{code} at the {place}",
    ]
    found = []
    for _ in range(TICKETS - len(read_recent())):
        customer = rng.choices(customers, weights)[0]
        subject = Words(company, rng, at_noon()).say(rng.choice(templates))
        hours = rng.randint(_NEWEST_OLD_HOURS, _YEAR_HOURS)
        priority = rng.choices(["low", "normal", "high", "urgent"], [3, 6, 2, 1])[0]
        status = "closed" if hours > 900 or rng.random() < 0.6 else "pending"
        wait = rng.randint(6, 170)
        found.append(_ticket(customer, subject, priority, status, hours, wait))
    return found


def read_recent() -> list[Sequence]:
    """Return the tickets of the last seven days as `text/database.yaml` lists them."""
    facts = read_mapping("database.yaml")
    return list(facts["recent"])


def _orders(
    company: Company, rng: random.Random, products: Sequence[tuple]
) -> list[tuple[str, ...]]:
    customers = list(company.customers.values())
    weights = [1 + customer.revenue // 60_000 for customer in customers]
    rows: list[tuple[str, ...]] = []
    for number in range(1, ORDERS + 1):
        customer = rng.choices(customers, weights)[0]
        product, _, _, price = rng.choice(products)
        quantity = rng.randint(1, 60)
        total = quantity * price * (0.95 if quantity > 30 else 1)
        age = rng.randint(0, 720)
        status = _order_status(rng, age)
        shipped = (
            "NULL"
            if status in ("placed", "cancelled")
            else f"current_date - {max(0, age - 4)}"
        )
        rows.append(
            (str(number), str(customer.id), str(product), str(quantity), f"{total:.2f}",
             quote(status), f"current_date - {age}", shipped)
        )  # fmt: skip
    return rows


def _order_status(rng: random.Random, age: int) -> str:
    if rng.random() < 0.04:
        return "cancelled"
    return "placed" if age < 5 else "shipped" if age < 9 else "delivered"
