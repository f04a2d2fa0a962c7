from __future__ import annotations

import pytest

from connections.models import Audience
from connections.models.tenancy import AudienceQuerySet
from retrieval.samples import sample_questions
from tests.factories import NOON, make_audience, make_edge, make_node

pytestmark = pytest.mark.django_db
ASKED = "Who has the key of the server room?"
SECRET = "Who will be let go in the spring?"


def make_answered(project, question, audience=None, **fields):
    asked = make_node(project, f"q:{question}", question, audience=audience)
    answer = make_node(project, f"a:{question}", "I do.", audience=audience)
    make_edge(
        answer, asked, "replied_to", audience=audience, occurred_at=NOON, **fields
    )


def test_what_the_staff_wrote_down_comes_first(project, member):
    make_answered(project, ASKED)
    project.sample_questions = ["One?", "Two?"]
    assert sample_questions(project, member, 3) == ["One?", "Two?", ASKED]
    assert sample_questions(project, member, 1) == ["One?"]


def test_questions_that_somebody_answered_are_offered(project, member):
    make_answered(project, f"Good morning all. {ASKED}")
    make_answered(project, "Why?")
    make_node(project, "lonely", "Is there anybody out there at all?")
    assert sample_questions(project, member) == [ASKED]


def test_without_any_there_are_questions_about_the_latest_titles(project, member):
    make_node(project, "m", node_type="meeting", title="Weekly sync")
    make_node(project, "s", node_type="section", title="Leave policy")
    make_node(project, "f", node_type="file", title="Not asked about")
    assert set(sample_questions(project, member)) == {
        "What was said in Weekly sync?",
        "What does “Leave policy” say?",
    }


def test_an_empty_project_offers_nothing(project, member):
    assert sample_questions(project, member) == []


def check(project, member, outsider, stranger):
    assert sample_questions(project, member) == [SECRET, "What was said in Closed?"]
    assert sample_questions(project, outsider) == []
    assert sample_questions(project, stranger) == []


@pytest.fixture
def closed(project, member):
    audience = make_audience(project, "slack:P1", [member])
    make_answered(project, SECRET, audience)
    make_node(project, "m", node_type="meeting", title="Closed", audience=audience)


def test_nobody_is_offered_what_they_may_not_see(
    project, closed, member, outsider, stranger
):
    check(project, member, outsider, stranger)


def test_this_check_would_see_a_leak(
    project, closed, member, outsider, stranger, monkeypatch
):
    everything = list(Audience.objects.values_list("pk", flat=True))
    monkeypatch.setattr(AudienceQuerySet, "ids_of", lambda self, user: everything)
    with pytest.raises(AssertionError):
        check(project, member, outsider, stranger)
