from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.records import Record
from connections.sources.mail_threads import place, thread_key, thread_title
from tests.connections.sources.mail_drafts import (
    make_mail,
    node,
    read,
    targets,
)


@pytest.mark.parametrize(
    ("in_reply_to", "references", "parent"),
    [
        ("<a@x>", "<r@x> <a@x>", "email:a@x"),
        ("", "<r@x>\n <a@x>", "email:a@x"),
        ("<a@x> <b@x>", "<r@x> <b@x>", "email:b@x"),
        ('Message from Bob <bob@x>\n of "Monday" <a@x>', "", "email:a@x"),
        ("<a@x>; from bob@x on Monday", "", "email:a@x"),
        ('Your message of "Mon, 8 May 2023"', "", None),
        ("<one@acme.test>", "<one@acme.test>", None),
        ("a@x", "", "email:a@x"),
        ("<broken id@x>", "", "email:brokenid@x"),
    ],
)
def test_the_parent_is_what_the_mail_answers(in_reply_to, references, parent):
    record = read(make_mail(In_Reply_To=in_reply_to, References=references))
    assert targets(record, "replied_to") == ([parent] if parent else [])


def test_the_thread_is_named_by_its_earliest_mail():
    early = read(make_mail(Subject="[board] Launch date"))
    late = read(
        make_mail(
            Subject="Re: AW: [board] Launch moved",
            Date="Tue, 9 May 2023 10:00:00 GMT",
            References="<one@acme.test>",
            Message_ID="<two@acme.test>",
        )
    )
    undated = read(make_mail(Date=""))
    drafts = [
        node(record, "email-thread:one@acme.test") for record in (undated, late, early)
    ]
    assert max(drafts, key=lambda draft: draft.precedence).title == "Launch date"
    assert drafts[1].title == "Launch moved"
    assert min(drafts, key=lambda draft: draft.precedence) is drafts[0]


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        ("Re: Re[2]: RE: x", "x"),
        ("[a] Re: [a] x [b]", "x [b]"),
        ("[only]", "[only]"),
        ("Regarding: x", "Regarding: x"),
        ("Re:", ""),
    ],
)
def test_a_thread_title_has_no_prefixes(subject, title):
    assert thread_title(subject) == title


def test_very_many_references_keep_the_oldest_and_the_newest():
    references = tuple(f"r{n}@x" for n in range(5_000))
    found = place("own@x", references, ())
    assert found.thread_key == "email-thread:r0@x"
    assert found.parent_key == "email:r4999@x"
    assert len(found.aliases) == 1_000
    assert found.omitted == 4_000


def followed(records: Iterable[Record]) -> dict[str, str]:
    """Return each mail's thread as the graph finds it: own words, then hearsay."""
    own_words: dict[str, str] = {}
    hearsay: dict[str, set[str]] = defaultdict(set)
    records = list(records)
    for record in records:
        for alias in record.aliases:
            if alias.own:
                own_words[alias.key] = alias.target
            else:
                hearsay[alias.key].add(alias.target)

    def root(key: str) -> str:
        path: list[str] = []
        while key not in path:
            path.append(key)
            if key in own_words:
                key = own_words[key]
            elif key in hearsay:
                key = min(hearsay[key])
            else:
                return key
        return min(path[path.index(key) :])

    return {record.key: root(targets(record, "in_thread")[0]) for record in records}


def test_a_thread_whose_root_is_missing_is_one_thread():
    records = [
        read(make_mail(Message_ID="<b@x>", References="<a@x>")),
        read(make_mail(Message_ID="<c@x>", In_Reply_To="<b@x>")),
        read(make_mail(Message_ID="<d@x>", References="<b@x> <c@x>")),
    ]
    assert set(followed(records).values()) == {thread_key("a@x")}


names = st.sampled_from("abcdef")
mails = st.lists(
    st.tuples(names, st.lists(names, max_size=4), st.lists(names, max_size=2)),
    max_size=8,
    unique_by=lambda mail: mail[0],
)


@given(mails, st.randoms())
def test_threads_are_the_same_in_any_order_and_split(described, rng: random.Random):
    def drafts() -> list[Record]:
        return [
            read(
                make_mail(
                    Message_ID=f"<{own_id}@x>",
                    References=" ".join(f"<{each}@x>" for each in references),
                    In_Reply_To=" ".join(f"<{each}@x>" for each in answered),
                )
            )
            for own_id, references, answered in described
        ]

    first, second = drafts(), drafts()
    rng.shuffle(second)
    assert followed(first) == followed(second)
    assert {r.key: r.content_hash for r in first} == {
        r.key: r.content_hash for r in second
    }


@given(st.permutations("abcdef"), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_a_chain_of_replies_is_one_thread_whatever_is_missing(chain, present):
    records = [
        read(
            make_mail(
                Message_ID=f"<{each}@x>",
                References=" ".join(f"<{p}@x>" for p in chain[: chain.index(each)]),
            )
        )
        for each in present
    ]
    assert set(followed(records).values()) == {thread_key(f"{chain[0]}@x")}


def test_no_mail_is_its_own_parent_and_circles_end():
    records = [
        read(make_mail(Message_ID=f"<{one}@x>", In_Reply_To=f"<{other}@x>"))
        for one, other in [*pairwise("abc"), ("c", "a"), ("d", "d")]
    ]
    threads = followed(records)
    assert len({threads[f"email:{each}@x"] for each in "abc"}) == 1
    assert targets(records[-1], "replied_to") == []
    assert records[-1].aliases == ()


def test_the_other_mails_a_reply_names_are_kept_nearest_first():
    placement = place("d", ("a", "b", "c"), ("c",))
    assert placement.parent_key == "email:c"
    assert placement.earlier_keys == ("email:b", "email:a")
