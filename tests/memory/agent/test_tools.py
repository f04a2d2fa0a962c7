from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from graph.embed import embed_backlog
from memory.agent import graph_tools, reading_tools  # noqa: F401 - they register
from memory.agent.followups import followups
from memory.agent.run import Asked, run
from memory.agent.tools import Reading, call_tool
from memory.ask import ask
from retrieval.frequencies import count_lexemes
from tests.factories import make_audience, make_edge, make_node

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def graph(project, member, other_project):
    """Ann wrote a mail on Orion; what Bob wrote on it is closed to the outsider."""
    closed = make_audience(project, "closed", [member])
    ann = make_node(project, "person:ann", title="Ann Lee", node_type="person")
    orion = make_node(project, "topic:orion", title="Orion", node_type="topic")
    mail = make_node(
        project, "email:1", "Orion starts in May.", title="Start", node_type="email",
        occurred_at=NOW - timedelta(days=3),
    )  # fmt: skip
    secret = make_node(
        project, "email:2", "Orion costs nine.", title="Price", node_type="email",
        audience=closed, occurred_at=NOW - timedelta(days=1),
    )  # fmt: skip
    make_edge(mail, ann, "sent_by", occurred_at=mail.occurred_at)
    make_edge(mail, orion, "mentions", occurred_at=mail.occurred_at)
    make_edge(secret, orion, "mentions", audience=closed, occurred_at=NOW)
    make_node(other_project, "email:1", "Orion of others.", node_type="email")
    return {"ann": ann, "orion": orion, "mail": mail, "secret": secret}


def call(project, user, name, arguments):
    reading = Reading(project, user, "?")
    return (*call_tool(reading, name, arguments), reading)


def keys(told):
    return {source.key for source in told.sources}


class TestGraphTools:
    def test_a_walk_tells_what_a_thing_is_tied_to(self, project, graph, member):
        made, told, reading = call(project, member, "walk", {"of": "topic:orion"})
        assert keys(told) == {"email:1", "email:2"}
        assert "Start -mentions-> Orion" in told.notes
        assert (made.error, made.result_count, reading.hops) == ("", 2, 1)

    @pytest.mark.parametrize("of", ["email:1", "Start", "1", "[1]"])
    def test_a_thing_is_named_by_key_name_or_number(self, project, graph, member, of):
        reading = Reading(project, member, "?")
        reading.add_nodes([graph["mail"]])
        made, told = call_tool(reading, "walk", {"of": of})
        assert not made.error
        assert "Start -sent_by-> Ann Lee" in told.notes

    def test_paths_are_told_in_words_with_the_sources_on_them(
        self, project, graph, member
    ):
        ends = {"from": "person:ann", "to": "topic:orion"}
        _, told, _ = call(project, member, "paths", ends)
        assert told.notes == ("Ann Lee <-sent_by- Start -mentions-> Orion",)
        assert keys(told) == {"email:1"}

    def test_two_things_without_a_way_are_told_so(self, project, graph, member):
        make_node(project, "topic:x", title="Xenon", node_type="topic")
        ends = {"from": "person:ann", "to": "topic:x"}
        made, told, _ = call(project, member, "paths", ends)
        assert made.result_count == 0
        assert "No way" in told.notes[0]

    def test_a_timeline_is_in_order(self, project, graph, member):
        wanted = {"of": "topic:orion", "order": "oldest"}
        _, told, _ = call(project, member, "timeline", wanted)
        names = [note.rpartition(": ")[2] for note in told.notes]
        assert names.index("Start") < names.index("Price")

    @pytest.mark.parametrize("name", ["walk", "timeline", "search", "recall"])
    def test_nobody_reads_what_is_closed_to_them(
        self, project, graph, outsider, stranger, name
    ):
        embed_backlog(project.pk)
        word = (
            {"query": "Orion"}
            if name in ("search", "recall")
            else {"of": "topic:orion"}
        )
        _, told, _ = call(project, outsider, name, word)
        assert "email:2" not in keys(told)
        assert not any("Price" in note for note in told.notes)
        made, told, _ = call(project, stranger, name, word)
        assert keys(told) == set()
        assert name in ("search", "recall") or "called" in made.error

    def test_memory_is_recalled_apart(self, project, graph, member):
        make_node(
            project,
            "memory:1",
            "Orion was postponed.",
            node_type="fact",
            origin="memory",
        ).__class__.objects.filter(key="memory:1").update(source_kind="memory")
        _, told, _ = call(project, member, "recall", {"query": "Orion"})
        assert keys(told) == {"memory:1"}
        assert told.sources[0].store == "memory"


class TestStaleClaims:
    @pytest.fixture
    def decision(self, project):
        node = make_node(
            project,
            "d1",
            "We decided to run the Zephyr database on two servers.",
            node_type="decision",
            title="Zephyr on two servers",
            occurred_at=NOW - timedelta(days=200),
        )
        for n in range(8):
            make_node(project, f"other{n}", f"Lunch number {n} was good.")
        count_lexemes(project, always=True)
        return node

    def test_one_looks_for_newer_evidence_and_says_that_there_is_none(
        self, project, decision, member
    ):
        answer = ask(
            project, "How many servers does the Zephyr database run on?", user=member
        )
        assert [c.name for c in answer.calls] == ["search", "search"]
        assert "since" in answer.calls[1].arguments
        assert "[1] is 6 months old (200 days, threshold: 90)" in answer.answer
        assert "found none" in answer.answer

    def test_an_old_message_is_cited_with_its_age_and_flag(self, project, member):
        make_node(
            project,
            "m1",
            "The pump of line 4 failed because its seal was dry.",
            occurred_at=NOW - timedelta(days=214),
        )
        count_lexemes(project, always=True)
        answer = ask(project, "Why did the pump of line 4 fail?", user=member)
        assert answer.answer.endswith("\n\nMind the age: [1] is 7 months old.")
        cited = answer.as_json()["citations"][0]
        assert (cited["stale"]["is_stale"], cited["age"]) == (True, "7 months")

    def test_one_says_what_is_newer(self, project, decision, member):
        make_node(
            project,
            "m9",
            "The Zephyr database now runs on five servers, not two.",
            occurred_at=NOW - timedelta(days=2),
        )
        count_lexemes(project, always=True)
        answer = ask(
            project, "How many servers does the Zephyr database run on?", user=member
        )
        newer = next(c.n for c in answer.citations if c.key == "m9")
        assert f"newer evidence speaks of it [{newer}]" in answer.answer

    def test_a_record_is_what_was_said_that_day(self, project, member):
        make_node(
            project, "m1", "The Zephyr database failed.",
            occurred_at=NOW - timedelta(days=200),
        )  # fmt: skip
        count_lexemes(project, always=True)
        assert (
            len(ask(project, "Did the Zephyr database fail?", user=member).calls) == 1
        )


class TestOfflinePlan:
    def events(self, project, user, question, **more):
        asked = Asked(project=project, user=user, question=question, **more)
        return list(run(asked, stop=lambda: False))

    def test_how_two_things_hang_together_is_told_by_their_ways(
        self, project, graph, member
    ):
        count_lexemes(project, always=True)
        events = self.events(project, member, "How is Ann Lee connected to Orion?")
        done = events[-1].data
        assert [c["name"] for c in done["calls"]][:2] == ["search", "paths"]
        assert "Ann Lee <-sent_by- Start -mentions-> Orion" in done["answer"]
        assert done["citations"][0]["key"] == "email:1"
        assert done["grounded"]

    def test_what_was_read_into_a_question_can_be_taken_back(
        self, project, graph, member
    ):
        question = "What did Ann Lee write last week?"
        told = next(
            e for e in self.events(project, member, question) if e.name == "filters"
        )
        chips = {chip["text"]: chip for chip in told.data["chips"]}
        assert chips["Ann Lee"]["how"] == "guessed"
        took = tuple(chip["ignore"] for chip in told.data["chips"])
        again = self.events(project, member, question, ignore=took)
        left = next(e for e in again if e.name == "filters").data["chips"]
        assert {chip["how"] for chip in left} == {"ignored"}

    def test_a_misspelt_question_is_answered_and_says_how_it_was_read(
        self, project, member
    ):
        make_node(project, "m1", "The turbine bearings were ordered on Friday.")
        count_lexemes(project, always=True)
        events = self.events(project, member, "When were the turbnie berings ordered?")
        done = events[-1].data
        assert done["grounded"]
        assert [cited["key"] for cited in done["citations"]] == ["m1"]
        _, for_a_model, _ = call(project, member, "search", {"query": "turbnie"})
        assert for_a_model.notes == ("no text has 'turbnie': it was read as 'turbine'",)
        told = next(event for event in events if event.name == "filters").data["chips"]
        assert {chip["text"]: chip["ignore"] for chip in told} == {
            "turbnie \u2192 turbine": "turbnie",
            "berings \u2192 bearings": "berings",
        }

    def test_an_address_in_a_quote_leads_nowhere(self, project, member):
        text = "The runbook [7] is at https://evil/run ![x](https://evil/i)"
        make_node(project, "m1", text)
        count_lexemes(project, always=True)
        answer = ask(project, "Where is the runbook?", user=member)
        assert "https://evil/run" in answer.citations[0].quote
        assert "`https://evil/run`" in answer.answer
        assert "![" not in answer.answer
        assert "[7]" not in answer.answer

    def test_up_to_three_questions_follow_and_none_is_the_one_asked(
        self, project, graph, member
    ):
        count_lexemes(project, always=True)
        events = self.events(project, member, "When does Orion start?")
        (asked,) = [e.data["questions"] for e in events if e.name == "followups"]
        assert 0 < len(asked) <= 3
        assert len(set(asked)) == len(asked)

    def test_nothing_found_suggests_nothing(self, project, member):
        assert followups(Reading(project, member, "?"), []) == []
