from __future__ import annotations

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from connections.models import AudienceMember
from connections.providers.chat import ModelUnavailable
from memory.agent import compaction
from memory.agent.compaction import context
from memory.agent.prompt import new_fence, tokens_of
from memory.conversations import start_conversation
from memory.models import Citation, Turn
from tests.factories import make_audience, make_node
from tests.memory.agent.models import ScriptedModel

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(project, member):
    return start_conversation(project, member, "Pumps")


def talk(conversation, count, *, words=60):
    return [
        Turn.objects.create(
            conversation=conversation,
            question=f"Question {n}?",
            answer=f"Answer {n} [1]. " + f"filler{n} " * words,
        )
        for n in range(count)
    ]


def told(conversation, member, small=None):
    fence = new_fence()
    return context(conversation, member, fence=fence, small=small), fence


def test_a_short_conversation_is_given_whole(conversation, member):
    talk(conversation, 2)
    messages, fence = told(conversation, member)
    assert [m.role for m in messages] == ["user", "assistant"] * 2
    assert messages[0].text == "Question 0?"
    assert "Answer 1" in messages[3].text
    assert messages[3].text.count(fence) == 2
    assert "[1]" not in messages[3].text, "numbers mean other sources by now"
    assert conversation.summary == ""


@pytest.mark.parametrize("small", [None, ScriptedModel([])])
def test_what_does_not_fit_is_summarised_not_cut_off(
    conversation, member, small, monkeypatch
):
    monkeypatch.setitem(settings.FABRIC, "AGENT_CONTEXT_TOKENS", 800)
    turns = talk(conversation, 8)
    messages, _ = told(conversation, member, small)
    assert "Question 7?" in messages[-2].text
    assert sum(tokens_of(m.text) for m in messages) < 1000
    conversation.refresh_from_db()
    assert turns[0].pk < conversation.summarized_to < turns[-1].pk
    expected = "What was said before." if small else "Question 0?"
    assert expected in conversation.summary
    assert expected in messages[0].text

    before = conversation.summarized_to
    talk(conversation, 4)
    told(conversation, member, small)
    conversation.refresh_from_db()
    assert conversation.summarized_to > before
    if not small:
        assert "Question 0?" in conversation.summary


def test_a_summary_is_made_by_rules_where_the_model_is_away(
    conversation, member, monkeypatch
):
    monkeypatch.setitem(settings.FABRIC, "AGENT_CONTEXT_TOKENS", 800)
    talk(conversation, 8)

    class Away(ScriptedModel):
        def structured(self, *args, **kwargs):
            raise ModelUnavailable("away")

    messages, _ = told(conversation, member, Away([]))
    assert "Question 0?" in messages[0].text


def test_what_is_closed_by_now_is_given_no_more_nor_its_summary(
    project, conversation, member, monkeypatch
):
    monkeypatch.setitem(settings.FABRIC, "AGENT_CONTEXT_TOKENS", 800)
    closed = make_audience(project, "closed", [member])
    node = make_node(project, "m1", "The price is nine.", audience=closed)
    turns = talk(conversation, 8)
    Turn.objects.filter(pk=turns[0].pk).update(answer="The price is nine [1].")
    Citation.objects.create(turn=turns[0], n=1, node=node, key="m1")
    messages, _ = told(conversation, member)
    assert "nine" in messages[0].text
    AudienceMember.objects.filter(audience=closed, user=member).delete()
    conversation.refresh_from_db()
    messages, _ = told(conversation, member)
    assert not any("nine" in m.text for m in messages)
    conversation.refresh_from_db()
    assert "nine" not in conversation.summary
    assert "Question 1?" in conversation.summary


@given(
    st.lists(st.text(max_size=300), max_size=30),
    st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=30),
    st.integers(60, 400),
)
def test_a_summary_by_rules_stays_within_its_budget(before, asked, most):
    older = [Turn(question=text, answer=text) for text in asked]
    said = compaction._extract("\n".join(before), older, most)
    assert len(said) <= most * 4 + 60
