"""RULE: never a name or a relation that the asker may not see."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from connections.models import Audience
from connections.models.tenancy import AudienceQuerySet
from graph.models import Node
from retrieval import mentions
from retrieval.frequencies import count_lexemes
from retrieval.mentions import (
    cross_reference,
    links_of,
    names_within,
    things_named,
)
from retrieval.results import GraphRelation
from tests.factories import NOON, make_audience, make_edge, make_node
from tests.plans import plan_with_only
from tests.retrieval.make_results import make_result

BY_FIRST_WORD = r"""
     WHERE n.tenant_id = 1 AND n.project_id = 1 AND n.node_type NOT IN {unnamed}
       AND substring(lower(left(n.title, 100)), '\w+') = ANY('{{redis}}')
"""


def make_thing(project, name, node_type="technology", **fields):
    return make_node(project, name, node_type=node_type, title=name, **fields)


def seen(project, user=None):
    nodes = Node.objects.all() if user is None else Node.objects.visible_to(user)
    return nodes.of(project).current()


def named(project, text, user=None):
    (things,) = things_named(project, seen(project, user), [text])
    return [thing.name for thing in things]


def refer(project, *results, user=None, factor=1.2):
    nodes = seen(project, user)
    return cross_reference(project, nodes, results, factor=factor, now=timezone.now())


def said(result):
    return {(r.source, r.relation, r.target) for r in result.graph_relations}


class TestNamesWithin:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("we use react here", ["react"]),
            ("a reaction, or preact", []),
            ("react", ["react"]),
            ("(react)", ["react"]),
            ("ann lee and ann leeward", ["ann lee"]),
            ("new york times", ["new york times"]),
            ("new york, then", ["new york"]),
            ("c++ and c+++", ["c++"]),
            ("in #general: ##general", ["#general"]),
            ("c++17", ["c++"]),
            ("", []),
        ],
    )
    def test_a_name_is_found_at_word_bounds_and_the_longest_counts(self, text, found):
        names = [
            "react",
            "ann",
            "ann lee",
            "new york",
            "new york times",
            "c++",
            "#general",
        ]
        assert [n for n in names_within(names, [text])[0] if n != "ann"] == found

    def test_no_names_are_in_no_text(self):
        assert names_within([], ["react"]) == [[]]

    @given(
        st.lists(
            st.text("ab c", min_size=1).filter(lambda n: n.strip() == n), max_size=5
        ),
        st.text("ab c", max_size=30),
    )
    def test_every_name_found_stands_there_between_bounds(self, names, text):
        words = f" {text} "
        for name in names_within(names, [text])[0]:
            assert f" {name} " in words
        whole = {n for n in names if f" {n} " in words}
        found = set(names_within(names, [text])[0])
        for missed in whole - found:
            assert any(missed in longer for longer in found)


@pytest.mark.django_db
class TestThingsNamed:
    def test_things_are_found_in_any_case_by_their_whole_name(self, project):
        for name in (
            "cursor-pagination",
            "PostgreSQL",
            "Redis Cluster",
            "RAG",
            "École X",
        ):
            make_thing(project, name)
        make_thing(project, "#general", "channel")
        make_thing(project, "Ann Lee", "person")
        text = (
            "ann  lee said in #General: Cursor-pagination, with POSTGRESQL, at éCOLE x!"
        )
        assert set(named(project, text)) == {
            "Ann Lee", "#general", "cursor-pagination", "PostgreSQL", "École X",
        }  # fmt: skip

    def test_a_bare_first_name_names_nobody(self, project):
        make_thing(project, "Ann Lee", "person")
        make_thing(project, "Bo", "person")
        assert named(project, "Ann and Bo agreed") == []

    def test_texts_containers_and_identities_are_not_named(self, project):
        for n, node_type in enumerate(mentions.UNNAMED_TYPES):
            make_node(project, f"n{n}", node_type=node_type, title="Falcon Nine")
        assert named(project, "the Falcon Nine flew") == []
        make_thing(project, "Falcon Nine", "project")
        assert named(project, "the Falcon Nine flew") == ["Falcon Nine"]

    def test_a_single_word_that_is_all_over_the_project_names_nothing(
        self, project, monkeypatch
    ):
        monkeypatch.setattr(mentions, "COMMON_LEAST", 3)
        make_thing(project, "budget", "topic")
        make_thing(project, "budget plan", "topic")
        make_thing(project, "will", "topic")
        make_thing(project, "Redis")
        for n in range(6):
            make_node(project, f"m{n}", "The budgets are late.")
        count_lexemes(project, always=True)
        text = "The budget will run out, says the budget plan on Redis."
        assert set(named(project, text)) == {"budget plan", "Redis"}

    def test_pruned_and_long_names_are_not_found(self, project):
        make_thing(project, "Redis", trashed_at=timezone.now())
        make_thing(project, "word " * 30 + "end")
        assert named(project, "redis " + "word " * 30 + "end") == []

    def test_things_named_alike_are_all_found(self, project):
        make_node(project, "a", node_type="person", title="Ann Lee")
        make_node(project, "b", node_type="person", title="ann lee")
        assert sorted(named(project, "Ann Lee")) == ["Ann Lee", "ann lee"]

    def test_each_user_is_told_the_names_they_may_see(
        self, project, other_project, member, outsider, stranger
    ):
        closed = make_audience(project, "slack:P1", [member])
        make_thing(project, "Falcon", audience=closed)
        make_thing(project, "Redis")
        make_thing(other_project, "Kestrel")
        text = "Falcon, Redis and Kestrel"
        assert (
            named(project, text) == named(project, text, member) == ["Falcon", "Redis"]
        )
        assert named(project, text, outsider) == ["Redis"]
        assert named(project, text, stranger) == []
        assert named(other_project, text) == ["Kestrel"]

    def test_any_number_of_texts_takes_one_query(
        self, project, django_assert_num_queries
    ):
        make_thing(project, "Redis")
        nodes = seen(project)
        with django_assert_num_queries(1):
            found = things_named(project, nodes, ["redis"] * 100)
        assert [[t.name for t in things] for things in found] == [["Redis"]] * 100

    @pytest.mark.parametrize("texts", [[], [""], ["?! -- \n"], ["nothing here"]])
    def test_texts_that_name_nothing(self, project, texts):
        assert things_named(project, seen(project), texts) == [()] * len(texts)
        assert things_named(project, Node.objects.none(), texts) == [()] * len(texts)

    @pytest.mark.parametrize("text", ["%s %(x)s", "{allowed}", "'; --", "\\", "a\x00b"])
    def test_odd_texts_do_no_harm(self, project, text):
        assert named(project, text.replace("\x00", "�")) == []

    def test_the_index_serves_the_look_up(self):
        conditions = BY_FIRST_WORD.format(unnamed=mentions._UNNAMED)
        plan = plan_with_only("graph_nodes_named", conditions)
        assert "substring" in plan.partition("Index Cond")[2].splitlines()[0]


@pytest.mark.django_db
class TestLinks:
    def links(self, project, node, user=None, now=None):
        nodes = seen(project, user)
        found = links_of(project, nodes, [node.pk], now or timezone.now())
        return [link.relation for link in found.get(node.pk, ())]

    def test_relations_of_both_directions_are_named_the_weightiest_first(self, project):
        agent = make_thing(project, "database-engineer", "agent")
        pg, rag = make_thing(project, "pgvector"), make_thing(project, "RAG", "pattern")
        make_edge(agent, pg, "uses", weight=1)
        make_edge(pg, rag, "used_for", weight=3)
        assert self.links(project, pg) == [
            GraphRelation("pgvector", "used_for", "RAG"),
            GraphRelation("database-engineer", "uses", "pgvector"),
        ]

    def test_relations_to_texts_are_left_out_however_many(self, project, monkeypatch):
        monkeypatch.setattr(mentions, "LOOKED_AT", 30)
        pg = make_thing(project, "pgvector")
        agent = make_thing(project, "database-engineer", "agent")
        for n in range(20):
            make_edge(make_node(project, f"m{n}", title="Re: it"), pg, "mentions")
        make_edge(agent, pg, "uses", weight=0.5)
        assert [r.relation for r in self.links(project, pg)] == ["uses"]

    def test_a_hub_gives_its_best_relations(self, project, monkeypatch):
        monkeypatch.setattr(mentions, "FAN_OUT", 2)
        pg = make_thing(project, "pgvector")
        for n in range(5):
            make_edge(make_thing(project, f"T{n}"), pg, "uses", weight=n)
        assert [r.source for r in self.links(project, pg)] == ["T4", "T3"]

    def test_what_has_ended_or_not_begun_is_not_told(self, project):
        one, two, three = (make_thing(project, f"T{n}") for n in range(3))
        day = timedelta(days=1)
        make_edge(one, two, "uses", valid_to=NOON)
        make_edge(one, three, "uses", valid_from=NOON + day)
        assert self.links(project, one, now=NOON + day / 2) == []
        assert [r.target for r in self.links(project, one, now=NOON - day)] == ["T1"]
        assert [r.target for r in self.links(project, one, now=NOON + day)] == ["T2"]

    def test_each_user_is_told_the_relations_they_may_see(
        self, project, other_project, member, outsider, stranger
    ):
        closed = make_audience(project, "slack:P1", [member])
        redis, secret = make_thing(project, "Redis"), make_thing(
            project, "Falcon", audience=closed
        )  # fmt: skip
        celery = make_thing(project, "Celery")
        public = make_audience(project)
        make_edge(secret, redis, "uses", audience=public)
        make_edge(redis, celery, "requires", audience=closed)
        make_edge(celery, redis, "recommends", audience=closed)
        make_edge(celery, redis, "depends_on", audience=public)

        def told(user):
            return {r.relation for r in self.links(project, redis, user)}

        all_four = {"uses", "requires", "recommends", "depends_on"}
        assert told(None) == told(member) == all_four
        assert told(outsider) == {"depends_on"}
        assert told(stranger) == set()
        assert self.links(project, secret, outsider) == []

    def test_any_number_of_things_takes_one_query(
        self, project, django_assert_num_queries
    ):
        things = [make_thing(project, f"T{n}") for n in range(20)]
        for thing in things[1:]:
            make_edge(thing, things[0], "uses")
        nodes = seen(project)
        with django_assert_num_queries(1):
            found = links_of(project, nodes, [t.pk for t in things], timezone.now())
        assert len(found) == 20

    def test_nothing_has_no_relations(self, project, other_project):
        thing = make_thing(other_project, "Redis")
        make_edge(thing, make_thing(other_project, "Celery"), "uses")
        assert self.links(project, thing) == []
        now = timezone.now()
        assert links_of(project, seen(project), [], now) == {}
        assert links_of(project, Node.objects.none(), [thing.pk], now) == {}


@pytest.mark.django_db
class TestCrossReference:
    @pytest.fixture
    def graph(self, project):
        agent = make_thing(project, "database-engineer", "agent")
        pg, rag = make_thing(project, "pgvector"), make_thing(project, "RAG", "pattern")
        make_edge(agent, pg, "uses")
        make_edge(pg, rag, "used_for")
        return {"agent": agent, "pgvector": pg, "RAG": rag}

    def test_a_result_that_names_things_is_boosted_once_with_all_their_relations(
        self, project, graph
    ):
        text = "The database-engineer says pgvector; yes, pgvector."
        (result,) = refer(project, make_result("m", text, relevance=1.0, score=0.5))
        assert (result.relevance, result.score) == pytest.approx((1.2, 0.6))
        assert result.cross_referenced
        assert said(result) == {
            ("database-engineer", "uses", "pgvector"),
            ("pgvector", "used_for", "RAG"),
        }
        assert len(result.graph_relations) == 2
        (again,) = refer(project, result)
        assert again.score == result.score

    def test_what_names_nothing_is_as_it_was(self, project, graph):
        results = [make_result("a", "Lunch at noon."), make_result("b")]
        assert refer(project, *results) == tuple(results)

    def test_a_node_is_not_boosted_by_its_own_name(self, project, graph):
        own = make_result(
            "pgvector", "pgvector it is", node_id=graph["pgvector"].pk, title="pgvector"
        )
        alike = make_result("x", "PGVector it is", title="Pgvector")
        for result in refer(project, own, alike):
            assert not result.cross_referenced
            assert result.score == 0.5

    def test_entities_are_its_own_name_then_its_neighbours(self, project, graph):
        (result,) = refer(
            project,
            make_result("x", node_id=graph["pgvector"].pk, title="pgvector"),
        )
        assert result.entities[0] == "pgvector"
        assert set(result.entities[1:]) == {"database-engineer", "RAG"}

    def test_names_and_relations_take_two_queries(
        self, project, graph, django_assert_num_queries
    ):
        results = [make_result(f"m{n}", "pgvector and RAG") for n in range(100)]
        nodes = seen(project)
        with django_assert_num_queries(2):
            found = cross_reference(
                project, nodes, results, factor=1.2, now=timezone.now()
            )
        assert all(result.cross_referenced for result in found)

    def check(self, project, user, hidden_is_told):
        text = "Falcon runs on Redis"
        (result,) = refer(project, make_result("m", text), user=user)
        told = {name for relation in said(result) for name in relation}
        assert ("Falcon" in told) is hidden_is_told
        assert ("hidden_by" in told) is hidden_is_told

    @pytest.fixture
    def secrets(self, project, member):
        closed = make_audience(project, "slack:P1", [member])
        falcon = make_thing(project, "Falcon", audience=closed)
        redis, celery = make_thing(project, "Redis"), make_thing(project, "Celery")
        make_edge(falcon, redis, "uses", audience=make_audience(project))
        make_edge(redis, celery, "hidden_by", audience=closed)

    def test_three_users(self, project, secrets, member, outsider, stranger):
        self.check(project, None, True)
        self.check(project, member, True)
        self.check(project, outsider, False)
        self.check(project, stranger, False)

    def test_these_checks_would_see_a_leak(
        self, project, secrets, outsider, monkeypatch
    ):
        everything = list(Audience.objects.values_list("pk", flat=True))
        monkeypatch.setattr(AudienceQuerySet, "ids_of", lambda self, user: everything)
        with pytest.raises(AssertionError):
            self.check(project, outsider, False)
