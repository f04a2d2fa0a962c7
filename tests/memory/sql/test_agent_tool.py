from __future__ import annotations

import pytest

from connections.models import DatabaseQuery
from graph.embed import embed_backlog
from memory.agent import run as agent_run
from memory.agent.offline import NO_DATA
from memory.agent.run import Asked, run
from memory.agent.tools import Reading, call_tool
from memory.ask import ask as answer_of
from memory.conversations import load_answer
from memory.models import Turn, TurnTable, VerifiedExample
from memory.sql import asking, choosing, tables
from memory.sql.charts import Chart
from memory.sql.context import table_key
from retrieval.frequencies import count_lexemes
from tests.factories import make_node
from tests.memory.agent.models import ScriptedModel, calls, says
from tests.memory.sql.conftest import JOINED, TOP, Translation, describe
from tests.targets import make_database

pytestmark = pytest.mark.django_db
TOP_ASKED = "top 3 customers by revenue"
HOW_MANY = "How many orders are there?"


@pytest.fixture(autouse=True)
def _known(translator):
    translator.known[TOP_ASKED] = Translation(TOP, reading="Customers by revenue")
    translator.known[HOW_MANY] = Translation("SELECT count(*) AS count FROM orders")


@pytest.fixture
def table_node(shop, project, audience):
    key = table_key(shop, "public.customers")
    return make_node(
        project, key, "Companies that buy", title="customers", node_type="db_table",
        audience=audience,
    )  # fmt: skip


def ask(project, user, question, **options):
    asked = Asked(project=project, user=user, question=question, **options)
    return list(run(asked, stop=lambda: False))


def data(events, name):
    return [event.data for event in events if event.name == name]


class TestWithoutAModel:
    def test_a_count_is_one_sentence_with_its_number_and_a_citation(
        self, project, shop, member
    ):
        events = ask(project, member, HOW_MANY)
        done = data(events, "done")[0]
        assert done["answer"].startswith("12 orders [1].")
        assert "Read as: As it was asked." in done["answer"]
        assert done["grounded"]
        (cited,) = done["citations"]
        assert cited["key"] == "db_table:shop:public.orders"
        assert cited["quote"] == "count: 12"
        (sql,) = done["sql"]
        assert data(events, "sql") == [sql]
        assert sql["connection"] == "shop"
        assert sql["columns"] == [{"name": "count", "family": "number"}]
        assert (sql["rows"], sql["row_count"], sql["truncated"]) == ([[12]], 1, False)
        assert set(sql) >= {"sql", "took_ms", "reading", "assumptions", "tables"}
        names = [event.name for event in events]
        assert names.index("sql") < names.index("delta")

    def test_each_row_that_is_told_is_cited_by_its_table_in_its_own_words(
        self, project, shop, member, table_node
    ):
        done = data(ask(project, member, TOP_ASKED), "done")[0]
        assert done["answer"].startswith(
            "Top 3 customers by revenue: Larkmoor Seafood (12,400.00) [1]; Penhallow"
            " Dairies (9,300.50) [2]; Northern Foods (810.00) [3]."
        )
        assert [one["quote"] for one in done["citations"]] == [
            "name: Larkmoor Seafood; revenue: 12,400.00",
            "name: Penhallow Dairies; revenue: 9,300.50",
            "name: Northern Foods; revenue: 810.00",
        ]
        assert {one["node_id"] for one in done["citations"]} == {table_node.pk}

    def test_the_table_is_stored_with_the_turn_and_read_back_as_it_was(
        self, project, shop, member
    ):
        done = data(ask(project, member, TOP_ASKED), "done")[0]
        turn = Turn.objects.get()
        assert load_answer(turn).as_json() == done
        stored = TurnTable.objects.get()
        assert stored.rows[0] == ["Larkmoor Seafood", "12400.00"]
        query = DatabaseQuery.objects.get()
        assert stored.query == query
        assert (query.user, query.shown_in) == (member, f"turn:{turn.pk}")

    def test_who_may_not_ask_the_database_gets_no_row_and_no_sign_of_it(
        self, project, other_project, shop, outsider, stranger
    ):
        for user in (outsider, stranger):
            answer = answer_of(project, TOP_ASKED, user=user)
            assert answer.tables == ()
            assert answer.answer == NO_DATA
            assert [call.name for call in answer.calls] == ["search"]
        assert not DatabaseQuery.objects.exists()

    def test_a_question_that_texts_answer_better_asks_no_database(
        self, project, shop, member, translator
    ):
        asked = "Why did the pump of line 4 fail?"
        make_node(project, "m1", "The pump of line 4 failed: its seal was dry.")
        embed_backlog(project.pk)
        count_lexemes(project, always=True)
        translator.known[asked] = Translation("SELECT 1 AS n", confidence=0.6)
        answer = answer_of(project, asked, user=member)
        assert "seal was dry" in answer.answer
        assert answer.tables == ()
        translator.known[asked] = Translation(TOP, confidence=0.3)
        assert answer_of(project, asked, user=member).tables == ()

    def test_a_database_that_gives_no_answer_is_said_to(
        self, project, shop, member, translator
    ):
        translator.known["q of orders"] = Translation("SELECT x FROM orders")
        answer = answer_of(project, "q of orders", user=member)
        assert "The database was asked too, and gave no answer." in answer.answer
        assert answer.calls[-1].error
        assert not answer.grounded

    def test_an_example_of_the_same_question_is_enough_to_ask(
        self, project, shop, member
    ):
        VerifiedExample.objects.create(
            database=shop, question="Our whales?", sql=TOP, state="active"
        )
        assert answer_of(project, "our whales", user=member).tables[0].row_count == 3

    def test_names_in_rows_cannot_pass_for_citations_or_links(
        self, project, shop, member, postgres_target, translator
    ):
        translator.known["evil"] = Translation(
            "SELECT 'See [1] at https://evil.test' AS name, revenue FROM customers"
            " ORDER BY revenue"
        )
        done = data(ask(project, member, "evil"), "done")[0]
        assert "[1] at" not in done["answer"]
        assert "See (1) at `https://evil.test`" in done["answer"]


class TestOneAnswerFromBoth:
    def test_each_row_is_listed_with_its_threads_and_both_are_cited(
        self,
        project,
        shop,
        talk,
        member,
        table_node,
    ):
        done = data(ask(project, member, JOINED), "done")[0]
        cited = {one["n"]: one for one in done["citations"]}
        lines = done["answer"].splitlines()
        row = next(n for n, line in enumerate(lines) if "Larkmoor" in line)
        assert lines[row].startswith("- name: Larkmoor Seafood; revenue: 12,400.00 [")
        thread = lines[row + 1]
        assert "The alarm of Larkmoor Seafood rang at four." in thread
        keys = [cited[int(line.rsplit("[")[-1].split("]")[0])]["key"]
                for line in lines[row : row + 2]]  # fmt: skip
        assert keys == ["db_table:shop:public.customers", "m1"]
        assert "Nothing that you may see there mentions it." in done["answer"]
        assert done["grounded"]
        assert len(done["sql"]) == 1

    def test_others_see_only_the_threads_that_are_open_to_them(
        self,
        project,
        shop,
        talk,
        member,
        outsider,
    ):
        shop.audience.members.create(user=outsider)
        theirs = answer_of(project, JOINED, user=outsider).answer
        assert "wet probes" in theirs
        assert "leave us" not in theirs
        assert "leave us" in answer_of(project, JOINED, user=member).answer


class TestWithAModel:
    @pytest.fixture
    def use(self, monkeypatch):
        def put(model):
            monkeypatch.setattr(
                agent_run, "model_for", lambda project, purpose="chat": model
            )
            # The statement itself is written by rules here.
            monkeypatch.setattr(asking, "model_for", lambda project: None)
            return model

        return put

    def test_it_asks_reads_the_rows_and_cites_them(self, project, shop, member, use):
        model = use(
            ScriptedModel(
                [
                    calls("ask_database", {"question": TOP_ASKED}),
                    says("The largest customer is Larkmoor Seafood with 12400.00 [1]."),
                ]
            )
        )
        done = data(ask(project, member, "Who is our largest customer?"), "done")[0]
        assert [call["name"] for call in done["calls"]] == ["search", "ask_database"]
        assert done["citations"][0]["key"] == "db_table:shop:public.customers"
        assert done["grounded"]
        assert done["sql"][0]["row_count"] == 3
        told = model.asked[1][-1].text
        assert "12,400.00" in told
        assert "SELECT" in told
        assert "ask_database" in [tool.name for tool in model.offered[0]]

    def test_a_model_reads_twenty_rows_at_most_and_the_browser_gets_all(
        self, project, shop, member, use, translator
    ):
        translator.known["all"] = Translation(
            "SELECT a.id AS a, b.id AS b FROM orders a CROSS JOIN orders b"
            " WHERE a.id <= b.id ORDER BY a.id, b.id"
        )
        model = use(
            ScriptedModel([calls("ask_database", {"question": "all"}), says("Many.")])
        )
        done = data(ask(project, member, "all"), "done")[0]
        assert len(done["sql"][0]["rows"]) == 78
        told = model.asked[1][-1].text
        assert told.count("Source ") == 20
        assert "It gave 78 rows; 20 of them are sources here." in told

    def test_a_refusal_is_an_error_of_the_call_and_stands_on_the_page(
        self, project, shop, member, use, translator
    ):
        translator.known["bad"] = Translation("DROP TABLE orders")
        model = use(
            ScriptedModel([calls("ask_database", {"question": "bad"}), says("Sorry.")])
        )
        done = data(ask(project, member, "Drop it"), "done")[0]
        assert done["calls"][1]["error"].startswith("shop: ")
        assert "The call failed." in model.asked[1][-1].text
        assert DatabaseQuery.objects.get().verdict == "refused"


class TestWhichDatabase:
    """What a model names may come from a text: the person's own words decide."""

    @pytest.fixture
    def payroll(self, project, postgres_target, audience):
        made = make_database(
            project, postgres_target, name="payroll", audience=audience
        )
        describe(made, "salaries", {"person": {}, "amount": {}})
        return made

    def call(self, project, user, question, **arguments):
        reading = Reading(project, user, question)
        return call_tool(reading, "ask_database", {"question": TOP_ASKED, **arguments})

    def test_a_document_s_choice_is_not_followed(self, project, shop, payroll, member):
        call, _ = self.call(
            project, member, "Who are our customers?", database="payroll"
        )
        assert "does not follow from the question" in call.error
        call, told = self.call(project, member, "Who are our customers?")
        assert (call.error, told.count) == ("", 3)

    def test_the_person_s_choice_is(self, project, shop, payroll, member, translator):
        translator.known.clear()
        asked = "Who earns most, says the payroll database?"
        call, _ = self.call(project, member, asked, database="payroll")
        assert call.error == "payroll: Nothing of this schema is meant by that."

    def test_where_nothing_tells_it_asks_the_person(
        self, project, shop, payroll, member
    ):
        call, _ = self.call(project, member, "Go on.")
        assert "payroll, shop" in call.error

    def test_only_databases_of_the_asker_exist(
        self, project, shop, member, outsider, stranger
    ):
        for user in (outsider, stranger):
            call, told = self.call(project, user, TOP_ASKED, database="shop")
            assert "no database here" in call.error
            assert told.count == 0
        call, _ = self.call(project, member, TOP_ASKED, database="other")
        assert "There is no database 'other'; there are: shop." in call.error


def test_a_chart_is_told_where_one_fits(project, shop, member, monkeypatch):
    monkeypatch.setattr(tables, "chart_of", lambda rows: Chart(kind="bar", x=0, y=(1,)))
    events = ask(project, member, TOP_ASKED)
    assert data(events, "chart") == [{"place": 0, "kind": "bar", "x": 0, "y": [1]}]
    assert TurnTable.objects.get().chart == {"kind": "bar", "x": 0, "y": [1]}


def test_no_database_means_no_more_work_for_a_question(
    project, member, django_assert_max_num_queries
):
    with django_assert_max_num_queries(3):
        assert choosing.worth_asking("How many?", project, member, beside=0.0) is None
