"""A model proposes what texts say: asked once for the same words, and checked."""

from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from connections.models import ModelUsage
from connections.providers.chat import ModelUnavailable
from graph.asking import ask_about, estimate
from graph.extract import Entity, Extraction, Relation
from graph.extraction import extract_texts
from graph.models import Edge, ExtractionAnswer, Node
from graph.proposals import accept
from graph.tasks import ask_about_texts
from tests.connections.model_server import BUSY, ModelServer, settings_for
from tests.factories import draft_account, draft_channel, draft_message, take_in

TEXT = "Ask the gatekeeper about Frobnicator 9, which the gatekeeper runs on Redis."
PROPOSED = {
    "entities": [
        {"name": "gatekeeper", "type": "agent"},
        {"name": "frobnicator 9", "type": "technology"},
        {"name": "Unheard-Of", "type": "technology"},
        {"name": "redis", "type": "agent"},
    ],
    "relations": [
        {"from": "Frobnicator 9", "relation": "depends_on", "to": "Redis"},
        {"from": "Unheard-Of", "relation": "uses", "to": "Redis"},
    ],
}

pytestmark = pytest.mark.django_db


@pytest.fixture
def server():
    with ModelServer() as server:
        server.reply = answer
        yield server


@pytest.fixture(autouse=True, params=["anthropic", "openai"])
def _asking(request, server, settings):
    settings.FABRIC = settings.FABRIC | settings_for(server, request.param)


def texts_of(user):
    """Return the texts in a request, by their ids."""
    found = re.findall(r'\{"id": (\d+)\}\n(\[\w+\])\n(.*?)\n\2', user, re.DOTALL)
    return {int(n): text for n, _, text in found}


def answer(user):
    nothing = {"entities": [], "relations": []}
    return json.dumps(
        {
            "texts": [
                {"id": n, **(PROPOSED if "Frobnicator" in text else nothing)}
                for n, text in texts_of(user).items()
            ]
        }
    )


def read(project, *texts):
    take_in(
        project,
        draft_account(),
        draft_channel(),
        *(draft_message(f"{n}.000001", text) for n, text in enumerate(texts, 1)),
    )


def named(project):
    found = Node.objects.of(project).filter(origin="extraction", valid_to=None)
    return set(found.values_list("key", "node_type"))


def test_what_a_model_proposes_and_the_text_holds_is_in_the_graph(project, server):
    read(project, TEXT)
    assert named(project) == {("Redis", "technology")}
    asked = ask_about(project)
    assert (asked.texts, asked.failed, asked.dropped) == (1, 0, 2)
    assert (asked.tokens_read, asked.tokens_written) == (11, 7)
    assert named(project) == {
        ("Redis", "technology"),
        ("gatekeeper", "agent"),
        ("frobnicator 9", "technology"),
    }
    edge = Edge.objects.get(relation="depends_on")
    assert (edge.source.key, edge.target.key) == ("frobnicator 9", "Redis")
    assert edge.evidence.get().quote == TEXT


def test_the_same_words_are_asked_about_once(project, server):
    read(project, TEXT, TEXT, "thanks!")
    ask_about(project)
    ask_about(project)
    read(project, TEXT, TEXT, "thanks!", f"{TEXT}")
    assert ask_about(project).texts == 0
    assert len(server.asked) == 1
    assert Node.objects.get(key="gatekeeper").evidence.count() == 3


def test_texts_are_asked_about_in_batches_each_between_marks(project, server):
    read(
        project,
        *(f"A long enough message about nothing, number {n}" for n in range(45)),
    )
    ask_about(project)
    sizes = sorted(len(texts_of(a["messages"][-1]["content"])) for a in server.asked)
    assert sizes == [5, 20, 20]


@pytest.mark.parametrize("said", ["no JSON", '{"texts": [{"id": 0}]}', "[]"])
def test_a_bad_answer_costs_only_the_text_it_is_about(project, server, said):
    poison = "A message that makes the model say what it should not say."
    server.reply = lambda user: said if poison in user else answer(user)
    read(
        project, TEXT, poison, "Another message that is long enough to be asked about."
    )
    asked = ask_about(project)
    assert (asked.texts, asked.failed) == (3, 1)
    assert ("gatekeeper", "agent") in named(project)
    count = len(server.asked)
    ask_about(project)
    assert len(server.asked) == count
    assert ExtractionAnswer.objects.exclude(error="").count() == 1


def test_a_model_that_cannot_be_reached_loses_nothing(project, server):
    read(project, *(f"{TEXT} This is message number {n}." for n in range(25)))
    server.faults = []
    real = server.answer
    server.answer = lambda path, body: (
        setattr(server, "faults", [(529, BUSY)] * 9) or real(path, body)
    )
    with pytest.raises(ModelUnavailable):
        ask_about(project)
    assert ExtractionAnswer.objects.count() == 20
    assert Node.objects.get(key="gatekeeper").evidence.count() == 20
    server.faults, server.answer = [], real
    assert ask_about(project).texts == 5


def test_without_a_model_again_only_the_rules_hold(project, server, settings):
    read(project, TEXT)
    ask_about(project)
    settings.FABRIC = settings.FABRIC | {"EXTRACTION": "rules"}
    ask_about_texts(project.pk)
    extract_texts(project)
    assert named(project) == {("Redis", "technology")}
    assert len(server.asked) == 1


def test_an_estimate_asks_nobody(project, server, settings):
    settings.FABRIC = settings.FABRIC | {"EXTRACTION_PRICE": "1/5"}
    read(project, TEXT, "thanks!")
    found = estimate(project)
    assert (found.texts, found.characters, found.requests) == (1, len(TEXT), 1)
    assert found.dollars == pytest.approx(
        (found.tokens_read + 5 * found.tokens_written) / 1e6
    )
    out = StringIO()
    call_command("extract", "--project", "acme/main", "--dry-run", stdout=out)
    assert "texts 1, characters 75" in out.getvalue()
    assert server.asked == []


def test_what_it_cost_is_counted_for_the_project(project, server, settings):
    read(project, TEXT)
    ask_about(project)
    (usage,) = ModelUsage.objects.filter(project=project)
    assert (usage.purpose, usage.requests) == ("extraction", 1)
    assert (usage.tokens_read, usage.tokens_written) == (11, 7)


def test_the_command_says_what_it_did_and_what_it_could_not(project, server, settings):
    read(project, TEXT)
    out = StringIO()
    call_command(
        "extract", "--project", "acme/main", "--no-progress", "--json", stdout=out
    )
    assert json.loads(out.getvalue())["texts"] == 1
    settings.FABRIC = settings.FABRIC | {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}
    read(project, TEXT, f"{TEXT} More.")
    with pytest.raises(CommandError, match="_API_KEY"):
        call_command("extract", "--project", "acme/main", "--no-progress")


class TestAccept:
    def test_names_have_to_stand_in_the_text_and_keep_their_listed_type(self):
        found = Extraction()
        assert accept(PROPOSED, TEXT, found) == 2
        assert list(found.entities) == [
            Entity("gatekeeper", "agent"),
            Entity("frobnicator 9", "technology"),
            Entity("Redis", "technology"),
        ]
        assert list(found.relations) == [
            Relation(
                Entity("frobnicator 9", "technology"),
                "depends_on",
                Entity("Redis", "technology"),
            )
        ]

    @pytest.mark.parametrize(
        "proposed",
        [
            {"entities": [{"name": "gate", "type": "agent"}]},
            {"entities": [{"name": "gatekeeper", "type": "person"}]},
            {"entities": [{"name": "", "type": "agent"}]},
            {"entities": [{"name": "We decided otherwise.", "type": "decision"}]},
            {"entities": [{"name": " ".join(TEXT.split()[:8]), "type": "agent"}]},
            {"relations": [{"from": "Redis", "relation": "uses", "to": "Redis"}]},
            {"entities": [{}], "relations": []},
        ],
    )
    def test_what_does_not_hold_is_dropped_and_counted(self, proposed):
        found = Extraction()
        assert accept(proposed, TEXT, found) == 1
        assert (found.entities, found.relations) == ({}, {})

    @pytest.mark.parametrize("proposed", [{}, {"entities": "x"}, {"entities": ["x"]}])
    def test_what_is_no_proposal_adds_nothing(self, proposed):
        found = Extraction()
        assert accept(proposed, TEXT, found) == 0
        assert found.entities == {}

    def test_a_claim_is_the_sentence_of_the_text(self):
        text = "Hello.\nLet us  go with the blue one. Bye."
        found = Extraction()
        claim = {"name": "Let us go with the blue one.", "type": "decision"}
        assert accept({"entities": [claim]}, text, found) == 0
        ((entity, proof),) = found.entities.items()
        assert entity == Entity("Let us go with the blue one.", "decision")
        assert text[proof.start : proof.end] == proof.quote
