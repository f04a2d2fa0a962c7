from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stdnum import iban, luhn

from memory.learning.screening import Screened, screen

# Written in parts, so that nobody's scanner takes them for real ones.
KEYS = [
    "sk-ant-api03-" + "abcdefghij" * 3,
    "sk-proj-" + "abcdefghij" * 4,
    "ghp_" + "a1B2c3" * 6,
    "github_pat_" + "A1b2C3d4" * 4,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AIza" + "SyA1b2C3d4E5" * 3,
    "xoxb-" + "123456789012-abcdefghij",
    "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    "sk_" + "live_" + "a1B2c3D4e5F6g7H8",
    "-----BEGIN RSA PRIVATE " + "KEY-----",
    "-----BEGIN ENCRYPTED PRIVATE " + "KEY-----",
    "Authorization: Bearer " + "abcdefghij0123456789abcd",
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.abcDEF123",
    "postgres://app:hunter2@db.example/main",
    "redis://:hunter2@localhost:6379",
    "password: hunter2",
    "Password = 'correct horse'",
    "the admin password is Tr0ub4dor&3",
    "The password for the wiki is swordfish1",
    "client_secret=abc123def",
    "API key: 9f8e7d6c",
    "PIN: 4711",
]


@pytest.mark.parametrize("text", KEYS)
def test_a_secret_is_screened_out_wherever_it_stands(text):
    assert screen(f"We said: {text} and went on.") is Screened.SECRET
    assert screen(text) is Screened.SECRET


@pytest.mark.parametrize(
    "text",
    [
        "The shared token is rotated two days ahead.",
        "The password is on the wiki, ask Ann.",
        "A password is required.",
        "The key point: be there on time.",
        "See https://example.com:8080/a@b for more.",
        "The secret of our success is patience.",
        "INC-34 cost us 9,300 euro on 2026-03-04.",
        "Call me at +49 30 901820 or 020 7946 0958.",
        "Serial H8-28190 and order 100-2345-6789.",
        "Commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it.",
        "It was bearer of bad news.",
    ],
)
def test_ordinary_words_are_let_through(text):
    assert screen(text) is None


@st.composite
def card_numbers(draw) -> tuple[str, tuple[int, ...]]:
    """A number as an issuer makes them, and how it may be grouped."""
    prefix, length, groups = draw(
        st.sampled_from(
            [
                ("4", 16, (4, 4, 4, 4)),
                ("4", 13, (13,)),
                ("4", 19, (4, 4, 4, 4, 3)),
                ("51", 16, (4, 4, 4, 4)),
                ("2221", 16, (4, 4, 4, 4)),
                ("2720", 16, (4, 4, 4, 4)),
                ("34", 15, (4, 6, 5)),
                ("37", 15, (4, 6, 5)),
                ("36", 14, (4, 6, 4)),
                ("300", 14, (4, 6, 4)),
                ("3528", 16, (4, 4, 4, 4)),
                ("6011", 16, (4, 4, 4, 4)),
                ("62", 16, (4, 4, 4, 4)),
                ("62", 19, (6, 13)),
                ("6759", 16, (4, 4, 4, 4)),
            ]
        )
    )
    rest = length - len(prefix) - 1
    body = prefix + "".join(
        draw(st.lists(st.sampled_from("0123456789"), min_size=rest, max_size=rest))
    )
    return body + luhn.calc_check_digit(body), groups


def grouped(number: str, groups: tuple[int, ...], between: str) -> str:
    parts, start = [], 0
    for size in groups:
        parts.append(number[start : start + size])
        start += size
    return between.join(parts)


@settings(max_examples=300, deadline=None, database=None)
@given(
    card_numbers(),
    st.sampled_from(["", " ", "-", ".", "\u00a0"]),
    st.sampled_from(
        ["{}", "card {}.", "Pay with {}, exp 12/29", "({})", "no:{}", "2 x {}"]
    ),
)
def test_a_card_number_is_caught_in_any_usual_grouping(card, between, around):
    number, groups = card
    assert screen(around.format(grouped(number, groups, between))) is Screened.CARD


@settings(max_examples=300, deadline=None, database=None)
@given(card_numbers(), st.integers(1, 9), st.data())
def test_a_wrong_digit_makes_it_no_card_number(card, by, data):
    number, _ = card
    at = data.draw(st.integers(0, len(number) - 1))
    wrong = number[:at] + str((int(number[at]) + by) % 10) + number[at + 1 :]
    assert screen(f"order {wrong}") is None


@settings(max_examples=300, deadline=None, database=None)
@given(
    st.sampled_from(["+", "00"]),
    st.text("123456789", min_size=1, max_size=3),
    st.lists(st.text("0123456789", min_size=2, max_size=4), min_size=2, max_size=4),
    st.sampled_from([" ", "-", ""]),
)
def test_a_telephone_number_is_none(plus, country, groups, between):
    # Longer ones there are, but not ones that people write in groups as cards have.
    assume(len(country) + sum(map(len, groups)) <= 12)
    number = plus + between.join([country, *groups])
    assert screen(f"call {number} today") is None


@settings(max_examples=200, deadline=None, database=None)
@given(
    st.sampled_from(["ORD-", "INV", "#", "T-", "2026-"]),
    st.integers(1, 10**11 - 1),
)
def test_an_order_number_is_none(prefix, number):
    assert screen(f"order {prefix}{number}") is None


@settings(max_examples=200, deadline=None, database=None)
@given(
    st.text("0123456789", min_size=18, max_size=18),
    st.sampled_from(["", " ", "-"]),
    st.booleans(),
)
def test_an_account_number_is_caught_in_groups_of_four(body, between, lower):
    digits = iban.calc_check_digits(f"DE00{body}")
    number = f"DE{digits}{body}"
    said = between.join(number[at : at + 4] for at in range(0, len(number), 4))
    said = said.lower() if lower else said
    assert screen(f"Transfer it to {said} by Friday.") is Screened.ACCOUNT


def test_an_account_number_with_a_wrong_check_is_none():
    assert screen("GB82 WEST 1234 5698 7654 33") is None
    assert screen("GB82 WEST 1234 5698 7654 32") is Screened.ACCOUNT
