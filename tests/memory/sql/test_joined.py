from __future__ import annotations

import time

import pytest

from connections.databases.base import Rows
from connections.databases.snapshot import schema_of
from connections.models import DatabaseQuery
from memory.sql.answered import Answered, Unanswered
from memory.sql.binding import kept_to_names
from memory.sql.joined import NO_COLUMN, NO_NAMES, ask_both
from memory.sql.mentions import mentions
from memory.sql.splitting import split
from retrieval.results import Filters
from tests.memory.sql.conftest import JOINED, TOP, Translation, say

pytestmark = pytest.mark.django_db
NAMES = ["Larkmoor Seafood", "Penhallow Dairies", "Northern Foods"]
IN_SUPPORT = Filters(types=("message",), channels=("support",))


def keys(found):
    return {name: [one.node.key for one in said] for name, said in found.items()}


class TestMentions:
    def test_each_thread_is_told_by_its_first_message_in_the_channel_asked_for(
        self, project, talk, outsider
    ):
        found = mentions(project, outsider, NAMES, IN_SUPPORT)
        assert keys(found) == {
            "Larkmoor Seafood": ["m1"],
            "Penhallow Dairies": ["m3"],
            "Northern Foods": [],
        }
        (said,) = found["Penhallow Dairies"]
        assert said.quote == "Penhallow has wet probes."

    def test_what_is_closed_to_a_person_is_read_for_nobody_but_its_audience(
        self, project, other_project, talk, member, outsider, stranger
    ):
        assert keys(mentions(project, member, NAMES, IN_SUPPORT))[NAMES[1]] == [
            "m6",
            "m3",
        ]
        assert keys(mentions(project, outsider, NAMES, IN_SUPPORT))[NAMES[1]] == ["m3"]
        assert set(map(tuple, keys(mentions(
            project, stranger, NAMES, IN_SUPPORT)).values())) == {()}  # fmt: skip
        theirs = keys(mentions(other_project, stranger, NAMES, IN_SUPPORT))
        assert theirs[NAMES[0]] == ["m7"]

    def test_fifty_names_cost_as_many_statements_as_one(
        self, project, talk, member, django_assert_num_queries
    ):
        counts = []
        for names in (NAMES[:1], [*NAMES, *(f"Company {n}" for n in range(47))]):
            with django_assert_num_queries(7) as seen:
                mentions(project, member, names, IN_SUPPORT)
            counts.append(len(seen))
        assert counts[0] == counts[1]

    def test_a_name_is_its_words_beside_each_other_and_no_stem_of_them(
        self, project, talk, member
    ):
        say(project, "n1", "Seafood by Larkmoor.", channel=talk)
        say(project, "n2", "The volta rivers flow.", channel=talk)
        say(project, "n3", "VOLTA  RIVER called.", channel=talk)
        found = keys(mentions(project, member, ["Volta River"], IN_SUPPORT))
        assert found == {"Volta River": ["n3"]}

    def test_a_first_word_that_two_names_share_stands_for_neither(
        self, project, talk, member
    ):
        say(project, "n1", "Larkmoor called.", channel=talk)
        both = ["Larkmoor Seafood", "Larkmoor Meats"]
        found = keys(mentions(project, member, both, IN_SUPPORT))
        assert found == {"Larkmoor Seafood": ["m1"], "Larkmoor Meats": []}

    def test_no_names_cost_nothing(self, project, member, django_assert_num_queries):
        with django_assert_num_queries(0):
            assert mentions(project, member, [" ", ""], Filters()) == {}

    def test_fifty_names_in_thousands_of_messages_take_less_than_two_seconds(
        self, project, talk, member
    ):
        for n in range(400):
            say(
                project, f"many{n}", f"Company {n % 50} called about {n}.", channel=talk
            )
        began = time.perf_counter()
        found = mentions(
            project, member, [f"Company {n}" for n in range(50)], IN_SUPPORT
        )
        assert time.perf_counter() - began < 2
        assert all(len(said) == 3 for said in found.values())


class TestRowsFirst:
    @pytest.fixture
    def ask(self, shop, project, member, translator):
        translator.known["top 3 customers by revenue"] = Translation(TOP)

        def put(user=member, question=JOINED):
            return ask_both(shop, split(question), user=user, project=project)

        return put

    def test_each_row_comes_with_the_threads_that_name_it(self, ask, talk, member):
        joined = ask()
        assert isinstance(joined.answer, Answered)
        assert joined.looked
        said = {
            place: [one.node.key for one in found]
            for place, found in joined.mentions.items()
        }
        assert said == {0: ["m1"], 1: ["m6", "m3"], 2: []}

    def test_who_may_not_ask_the_database_gets_neither_rows_nor_threads(
        self, ask, talk, outsider, stranger
    ):
        for user in (outsider, stranger):
            joined = ask(user)
            assert isinstance(joined.answer, Unanswered)
            assert not joined.mentions

    def test_a_question_of_rows_alone_looks_for_no_texts(self, ask, talk):
        joined = ask(question="top 3 customers by revenue")
        assert not joined.looked
        assert joined.mentions == {}


class TestNamesFirst:
    ASKED = "What is the revenue of the customers mentioned in #support?"
    SQL = "SELECT c.name, c.revenue FROM customers c ORDER BY c.name"

    @pytest.fixture
    def ask(self, shop, project, translator):
        translator.known["What is the revenue of the customers?"] = Translation(
            self.SQL
        )

        def put(user, question=self.ASKED):
            return ask_both(shop, split(question), user=user, project=project)

        return put

    def test_names_in_texts_are_bound_and_no_part_of_any_statement(
        self, ask, talk, member
    ):
        joined = ask(member)
        assert isinstance(joined.answer, Answered)
        found = [row[0] for row in joined.answer.rows.rows]
        assert found == ["Larkmoor Seafood", "Penhallow Dairies"]
        assert [one.node.key for one in joined.mentions[0]] == ["m1"]
        for row in DatabaseQuery.objects.all():
            for text in (row.asked_sql, row.sent_sql):
                assert "Larkmoor" not in text
        assert DatabaseQuery.objects.count() == 2

    def test_a_text_that_would_be_sql_is_only_a_value(
        self, ask, talk, project, member, postgres_target
    ):
        say(project, "evil", "Robert'); DROP TABLE orders;-- Students' OR 'A'='A",
            channel=talk)  # fmt: skip
        joined = ask(member)
        assert len(joined.answer.rows.rows) == 2
        with postgres_target.admin() as connection:
            assert connection.execute("SELECT count(*) FROM orders").fetchone() == (12,)

    def test_only_texts_that_the_asker_may_see_give_names(
        self, ask, talk, shop, outsider, member
    ):
        shop.audience.members.create(user=outsider)
        joined = ask(outsider)
        assert [row[0] for row in joined.answer.rows.rows] == ["Larkmoor Seafood"]

    def test_without_texts_or_without_a_column_of_names_it_says_so(
        self, ask, talk, member, translator
    ):
        nowhere = self.ASKED.replace("#support", "#nowhere")
        assert ask(member, nowhere).answer.reason == NO_NAMES
        asked = "Which orders are mentioned in #support?"
        translator.known["Which orders?"] = Translation("SELECT id FROM orders")
        assert ask(member, asked).answer.reason == NO_COLUMN

    def test_the_column_may_be_one_that_is_not_shown(self, shop, translator):
        schema = schema_of(shop)
        nothing = Rows(sql="", columns=(), rows=(), truncated=False, took_ms=0)
        kept = kept_to_names(
            "SELECT sum(c.revenue) AS total FROM customers AS c", schema, nothing, 2
        )
        assert kept == (
            "SELECT SUM(c.revenue) AS total FROM customers AS c "
            'WHERE "c"."name" IN (?, ?)'
        )
