from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.models import Evidence, ExtractedText
from graph.review.confidence import ENOUGH, LOW, Piece, confidence_of
from graph.review.find_low_confidence import find_low_confidence
from tests.factories import NOON, make_audience, make_node, make_record
from tests.graph.review.items import subjects

PLAIN = "We decided to use Redis for the queue."
PIECES = st.builds(
    Piece,
    st.integers(1, 4),
    st.sampled_from([PLAIN, "Perhaps Redis.", "word " * 80]),
    st.booleans(),
    st.booleans(),
)


class TestTheScore:
    @pytest.mark.parametrize(
        ("piece", "worth"),
        [
            (Piece(1, PLAIN), 0.6),
            (Piece(1, PLAIN, by_model=True), 0.45),
            (Piece(1, PLAIN, is_implied=True), 0.1),
            (Piece(1, "Perhaps we will use Redis for it."), 0.3),
            (Piece(1, "Do we use Redis for the queue?"), 0.3),
            (Piece(1, "Use Redis."), 0.42),
            (Piece(1, "word " * 61), 0.48),
        ],
    )
    def test_a_piece_counts_by_who_read_it_and_how_it_is_worded(self, piece, worth):
        assert confidence_of([piece]) == pytest.approx(worth)

    def test_what_a_rule_read_in_plain_words_is_enough_and_little_else_is(self):
        assert confidence_of([Piece(1, PLAIN)]) >= LOW
        assert confidence_of([Piece(1, PLAIN, by_model=True)]) < LOW
        two = [Piece(n, PLAIN, by_model=True) for n in (1, 2)]
        assert confidence_of(two) >= LOW

    def test_one_record_counts_once(self):
        assert confidence_of([Piece(1, PLAIN)] * 9) == pytest.approx(0.6)

    def test_so_many_records_are_always_enough(self):
        worst = [Piece(n, "Perhaps Redis.", by_model=True) for n in range(ENOUGH)]
        assert confidence_of(worst) >= LOW
        assert confidence_of(worst[1:]) < LOW

    @given(st.lists(PIECES, max_size=8), PIECES)
    def test_more_evidence_never_makes_it_less_sure(self, pieces, more):
        before, after = confidence_of(pieces), confidence_of([*pieces, more])
        assert 0 <= before <= after < 1
        assert confidence_of(reversed(pieces)) == pytest.approx(before)

    @pytest.mark.parametrize(
        "words", ["On 3 May 2026 we will use it.", "It is maybelline we use now."]
    )
    def test_a_month_or_a_part_of_a_word_is_no_hedge(self, words):
        assert not Piece(1, words).is_hedged


@pytest.mark.django_db
class TestTheFinder:
    def claim(self, project, quote=PLAIN, key="d", **fields):
        node = make_node(
            project,
            key,
            **{
                "content": quote,
                "node_type": "decision",
                "origin": "extraction",
                **fields,
            },
        )
        node.evidence.update(quote=quote, kind="derived")
        return node

    def prove(self, node, key, quote=PLAIN, audience=None):
        record = make_record(node.project, key, audience=audience)
        return Evidence.objects.create(
            tenant_id=node.tenant_id,
            project_id=node.project_id,
            node=node,
            record=record,
            kind="derived",
            quote=quote,
        )

    def read_by_a_model(self, node):
        ExtractedText.objects.create(
            tenant_id=node.tenant_id,
            project_id=node.project_id,
            node=node,
            record=node.record,
            audience_id=node.audience_id,
            words="x",
            extractor="rules-1-abc+openai:default:1",
        )

    def found(self, project):
        return list(find_low_confidence(project, NOON))

    def test_a_hedged_claim_of_one_record_is_found_with_its_score(self, project):
        self.claim(project, "Perhaps we decided to use Redis.")
        (one,) = self.found(project)
        assert one.detail == {
            "confidence": 0.3,
            "records": 1,
            "doubts": ["hedged wording"],
            "type": "decision",
        }
        assert one.why == (
            "Only one record says that there is this decision (confidence 0.30 of 1): "
            "hedged wording."
        )

    def test_a_plain_one_is_not_nor_one_that_several_records_say(self, project):
        self.claim(project)
        node = self.claim(project, "Perhaps we decided to use Redis.", "several")
        for n in range(ENOUGH):
            self.prove(node, f"r{n}", "Perhaps.")
        assert self.found(project) == []

    def test_what_the_rules_read_too_is_not_held_for_the_models_alone(self, project):
        by_rules = self.claim(project, key="rules")
        alone = self.claim(project, "Redis it is, says everybody here.", "alone")
        self.read_by_a_model(by_rules)
        assert self.found(project) == []
        self.read_by_a_model(alone)
        assert subjects(self.found(project)) == ["node:alone"]

    @pytest.mark.parametrize(
        "fields",
        [
            {"origin": "memory"},
            {"origin": "source"},
            {"node_type": "agent"},
            {"trashed_at": NOON},
            {"valid_to": NOON},
        ],
    )
    def test_what_was_not_extracted_or_is_no_claim_is_not_found(self, project, fields):
        self.claim(project, "Perhaps we decided to use Redis.", **fields)
        assert self.found(project) == []

    def test_what_is_another_tenants_is_not_found(self, project, other_project):
        self.claim(other_project, "Perhaps we decided to use Redis.")
        assert self.found(project) == []
        assert len(self.found(other_project)) == 1

    def test_it_is_seen_by_those_who_see_all_of_its_evidence(
        self, project, member, outsider
    ):
        node = self.claim(project, "Perhaps we decided to use Redis.")
        closed = make_audience(project, "closed", [member])
        self.prove(node, "r", "Maybe Redis.", closed)
        (one,) = self.found(project)
        assert one.audience_id == closed.pk

    def test_other_evidence_is_another_fingerprint(self, project):
        node = self.claim(project, "Perhaps we decided to use Redis.")
        before = self.found(project)[0].fingerprint
        assert self.found(project)[0].fingerprint == before
        self.prove(node, "r", "Maybe Redis.")
        assert self.found(project)[0].fingerprint != before
