from __future__ import annotations

from retrieval.effort import effort


def test_effort_grows_with_arms_hops_candidates_calls_and_tokens():
    assert effort(arms={}) == 0
    assert effort(arms={"keyword": 100, "vector": 0}) == 1 + 7
    assert effort(arms={"keyword": 100, "walk": 27}, hops=2) == 2 + 2 + 7
    assert effort(arms={"keyword": 100}, calls=2, tokens=1500) == 8 + 4 + 2
