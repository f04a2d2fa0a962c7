from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.merge import (
    Leaders,
    cap_each_store,
    group_near_duplicates,
    jaccard,
    merge_near_duplicates,
    normalised_tokens,
)
from tests.retrieval.make_results import make_result

WORDS = " ".join(f"w{n}" for n in range(20))
texts = st.lists(
    st.lists(st.sampled_from("abcdefgh"), max_size=8).map(" ".join), max_size=25
)
thresholds = st.sampled_from([0, 0.07, 0.29, 0.5, 0.6, 0.75, 0.85, 0.9, 1])


def naive_groups(texts, threshold):
    """Compare every text with every leader before it."""
    groups: list[list[int]] = []
    sets = [normalised_tokens(text) for text in texts]
    for position, tokens in enumerate(sets):
        for group in groups:
            if jaccard(sets[group[0]], tokens) > threshold:
                group.append(position)
                break
        else:
            groups.append([position])
    return groups


def test_tokens_are_in_lower_case_and_without_punctuation():
    assert normalised_tokens("Don't PANIC — it's the (well-known) Über_plan, plan!") == {
        "dont", "panic", "its", "the", "wellknown", "überplan", "plan",
    }  # fmt: skip
    assert normalised_tokens("  ?! \n") == frozenset()


def test_two_empty_texts_have_nothing_in_common():
    assert jaccard(frozenset(), frozenset()) == 0
    assert group_near_duplicates(["", "?!", ""], 0.0) == [[0], [1], [2]]


@given(texts, thresholds)
def test_groups_are_those_of_comparing_all_with_all(texts, threshold):
    assert group_near_duplicates(texts, threshold) == naive_groups(texts, threshold)


@given(st.integers(1, 60), st.integers(0, 60), thresholds)
def test_no_pair_is_lost_to_rounding(size, shared, threshold):
    one = " ".join(f"w{n}" for n in range(size))
    other = " ".join(f"w{n}" for n in range(size - min(shared, size), size))
    for pair in ([one, other], [other, one]):
        assert group_near_duplicates(pair, threshold) == naive_groups(pair, threshold)


def test_only_what_is_above_the_threshold_is_a_near_duplicate():
    seventeen = " ".join(WORDS.split()[:17])
    assert jaccard(normalised_tokens(WORDS), normalised_tokens(seventeen)) == 0.85
    assert group_near_duplicates([WORDS, seventeen], 0.85) == [[0], [1]]
    assert group_near_duplicates([WORDS, seventeen], 0.849) == [[0, 1]]


def test_a_chain_of_small_changes_is_not_one_group():
    near = WORDS.replace("w0", "x0")
    far = near.replace("w1 ", "x1 ")
    assert group_near_duplicates([WORDS, near, far], 0.85) == [[0, 1], [2]]
    assert group_near_duplicates([near, WORDS, far], 0.85) == [[0, 1, 2]]


def test_everything_merged_resembles_the_text_that_stays():
    chance = random.Random(7)  # noqa: S311 - the same each time
    words = [f"w{n}" for n in range(24)]
    texts = [" ".join(chance.sample(words, 22)) for _ in range(200)]
    for leader, *others in group_near_duplicates(texts, 0.85):
        for other in others:
            sets = normalised_tokens(texts[leader]), normalised_tokens(texts[other])
            assert jaccard(*sets) > 0.85


def comparisons(count: int) -> int:
    """Count the comparisons among texts of common words, no two of them alike."""
    chance = random.Random(11)  # noqa: S311 - the same each time
    common = [f"c{n}" for n in range(60)]
    rare = [f"r{n}" for n in range(4000)]
    sets = [
        frozenset(chance.sample(common, 15) + chance.sample(rare, 15))
        for _ in range(count)
    ]
    leaders = Leaders(sets, 0.85)
    assert all(leaders.place(tokens) is None for tokens in sets)
    return leaders.comparisons


def test_ten_times_the_results_take_far_from_a_hundred_times_the_comparisons():
    few, many = comparisons(200), comparisons(2000)
    assert few < 200 * 199 / 2 / 20
    assert many < 2000 * 1999 / 2 / 20


def test_a_thousand_copies_are_each_compared_once():
    sets = [normalised_tokens(WORDS)] * 1000
    leaders = Leaders(sets, 0.85)
    assert [leaders.place(tokens) for tokens in sets] == [None] + [0] * 999
    assert leaders.comparisons == 999


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_that_is_no_share_is_refused(threshold):
    with pytest.raises(ValueError, match="from 0 to 1"):
        group_near_duplicates(["a"], threshold)


class TestMergedResults:
    def merge(self, *results, threshold=0.85):
        return merge_near_duplicates(results, threshold)

    def test_the_more_relevant_text_stays_with_the_entities_of_both(self):
        (merged,) = self.merge(
            make_result("a", WORDS, relevance=0.4, entities=("Ann", "Bo")),
            make_result(
                "b", WORDS.upper(), relevance=0.9, entities=("Cy", "Ann"), score=0.1
            ),
        )
        assert (merged.key, merged.text, merged.score) == ("b", WORDS.upper(), 0.1)
        assert merged.entities == ("Cy", "Ann", "Bo")
        assert merged.cross_validated

    def test_the_metadata_of_the_others_comes_as_source(self):
        (merged,) = self.merge(
            make_result("a", WORDS, relevance=0.9, metadata={"channel": "x"}),
            make_result("b", WORDS, relevance=0.8, metadata={"channel": "y"}),
            make_result("c", WORDS, relevance=0.7, metadata={"channel": "z", "n": 1}),
        )
        assert merged.metadata == {
            "channel": "x",
            "source_key": "b",
            "source_channel": "y",
            "source_2_key": "c",
            "source_2_channel": "z",
            "source_n": 1,
        }

    def test_own_metadata_is_not_overwritten(self):
        (merged,) = self.merge(
            make_result("a", WORDS, relevance=0.9, metadata={"source_n": 1}),
            make_result("b", WORDS, relevance=0.8, metadata={"n": 2}),
        )
        assert (merged.metadata["source_n"], merged.metadata["source_2_n"]) == (1, 2)

    def test_of_equally_relevant_texts_that_with_the_lesser_key_stays(self):
        (merged,) = self.merge(make_result("b", WORDS), make_result("a", WORDS))
        assert merged.key == "a"

    def test_what_resembles_nothing_stays_as_it_was_in_its_place(self):
        results = [
            make_result(key, text) for key, text in zip("cab", "xyz", strict=True)
        ]
        assert self.merge(*results) == tuple(results)
        assert not any(result.cross_validated for result in self.merge(*results))

    def test_two_results_without_text_are_two_results(self):
        assert len(self.merge(make_result("a"), make_result("b"), threshold=0)) == 2

    @given(texts, st.randoms())
    def test_the_order_they_come_in_does_not_matter(self, texts, chance):
        results = [
            make_result(f"m{n}", text, relevance=n % 3) for n, text in enumerate(texts)
        ]
        shuffled = list(results)
        chance.shuffle(shuffled)
        merged = {result.key: result for result in self.merge(*results)}
        assert {result.key: result for result in self.merge(*shuffled)} == merged


def test_each_store_is_capped_by_itself_in_order():
    stores = ["graph", "memory", "graph", "graph", "memory"]
    results = [make_result(f"m{n}", store=store) for n, store in enumerate(stores)]
    assert [r.key for r in cap_each_store(results, 2)] == ["m0", "m1", "m2", "m4"]
