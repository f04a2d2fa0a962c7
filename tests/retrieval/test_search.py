from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from connections.models import Audience
from connections.models.tenancy import AudienceQuerySet
from connections.registry import UnknownName
from graph.embed import embed_backlog
from graph.models import Node
from retrieval.effort import effort
from retrieval.frequencies import count_lexemes
from retrieval.results import Filters
from retrieval.search import search
from tests.factories import NOON, make_audience, make_edge, make_node
from tests.worlds import QUESTION

pytestmark = pytest.mark.django_db


def index(project):
    embed_backlog(project.pk)
    count_lexemes(project, always=True)


def keys(project, query="", user=None, **filters):
    answer = search(project, query, user=user, filters=Filters(**filters))
    return [r.key for r in answer.results]


class TestVisibility:
    """Three users; what is closed answers the question best, by words and by vector."""

    def found(self, world, user):
        return {r.node_id for r in search(world.project, QUESTION, user=user).results}

    def test_each_user_finds_what_they_may_see(self, world, member, outsider, stranger):
        opened, closed, foreign = (
            {n.pk for n in nodes} for nodes in (world.open, world.closed, world.foreign)
        )
        assert len(closed) == 6
        assert self.found(world, None) == opened | closed
        assert self.found(world, member) == opened | closed
        assert self.found(world, outsider) == opened
        assert self.found(world, stranger) == set()
        assert foreign.isdisjoint(self.found(world, None))

    @pytest.mark.parametrize("arm", ["keyword", "vector"])
    def test_neither_arm_lets_anything_through(self, world, member, outsider, arm):
        closed = {n.pk for n in world.closed}

        def by_arm(user):
            answer = search(world.project, QUESTION, user=user)
            return [r.node_id for r in answer.results if arm in r.contributions], answer

        allowed, _ = by_arm(member)
        assert len(closed & set(allowed)) >= 6
        found, answer = by_arm(outsider)
        assert len(found) >= 6
        assert closed.isdisjoint(found)
        assert answer.arms[arm] == 6, "the count is of what the user may see"

    def test_the_most_recent_are_those_a_user_may_see(self, world, outsider, stranger):
        recent = search(world.project, "", user=outsider).results
        assert {r.node_id for r in recent} == {n.pk for n in world.open}
        assert search(world.project, "", user=stranger).results == ()

    def test_these_checks_would_see_a_leak(
        self, world, member, outsider, stranger, monkeypatch
    ):
        everything = list(Audience.objects.values_list("pk", flat=True))
        monkeypatch.setattr(AudienceQuerySet, "ids_of", lambda self, user: everything)
        with pytest.raises(AssertionError):
            self.test_each_user_finds_what_they_may_see(
                world, member, outsider, stranger
            )
        for arm in ("keyword", "vector"):
            with pytest.raises(AssertionError):
                self.test_neither_arm_lets_anything_through(
                    world, member, outsider, arm
                )

    def test_a_filter_by_person_does_not_tell_of_a_hidden_edge(
        self, project, member, outsider
    ):
        closed = make_audience(project, "slack:P1", [member])
        ann = make_node(project, "identity:a", node_type="person", title="Ann Lee")
        make_edge(make_node(project, "m", "words"), ann, audience=closed)
        assert keys(project, user=member, people=("Ann Lee",)) == ["m"]
        assert keys(project, user=outsider, people=("Ann Lee",)) == []

    def test_a_part_does_not_tell_of_a_whole_that_is_hidden(
        self, project, member, outsider
    ):
        closed = make_audience(project, "c", [member])
        make_node(
            project, "file:a.md", node_type="file", title="Secret", audience=closed
        )
        make_node(project, "file:a.md#0", "words", node_type="section")
        for user, title in ((member, "Secret"), (outsider, "")):
            (result,) = search(project, "", user=user).results
            assert result.title == title


class TestFilters:
    @pytest.fixture
    def corpus(self, project):
        make_node(
            project, "old", "pump", occurred_at=NOON - timedelta(days=9), tags=["ops"]
        )
        make_node(project, "new", "pump", occurred_at=NOON, node_type="email")
        make_node(project, "undated", "pump")
        make_node(project, "thread", title="pump", node_type="thread")
        index(project)

    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ({}, {"old", "new", "undated"}),
            ({"types": ("email",)}, {"new"}),
            ({"types": ("thread",)}, {"thread"}),
            ({"tags": ("OPS",)}, {"old"}),
            ({"since": NOON}, {"new"}),
            ({"until": NOON}, {"old"}),
            ({"sources": ("slack",)}, {"old", "new", "undated"}),
            ({"sources": ("mail",)}, set()),
            ({"people": ("nobody",)}, set()),
        ],
    )
    @pytest.mark.parametrize("query", ["", "pump"])
    def test_a_filter_keeps_to_it(self, project, corpus, filters, found, query):
        assert set(keys(project, query, **filters)) == found

    def test_people_are_known_by_name_key_or_identity(self, project):
        from graph.models import Identity

        account = make_node(project, "slack-user:U1", node_type="account")
        ann = make_node(
            project, "identity:slack-user:U1", node_type="person", title="Ann Lee"
        )
        Identity.objects.create(
            tenant_id=project.tenant_id,
            project=project,
            node=account,
            person=ann,
            key="slack-user:U1",
            side="chat",
        )
        make_edge(make_node(project, "m", "words"), ann, "sent_by")
        make_node(project, "other", "words")
        for person in ("ann lee", "identity:slack-user:U1", "slack-user:U1"):
            assert keys(project, people=(person,)) == ["m"]

    def test_what_has_ended_is_found_only_as_of_a_time_it_held(self, project):
        day = datetime(2026, 1, 1, tzinfo=UTC)
        make_node(project, "was", "pump", valid_to=day)
        index(project)
        assert keys(project, "pump") == []
        assert keys(project, "pump", as_of=day - timedelta(days=1)) == ["was"]

    def test_what_was_pruned_is_found_by_no_query(self, project):
        make_node(project, "pruned", "pump", trashed_at=timezone.now())
        index(project)
        assert keys(project, "pump") == keys(project, "") == []

    def test_what_vanished_at_the_source_is_found_and_said_to_be_gone(self, project):
        make_node(project, "gone", "pump", gone_at=timezone.now())
        index(project)
        (result,) = search(project, "pump", user=None).results
        assert result.is_gone


class TestAnswers:
    def test_parts_of_a_file_are_folded_into_one_result_that_names_the_best(
        self, project
    ):
        make_node(project, "file:a.md", node_type="file", title="Plan", tags=["x"])
        for n, text in enumerate(("About lunch.", "The pump failed.", "The pump.")):
            make_node(
                project, f"file:a.md#{n}", text, node_type="section", title=f"S{n}"
            )
        index(project)
        (result,) = search(project, "why the pump failed", user=None).results
        assert (result.key, result.title, result.text) == (
            "file:a.md",
            "Plan",
            "The pump failed.",
        )
        assert result.metadata["part"] == "file:a.md#1"
        assert result.tags == ("x",)

    def test_an_empty_query_gives_the_most_recent_first(self, project):
        for n in (2, 0, 1):
            make_node(project, f"m{n}", "x", occurred_at=NOON + timedelta(days=n))
        make_node(project, "undated", "x")
        answer = search(project, "  ", user=None, limit=3)
        assert [r.key for r in answer.results] == ["m2", "m1", "m0"]
        assert answer.arms == {"recent": 4}

    def test_a_result_says_which_arm_found_it_and_how_stale_it_is(self, project):
        make_node(
            project,
            "m",
            "The pump failed",
            occurred_at=timezone.now() - timedelta(days=100),
        )
        index(project)
        answer = search(project, "pump", user=None)
        (result,) = answer.results
        assert {a: c.rank for a, c in result.contributions.items()} == {
            "keyword": 1,
            "vector": 1,
            "walk": 1,
        }
        assert (result.relevance, result.recency, result.authority) == (1.0, 0.1, 1.1)
        assert (result.stale.is_stale, result.stale.days, result.stale.threshold) == (
            True,
            100,
            90,
        )
        json = answer.as_json()
        assert json["total_results"] == 1
        each = {"keyword": 1, "vector": 1, "walk": 1}
        assert json["lambda"] == effort(arms=each, hops=3) == 8
        assert set(json) == {
            "query",
            "parsed",
            "profile",
            "total_results",
            "sources",
            "arms",
            "dropped",
            "reranked_by",
            "timings",
            "took_ms",
            "lambda",
            "results",
        }
        assert json["results"][0]["id"] == "graph:m"

    def test_an_unknown_profile_is_refused_with_those_there_are(self, project):
        with pytest.raises(UnknownName, match=r"no profile 'x'.*default"):
            search(project, "pump", user=None, profile="x")

    @pytest.mark.parametrize(
        "query", ["\x00", "a" * 10_000, "%s", "'; DROP TABLE x", "-"]
    )
    def test_odd_queries_do_no_harm(self, project, query):
        make_node(project, "m", "words")
        assert isinstance(search(project, query, user=None).results, tuple)
        assert Node.objects.of(project).count() == 1

    def test_the_number_of_queries_does_not_grow_with_the_results(
        self, project, member, django_assert_max_num_queries
    ):
        for n in range(30):
            make_node(project, f"file:{n}.md", node_type="file")
            make_node(project, f"file:{n}.md#0", f"pump {n}", node_type="section")
        index(project)
        with django_assert_max_num_queries(27):
            answer = search(project, "pump", user=member)
        assert len(answer.results) == 20
