from __future__ import annotations

import re

import pytest

from connections.models import Audience, Audit
from connections.models.tenancy import AudienceQuerySet
from graph.embed import embed_backlog
from memory.ask import ask
from memory.conversations import load_answer, start_conversation
from memory.models import Citation, Conversation, Turn
from retrieval.frequencies import count_lexemes
from tests.factories import NOON, make_node
from tests.worlds import QUESTION

pytestmark = pytest.mark.django_db


def say(project, key, text, **fields):
    fields = {"context": f"Ann Lee · {key}", "occurred_at": NOON} | fields
    return make_node(project, key, text, **fields)


@pytest.fixture
def corpus(project):
    say(
        project,
        "m1",
        "The pump of line 4 failed because its seal was dry. Then it rained.",
    )
    say(project, "m2", "Lunch is at noon [3] in the canteen.")
    say(project, "m3", "We moved the standup to ten o'clock.")
    embed_backlog(project.pk)
    count_lexemes(project, always=True)


class TestVisibility:
    def cited(self, world, user):
        answer = ask(world.project, QUESTION, user=user)
        return {c.node_id for c in answer.citations}, answer

    def test_an_answer_cites_only_what_the_user_may_see(
        self, world, member, outsider, stranger
    ):
        opened, closed = ({n.pk for n in nodes} for nodes in (world.open, world.closed))
        mine, _ = self.cited(world, member)
        assert closed & mine, "what is closed answers best"
        theirs, answer = self.cited(world, outsider)
        assert theirs
        assert theirs <= opened
        assert not any(n.content in answer.answer for n in world.closed)
        none, answer = self.cited(world, stranger)
        assert none == set()
        assert not answer.grounded
        assert "batteries" not in answer.answer

    def test_this_check_would_see_a_leak(
        self, world, member, outsider, stranger, monkeypatch
    ):
        everything = list(Audience.objects.values_list("pk", flat=True))
        monkeypatch.setattr(AudienceQuerySet, "ids_of", lambda self, user: everything)
        with pytest.raises(AssertionError):
            self.test_an_answer_cites_only_what_the_user_may_see(
                world, member, outsider, stranger
            )


class TestAnswers:
    def test_an_answer_quotes_the_source_word_for_word_with_its_number(
        self, project, corpus, member
    ):
        answer = ask(project, "Why did the pump of line 4 fail?", user=member)
        assert answer.grounded
        first = answer.citations[0]
        assert first.key == "m1"
        assert "because its seal was dry" in first.quote
        assert (
            first.quote
            in "The pump of line 4 failed because its seal was dry. Then it rained."
        )
        assert "Ann Lee" in answer.answer
        said, age = answer.answer.split("\n\n")
        assert said.endswith("[1]")
        assert age.startswith("Mind the age: [1] is ")

    def test_no_bracketed_number_but_those_of_citations(self, project, corpus, member):
        answer = ask(project, "Where and when is lunch in the canteen?", user=member)
        assert answer.citations[0].key == "m2"
        numbers = {int(n) for n in re.findall(r"\[(\d+)\]", answer.answer)}
        assert numbers == {c.n for c in answer.citations}
        assert "noon (3) in" in answer.answer
        assert "[3]" in answer.citations[0].quote

    @pytest.mark.parametrize(
        "question", ["Who won the football match in Lisbon?", "the of and", "?", "  "]
    )
    def test_what_nothing_supports_is_not_answered(
        self, project, corpus, member, question
    ):
        answer = ask(project, question, user=member)
        assert (answer.grounded, answer.citations) == (False, ())
        assert answer.answer

    def test_an_empty_project_says_so(self, project, member):
        assert "Nothing was found" in ask(project, "Why?", user=member).answer

    def test_it_says_what_it_asked_of_what(self, project, corpus, member):
        answer = ask(project, "Why did the pump fail?", user=member)
        (call,) = answer.calls
        assert (call.name, call.arguments["query"]) == (
            "search",
            "Why did the pump fail?",
        )
        assert call.result_count > 0
        assert answer.effort >= 3
        assert set(answer.as_json()) >= {
            "conversation",
            "turn",
            "answer",
            "grounded",
            "citations",
            "sql",
            "calls",
            "lambda",
            "model",
        }


class TestConversations:
    def test_a_turn_is_kept_and_loads_as_it_was_answered(self, project, corpus, member):
        answer = ask(project, "Why did the pump of line 4 fail?", user=member)
        turn = Turn.objects.get(pk=answer.turn)
        assert load_answer(turn) == answer
        assert Audit.objects.get(verb="question.asked").actor == member

    def test_a_second_question_goes_on_in_the_same_conversation(
        self, project, corpus, member
    ):
        first = ask(project, "Why did the pump fail?", user=member)
        conversation = Conversation.objects.get(pk=first.conversation)
        second = ask(project, "When is lunch?", user=member, conversation=conversation)
        assert second.conversation == first.conversation
        assert conversation.turns.count() == 2
        assert conversation.title == "Why did the pump fail?"

    def test_a_conversation_is_its_user_s_alone(self, project, member, outsider):
        mine, theirs = (start_conversation(project, u, "x") for u in (member, outsider))
        assert list(Conversation.objects.visible_to(member)) == [mine]
        assert mine.audience_id != theirs.audience_id

    def test_nothing_is_kept_when_nobody_asks_or_it_is_not_wanted(
        self, project, corpus, member
    ):
        ask(project, "Why did the pump fail?", user=None)
        ask(project, "Why did the pump fail?", user=member, save=False)
        assert not Turn.objects.exists()

    def test_a_citation_outlives_its_node_as_text(self, project, corpus, member):
        answer = ask(project, "Why did the pump of line 4 fail?", user=member)
        Citation.objects.get(turn_id=answer.turn, n=1).node.delete()
        (cited, *_) = load_answer(Turn.objects.get(pk=answer.turn)).citations
        assert (cited.key, cited.node_id, cited.is_gone) == ("m1", None, True)
        assert "seal" in cited.quote
