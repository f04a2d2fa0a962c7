"""Who is who, as a pure function."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.persons import Decision, Named, full_name, persons


def groups(identities, decisions=()):
    return {p.identities for p in persons(identities, decisions)}


def chat(key, *names, address=""):
    return Named(key, "chat", address, names)


def mail(address, *names):
    return Named(f"person:{address}", "mail", address, names)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Ann Lee", "ann lee"),
        ("Lee, Ann", "ann lee"),
        ("  ANN   LEE ", "ann lee"),
        ("Ann Lee (Sales)", "ann lee"),
        ("Ann [ext] Lee", "ann lee"),
        ("Àñn Léé", "ann lee"),
        ("Ann B. Lee", "ann b lee"),
        ("Anne-Marie O'Neil", "anne-marie o'neil"),
        ("李 小龙", "李 小龙"),
        ("Ann", ""),
        ("", ""),
        ("ann@acme.test", ""),
        ("Ann Lee via List", ""),
        ("Room 42", ""),
        ("Ann 2", ""),
    ],
)
def test_a_full_name_compares_whatever_its_dress(name, found):
    assert full_name(name) == found


def test_an_equal_address_makes_one_person_whatever_its_case():
    identities = [chat("slack-user:U1", address="Ann@Acme.test"), mail("ann@acme.test")]
    assert groups(identities) == {("person:ann@acme.test", "slack-user:U1")}
    (person,) = persons(identities)
    assert person.key == "identity:person:ann@acme.test"
    assert [link.because for link in person.links] == ["same address ann@acme.test"]


def test_a_full_name_that_is_one_on_each_side_joins_the_sides():
    identities = [
        chat("U1", "Ann Lee"),
        mail("a@x.test", "Lee, Ann"),
        Named("n", "name", "", ("Ann Lee",)),
    ]
    assert len(groups(identities)) == 1


@pytest.mark.parametrize(
    "identities",
    [
        [chat("U1", "Ann Lee"), chat("U2", "Ann Lee")],
        [chat("U1", "Ann Lee"), chat("U2", "Ann Lee"), mail("a@x.test", "Ann Lee")],
        [chat("U1", "Ann"), mail("a@x.test", "Ann")],
        [mail("a@x.test", "Ann Lee"), mail("b@x.test", "Ann Lee")],
    ],
    ids=["two accounts", "two accounts and a mail", "first names", "two addresses"],
)
def test_a_name_that_may_be_anybodys_joins_nobody(identities):
    assert all(len(group) == 1 for group in groups(identities))


def test_two_addresses_of_one_account_are_one_on_their_side():
    """Joined by address already, they are one component, so their name is no clash."""
    identities = [
        chat("U1", "Ann Lee", address="a@x.test"),
        mail("a@x.test", "Ann Lee"),
        Named("name:ann lee", "name", "", ("Ann Lee",)),
    ]
    assert len(groups(identities)) == 1


def test_what_people_decided_comes_last():
    identities = [chat("U1", "Ann Lee"), mail("a@x.test", "Ann Lee"), mail("b@x.test")]
    split = Decision("split", "U1", "person:a@x.test")
    merge = Decision("merge", "U1", "person:b@x.test")
    assert groups(identities, [split, merge]) == {
        ("U1", "person:b@x.test"),
        ("person:a@x.test",),
    }
    assert groups(identities) == {("U1", "person:a@x.test"), ("person:b@x.test",)}


def test_a_split_also_parts_an_equal_address():
    identities = [chat("U1", address="a@x.test"), chat("U2", address="a@x.test")]
    assert len(groups(identities)) == 1
    assert len(groups(identities, [Decision("split", "U1", "U2")])) == 2


NAMES = st.sampled_from(["Ann Lee", "Lee, Ann", "Bob Ray", "Ann", "Eve Day", ""])
ADDRESSES = st.sampled_from(["", "a@x.test", "A@x.test", "b@x.test", "c@x.test"])
IDENTITIES = st.lists(
    st.builds(
        Named,
        st.sampled_from([f"k{n}" for n in range(8)]),
        st.sampled_from(["mail", "chat", "name"]),
        ADDRESSES,
        st.lists(NAMES, max_size=3).map(tuple),
    ),
    unique_by=lambda identity: identity.key,
)
DECISIONS = st.lists(
    st.builds(
        lambda verb, pair: Decision(verb, *sorted(pair)),
        st.sampled_from(["merge", "split"]),
        st.sets(st.sampled_from([f"k{n}" for n in range(8)]), min_size=2, max_size=2),
    ),
    unique_by=lambda decision: (decision.first, decision.second),
)


@given(IDENTITIES, DECISIONS, st.randoms())
def test_any_order_gives_the_same_persons_for_the_same_reasons(
    identities, decisions, random
):
    before = persons(identities, decisions)
    random.shuffle(identities)
    random.shuffle(decisions)
    assert persons(identities, decisions) == before


@given(IDENTITIES, DECISIONS)
def test_each_identity_is_one_person_and_links_hold_each_person_together(
    identities, decisions
):
    found = persons(identities, decisions)
    assert sorted(k for p in found for k in p.identities) == sorted(
        i.key for i in identities
    )
    for person in found:
        reached = {person.identities[0]}
        for _ in person.identities:
            reached |= {
                key
                for link in person.links
                if reached & {link.first, link.second}
                for key in (link.first, link.second)
            }
        assert reached == set(person.identities)


@given(IDENTITIES, DECISIONS)
def test_what_people_split_never_shares_a_person(identities, decisions):
    person_of = {
        key: person.key
        for person in persons(identities, decisions)
        for key in person.identities
    }
    for d in decisions:
        if d.verb == "split" and {d.first, d.second} <= person_of.keys():
            assert person_of[d.first] != person_of[d.second]
