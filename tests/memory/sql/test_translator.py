"""What the translator makes of questions: each construct a sentence."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
import sqlglot
from sqlglot import exp

from memory.sql.translator import Declined, Translation, translate
from tests.memory.sql.schemas import LIBRARY, column, key, schema, table, to

TODAY = date(2026, 11, 21)


def sql_of(question: str) -> str:
    """Return the statement without its quotes, which names here do not need."""
    found = translate(question, LIBRARY, today=TODAY)
    assert isinstance(found, Translation), found
    return found.sql.replace('"', "")


ASKED = {
    "How many members are there?": "SELECT COUNT(*) AS count_members FROM members",
    "List the names of all members": "SELECT members.full_name FROM members",
    "What are the titles and prices of books?": (
        "SELECT books.title, books.price FROM books"
    ),
    "Show the different towns of members": "SELECT DISTINCT members.town FROM members",
    "How many different genres are there?": (
        "SELECT COUNT(DISTINCT books.genre) AS count_genre FROM books"
    ),
    "What is the average price of books?": (
        "SELECT AVG(books.price) AS avg_price FROM books"
    ),
    "What is the minimum and maximum age of members?": (
        "SELECT MIN(members.age) AS min_age, MAX(members.age) AS max_age FROM members"
    ),
    "the 3 cheapest books": (
        "SELECT books.title FROM books ORDER BY books.price ASC, books.id LIMIT 3"
    ),
    "top 10 members by fee": (
        "SELECT members.full_name, members.fee FROM members"
        " ORDER BY members.fee DESC NULLS LAST, members.id LIMIT 10"
    ),
    "Who is the oldest member?": (
        "SELECT members.full_name FROM members"
        " ORDER BY members.age DESC NULLS LAST, members.id LIMIT 1"
    ),
    "What is the name of the branch with the largest capacity?": (
        "SELECT branches.name FROM branches"
        " ORDER BY branches.capacity DESC NULLS LAST, branches.id LIMIT 1"
    ),
    "average price per genre": (
        "SELECT books.genre, AVG(books.price) AS avg_price FROM books"
        " GROUP BY books.genre"
    ),
    "number of members by town": (
        "SELECT members.town, COUNT(*) AS count_members FROM members"
        " GROUP BY members.town"
    ),
    "books with a price of more than 5": (
        "SELECT books.title FROM books WHERE books.price > 5"
    ),
    "titles of books with price between 5 and 10": (
        "SELECT books.title FROM books WHERE books.price >= 5 AND books.price <= 10"
    ),
    "books published before 2012": (
        "SELECT books.title FROM books WHERE books.publicationYear < 2012"
    ),
    "members from Hull": (
        "SELECT members.full_name FROM members WHERE members.town = 'Hull'"
    ),
    "How many members live in Hull or York?": (
        "SELECT COUNT(*) AS count_members FROM members"
        " WHERE members.town IN ('Hull', 'York')"
    ),
    "names of members whose town is not York": (
        "SELECT members.full_name FROM members WHERE members.town <> 'York'"
    ),
    "titles of books whose title contains 'sea'": (
        "SELECT books.title FROM books WHERE LOWER(books.title) LIKE '%sea%'"
    ),
    "members older than the average": (
        "SELECT members.full_name FROM members WHERE members.age >"
        " (SELECT AVG(members.age) FROM members)"
    ),
    "names of members in descending order of age": (
        "SELECT members.full_name FROM members"
        " ORDER BY members.age DESC NULLS LAST, members.id"
    ),
    "titles of books in alphabetical order": (
        "SELECT books.title FROM books ORDER BY books.title ASC, books.id"
    ),
    "how many loans does each member have?": (
        "SELECT members.full_name, COUNT(*) AS count_loans FROM members"
        " INNER JOIN loans ON loans.member_id = members.id"
        " GROUP BY members.id, members.full_name"
    ),
    "which member has the most loans?": (
        "SELECT members.full_name FROM members"
        " INNER JOIN loans ON loans.member_id = members.id"
        " GROUP BY members.id, members.full_name"
        " ORDER BY COUNT(*) DESC NULLS LAST, members.id, members.full_name LIMIT 1"
    ),
    "members with at least 3 loans": (
        "SELECT members.full_name FROM members"
        " INNER JOIN loans ON loans.member_id = members.id"
        " GROUP BY members.id, members.full_name HAVING COUNT(*) >= 3"
    ),
    "how many members have more than 2 loans?": (
        "SELECT COUNT(*) AS count_members FROM members WHERE"
        " (SELECT COUNT(*) FROM loans WHERE loans.member_id = members.id) > 2"
    ),
    "members without any loans": (
        "SELECT members.full_name FROM members WHERE NOT EXISTS(SELECT 1 FROM loans"
        " WHERE loans.member_id = members.id)"
    ),
    "the most common genre of books": (
        "SELECT books.genre FROM books GROUP BY books.genre"
        " ORDER BY COUNT(*) DESC NULLS LAST, books.genre LIMIT 1"
    ),
    "total fine per member": (
        "SELECT members.full_name, SUM(loans.fine) AS sum_fine FROM members"
        " INNER JOIN loans ON loans.member_id = members.id"
        " GROUP BY members.id, members.full_name"
    ),
}


@pytest.mark.parametrize("question", ASKED)
def test_a_question_becomes_the_statement_that_answers_it(question: str) -> None:
    assert sql_of(question) == ASKED[question]


GERMAN = {
    "Wie viele Mitglieder gibt es?": "SELECT COUNT(*) AS count_members FROM members",
    "Was ist der durchschnittliche Preis der Bücher?": (
        "SELECT AVG(books.price) AS avg_price FROM books"
    ),
    "Mitglieder aus Hull": (
        "SELECT members.full_name FROM members WHERE members.town = 'Hull'"
    ),
    "die 3 billigsten Bücher": (
        "SELECT books.title FROM books ORDER BY books.price ASC, books.id LIMIT 3"
    ),
    "Anzahl der Mitglieder pro Stadt": (
        "SELECT members.town, COUNT(*) AS count_members FROM members"
        " GROUP BY members.town"
    ),
}


@pytest.mark.parametrize("question", GERMAN)
def test_german_is_read_as_english_is(question: str) -> None:
    assert sql_of(question) == GERMAN[question]


def test_a_bridge_is_crossed_to_what_lies_behind_it() -> None:
    assert sql_of("members who borrowed books of the genre poetry") == (
        "SELECT members.full_name FROM members WHERE EXISTS(SELECT 1 FROM loans"
        " INNER JOIN books ON loans.book_id = books.id"
        " WHERE loans.member_id = members.id AND books.genre = 'poetry')"
    )


def test_a_member_found_by_two_loans_is_listed_once() -> None:
    sql = sql_of("members who borrowed a crime book in the last 7 days")
    assert sql.count("EXISTS") == 1
    assert "JOIN loans" not in sql
    assert "books.genre = 'crime'" in sql
    assert "loans.borrowed_at >= CAST('2026-11-14' AS DATE)" in sql
    assert "loans.borrowed_at < CAST('2026-11-22' AS DATE)" in sql


@pytest.mark.parametrize(
    ("said", "first", "end"),
    [
        ("in March 2024", "2024-03-01", "2024-04-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("yesterday", "2026-11-20", "2026-11-21"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("in the last 2 weeks", "2026-11-07", "2026-11-22"),
        ("on 2024-02-29", "2024-02-29", "2024-03-01"),
    ],
)
def test_days_are_counted_from_the_day_given(said: str, first: str, end: str) -> None:
    sql = sql_of(f"How many members joined {said}?")
    assert sql.endswith(
        f"members.joined_on >= CAST('{first}' AS DATE)"
        f" AND members.joined_on < CAST('{end}' AS DATE)"
    )


def test_another_day_gives_another_period() -> None:
    question = "How many members joined in the last 7 days?"
    first, later = (
        translate(question, LIBRARY, today=day) for day in (TODAY, date(2027, 1, 1))
    )
    assert isinstance(first, Translation)
    assert isinstance(later, Translation)
    assert "2026-11-14" in first.sql
    assert "2026-12-25" in later.sql


@pytest.mark.parametrize(
    "question",
    [
        "What is the meaning of life?",
        "",
        "???",
        "How many?",
        "the best",
        "Which members are happy with the weather?",
        "How many members have a passport?",
        "Where do members live?",
        "books in stock at the harbour",
        "sum of the titles of books",
        "average id of members",
        "x " * 400,
    ],
)
def test_what_is_not_understood_is_declined_with_a_reason(question: str) -> None:
    found = translate(question, LIBRARY, today=TODAY)
    assert isinstance(found, Declined), found
    assert len(found.reason) > 20


def test_a_table_joined_in_two_ways_is_declined() -> None:
    teams = table("teams", key(), column("name"))
    games = table(
        "games",
        key(),
        column("home_id", "number"),
        column("guest_id", "number"),
        keys=(to("teams", "home_id"), to("teams", "guest_id")),
    )
    found = translate(
        "how many games does each team have?", schema(teams, games), today=TODAY
    )
    assert isinstance(found, Declined)
    assert "several ways" in found.reason


def test_a_name_that_two_columns_share_is_declined() -> None:
    found = translate("List all names", LIBRARY, today=TODAY)
    assert isinstance(found, Declined)


def test_the_reading_and_what_it_took_for_granted_are_said() -> None:
    found = translate("top 10 members by fine", LIBRARY, today=TODAY)
    assert isinstance(found, Translation)
    assert found.reading == (
        "Members.full_name and sum of loans.fine, the 10 with the highest sum of"
        " loans.fine, highest first."
    )
    assert found.assumptions == ("“fine” read as sum(loans.fine)",)
    assert found.tables == ("public.loans", "public.members")
    assert 0.5 <= found.confidence < 1


def test_a_guess_is_less_sure_than_what_is_said_plainly() -> None:
    plain = translate("How many members are there?", LIBRARY, today=TODAY)
    guessed = translate("Wie viele Mitglieder gibt es?", LIBRARY, today=TODAY)
    assert isinstance(plain, Translation)
    assert isinstance(guessed, Translation)
    assert guessed.confidence < plain.confidence == 1


def test_the_statement_is_written_in_the_dialect_of_the_schema() -> None:
    mysql = replace(LIBRARY, flavour="mariadb")
    found = translate("the oldest member", mysql, today=TODAY)
    assert isinstance(found, Translation)
    assert "`members`.`full_name`" in found.sql
    assert "NULLS" not in found.sql


def test_names_that_need_quotes_get_them() -> None:
    odd = schema(
        table("Straßen Liste", key(), column("Name"), column("order", "number"))
    )
    found = translate("Wie viele Straßen gibt es?", odd, today=TODAY)
    assert isinstance(found, Translation)
    assert '"Straßen Liste"' in found.sql


def test_text_that_is_quoted_stays_a_literal() -> None:
    found = translate(
        'titles of books whose title contains "x\' OR 1=1 --"', LIBRARY, today=TODAY
    )
    assert isinstance(found, Translation)
    tree = sqlglot.parse_one(found.sql, dialect="postgres")
    literals = [node.this for node in tree.find_all(exp.Literal) if node.is_string]
    assert literals == ["%x' or 1=1 --%"]


def test_percent_and_underscore_are_looked_for_as_they_are() -> None:
    assert "'%10\\%\\_%'" in sql_of("titles of books whose title contains '10%_'")


def test_texts_that_all_are_numbers_are_compared_as_numbers() -> None:
    cars = schema(
        table("cars", key(), column("name"), column("power", values=("90", "120")))
    )
    found = translate("names of cars with power more than 100", cars, today=TODAY)
    assert isinstance(found, Translation)
    assert 'CAST("cars"."power" AS DOUBLE PRECISION) > 100' in found.sql


def test_keys_of_different_types_are_joined_as_text() -> None:
    halls = table("halls", column("hall_id", "number", key=True), column("name"))
    shows = table("shows", key(), column("title"), column("hall_id"))
    found = translate(
        "how many shows does each hall have?", schema(halls, shows), today=TODAY
    )
    assert isinstance(found, Translation)
    assert 'CAST("shows"."hall_id" AS TEXT)' in found.sql


@pytest.mark.parametrize(
    ("exposure", "question", "answered"),
    [
        ("masked", "the emails of members", True),
        ("masked", "members whose email contains 'x'", False),
        ("aggregate", "the emails of members", False),
        ("aggregate", "the number of different emails of members", True),
        ("masked", "members ordered by email", False),
    ],
)
def test_columns_are_used_only_as_they_may_be(
    exposure: str, question: str, answered: bool
) -> None:
    columns = tuple(
        replace(one, exposure=exposure) if one.name == "email" else one
        for one in LIBRARY.tables[0].columns
    )
    members = replace(LIBRARY.tables[0], columns=columns)
    some = replace(LIBRARY, tables=(members, *LIBRARY.tables[1:]))
    found = translate(question, some, today=TODAY)
    assert isinstance(found, Translation) is answered, found


def test_values_of_masked_columns_are_not_looked_up() -> None:
    hidden = column("town", values=("Hull",), exposure="masked")
    members = table("members", key(), column("full_name"), hidden)
    found = translate("members from Hull", schema(members), today=TODAY)
    assert isinstance(found, Declined)
