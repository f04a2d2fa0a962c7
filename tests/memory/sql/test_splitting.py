from __future__ import annotations

import pytest

from memory.sql.candidates import names_in
from memory.sql.splitting import split


@pytest.mark.parametrize(
    ("question", "database", "text", "channels", "types"),
    [
        (
            "top 10 customers by revenue who opened a support ticket in the last 7 "
            "days, and the Slack #support threads that mention them",
            "top 10 customers by revenue who opened a support ticket in the last 7 days",
            "the Slack #support threads that mention them",
            ("support",),
            ("message",),
        ),
        (
            "Show the customers with open tickets with the mails about them",
            "Show the customers with open tickets",
            "the mails about them",
            (),
            ("email",),
        ),
        (
            "Which #sales messages mention the top 3 customers by revenue?",
            "the top 3 customers by revenue",
            "Which #sales messages",
            ("sales",),
            ("message",),
        ),
        (
            "Die 5 größten Kunden nach Umsatz und die Nachrichten, die sie erwähnen",
            "Die 5 größten Kunden nach Umsatz",
            "die Nachrichten, die sie erwähnen",
            (),
            ("message",),
        ),
    ],
)
def test_rows_are_asked_for_first_and_texts_that_name_them(
    question, database, text, channels, types
):
    parts = split(question)
    assert (parts.database, parts.text) == (database, text)
    assert (parts.names_from, parts.channels, parts.types) == ("rows", channels, types)


@pytest.mark.parametrize(
    ("question", "database", "text"),
    [
        (
            "What is the revenue of the customers mentioned in #support last week?",
            "What is the revenue of the customers?",
            "#support last week",
        ),
        (
            "Umsatz der Kunden, die in #support erwähnt wurden?",
            "Umsatz der Kunden?",
            "#support",
        ),
        (
            "List the customers that are named in the meetings.",
            "List the customers.",
            "the meetings",
        ),
    ],
)
def test_names_are_taken_from_texts_where_these_name_what_is_asked_for(
    question, database, text
):
    parts = split(question)
    assert (parts.database, parts.text) == (database, text)
    assert parts.names_from == "texts"


@pytest.mark.parametrize(
    "question",
    [
        "How many orders were placed last week?",
        "List customers and products",
        "Why did the pump of line 4 fail?",
        "What did Ann say about orders and files?",
        "",
    ],
)
def test_a_question_of_one_part_stays_whole(question):
    assert split(question).database == question
    assert split(question).names_from == ""


def test_what_may_be_a_name_is_every_run_of_words_with_capitals():
    found = names_in(["Larkmoor Seafood's alarm rang.", "Again Larkmoor Seafood, ok?"])
    assert {"Larkmoor Seafood", "Larkmoor"} <= set(found)
    assert "alarm" not in found
    assert names_in([]) == names_in(["no capital here"]) == []
    assert len(names_in([f"Name{n} Other{n}" for n in range(900)])) == 300
