"""The closed form against the published loop."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.importance import FORGOTTEN, Strength, faded, ticks_left
from tests.memory.naive import Naive

NAMES = 4
SOME = st.frozensets(st.integers(0, NAMES - 1), max_size=NAMES)
NAME = st.integers(0, NAMES - 1)
EVENTS = st.one_of(
    st.tuples(st.just("end"), SOME),
    st.tuples(st.just("end"), st.just(frozenset())),
    st.tuples(st.just("idle"), st.integers(1, 30)),
    st.tuples(st.just("day"), st.none()),
    st.tuples(st.just("pin"), NAME),
    st.tuples(st.just("unpin"), NAME),
    st.tuples(st.just("restore"), NAME),
    st.tuples(st.just("add"), NAME),
)


class Closed:
    """The closed form as the database has it: a strength each, and one clock."""

    def __init__(self) -> None:
        self.ticks = 0
        self.held: dict[int, Strength] = {}

    def end(self, referenced: set[int], has_ticked: bool) -> None:
        before = self.ticks
        self.ticks += has_ticked
        for name in referenced & self.held.keys():
            if not self.held[name].has_left(before):
                self.held[name] = self.held[name].counted(self.ticks)

    def change(self, event: str, name: int) -> None:
        kept = self.held[name]
        has_left = kept.has_left(self.ticks)
        if event == "restore" and has_left:
            self.held[name] = kept.restored(self.ticks)
        wanted = event == "pin"
        if event in ("pin", "unpin") and not has_left and kept.is_pinned != wanted:
            self.held[name] = kept.pinned(self.ticks, wanted)


def play(naive: Naive, closed: Closed, event: str, what: object) -> None:
    if event == "end":
        closed.end(set(what), naive.end(set(what)))
    elif event == "idle":
        for _ in range(what):
            naive.next_day()
            closed.end(set(), naive.end(set()))
    elif event == "day":
        naive.next_day()
    elif event == "add":
        if what not in naive.held:
            naive.add(what, is_protected=what == 0)
            closed.held[what] = Strength(
                counted_at=closed.ticks, is_protected=what == 0
            )
    elif what in naive.held:
        if event == "restore":
            naive.restore(what)
        else:
            naive.pin(what, event == "pin")
        closed.change(event, what)


@pytest.mark.parametrize("by_day", [False, True], ids=["conversation", "day"])
@given(history=st.lists(EVENTS, max_size=80))
def test_it_equals_the_naive_loop_over_any_history(by_day, history):
    naive, closed = Naive(by_day=by_day), Closed()
    for event, what in [("add", 0), ("add", 1), *history]:
        play(naive, closed, event, what)
        for name, kept in naive.held.items():
            ours = closed.held[name]
            assert ours.has_left(closed.ticks) == kept.has_left
            if not kept.has_left:
                assert ours.at(closed.ticks) == pytest.approx(
                    kept.importance, rel=0, abs=1e-9
                )


def test_new_it_leaves_at_the_22nd_tick_without_a_reference():
    assert Strength().leaves_at == 22
    assert 0.5 * 0.9**21 > FORGOTTEN > 0.5 * 0.9**22


@given(st.floats(FORGOTTEN, 1.0))
def test_it_leaves_at_the_first_tick_below_the_threshold(strength):
    ticks = ticks_left(strength)
    assert faded(strength, ticks) < FORGOTTEN <= faded(strength, ticks - 1)


def test_what_is_below_already_has_no_ticks_left():
    assert ticks_left(0.049) == 0


def test_a_protected_one_fades_for_ever_and_stays_above_zero():
    kept = Strength(is_protected=True)
    assert kept.leaves_at is None
    assert 0 < kept.at(1_000_000) < 1e-200
    assert kept.counted(1_000_000).strength > 0


def test_a_reference_lifts_it_by_a_tenth_up_to_one():
    kept = Strength()
    for ticks in range(1, 20):
        kept = kept.counted(ticks)
    assert kept.strength == 1.0
    assert math.isclose(Strength().counted(1).strength, 0.55)
