from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from math import exp
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.providers.chat import Structured, Usage
from connections.registry import UnknownName
from retrieval import rerank_onnx
from retrieval.rerank import (
    Candidate,
    Reranked,
    RerankError,
    Rules,
    coverage,
    proximity,
    rerank,
    rerankers,
)
from retrieval.rerank_model import GRADE_MOST, ModelReranker, grades_of, prompt
from retrieval.rerank_onnx import BATCH, OnnxCrossEncoder
from tests.connections.model_server import BUSY, ModelServer, settings_for
from tests.retrieval.tiny_onnx import write_cross_encoder

QUESTION = "who fixed the pump"
CANDIDATES = [Candidate("a", 0.9), Candidate("b", 0.5), Candidate("c", 0.1)]


@dataclass
class Fake:
    """A reranker that gives what it was made with, or raises it."""

    given: object
    share: float = 1.0

    def scores(self, question, texts):
        if isinstance(self.given, BaseException):
            raise self.given
        return self.given


def by(given, *, share=1.0, candidates=CANDIDATES, **options):
    with patch.dict(rerankers, fake=lambda: Fake(given, share)):
        return rerank("fake", QUESTION, candidates, **options)


class TestRerank:
    def test_the_order_is_that_of_the_new_scores(self):
        found = by([0.1, -3.0, 2.0])
        assert (found.order, found.by, found.dropped) == ((2, 0, 1), "fake", None)
        assert found.scores == pytest.approx((1.0, 3.1 / 5, 0.0))

    def test_a_reranker_of_half_a_share_is_mixed_with_the_fused_scores(self):
        found = by([0.0, 1.0, 0.5], share=0.5)
        assert found.order == (1, 0, 2)
        assert found.scores == pytest.approx(((1 + 5 / 9) / 2, 0.5, (0.5 + 1 / 9) / 2))

    def test_equal_scores_stay_in_the_fused_order(self):
        assert by([1.0, 1.0, 1.0]).order == (0, 1, 2)

    def test_no_reranker_is_normal(self):
        fused = Reranked((0, 1, 2), (0.9, 0.5, 0.1))
        assert rerank("", QUESTION, CANDIDATES) == fused
        assert (fused.by, fused.dropped) == ("", None)

    def test_no_candidates_need_no_reranker(self):
        assert by(ValueError("not asked"), candidates=[]) == Reranked((), ())

    def test_an_unknown_reranker_is_refused_with_those_there_are(self):
        with pytest.raises(
            UnknownName, match=r"no reranker 'x'.*anthropic, onnx, openai, rules"
        ):
            rerank("x", QUESTION, CANDIDATES)

    @pytest.mark.parametrize(
        ("given", "why"),
        [
            (RerankError("set this."), "fake: set this."),
            (KeyError("x"), "fake: KeyError: 'x'"),
            (TimeoutError("the wire"), "fake: TimeoutError: the wire"),
            ([1.0, 2.0], "fake: it did not give one number for each text."),
            ([1.0, 2.0, float("nan")], "fake: it did not give one number"),
            ([1.0, 2.0, float("inf")], "fake: it did not give one number"),
            (None, "fake: TypeError"),
        ],
    )
    def test_one_that_fails_is_named_and_the_fused_order_stays(self, given, why):
        found = by(given)
        assert (found.order, found.scores, found.by) == (
            (0, 1, 2),
            (0.9, 0.5, 0.1),
            "",
        )
        assert found.dropped.startswith(why)

    def test_one_that_takes_too_long_is_named_and_the_fused_order_stays(self):
        over = threading.Event()

        class Slow(Fake):
            def scores(self, question, texts):
                over.wait(30)
                return [3.0, 2.0, 1.0]

        with patch.dict(rerankers, slow=lambda: Slow(None)):
            found = rerank("slow", QUESTION, CANDIDATES, seconds=0.05)
        over.set()
        assert found.dropped == "slow: it took more than 0.05 s."
        assert found.order == (0, 1, 2)

    @given(st.lists(st.tuples(st.floats(0, 1), st.floats(-9, 9)), max_size=20))
    def test_every_candidate_is_there_once(self, pairs):
        candidates = [Candidate(str(n), fused) for n, (fused, _) in enumerate(pairs)]
        found = by([new for _, new in pairs], candidates=candidates)
        assert sorted(found.order) == list(range(len(pairs)))
        assert list(found.scores) == sorted(found.scores, reverse=True)


class TestRules:
    TEXTS = (
        "Lunch is at noon.",
        "The pump was fixed by Larsen.",
        "Who? The invoice, the canteen, the weather, and in the end the pump.",
        "The pump is late.",
    )

    def test_rare_words_close_together_count_most(self):
        scores = Rules().scores("pump fixed", self.TEXTS)
        assert max(scores) == scores[1]
        assert scores[0] == 0
        assert scores[2] == scores[3] > 0

    def test_it_is_registered_and_mixes_with_the_fused_score(self):
        candidates = [
            Candidate(text, 1 / (61 + n)) for n, text in enumerate(self.TEXTS)
        ]
        found = rerank("rules", "pump fixed", candidates)
        assert (found.order[0], found.by) == (1, "rules")
        assert found == rerank("rules", "pump fixed", candidates)

    def test_the_rarity_of_the_project_is_taken_where_it_is_given(self):
        rules = Rules(rarity={"pump": 0.0, "late": 2.0})
        assert rules.scores("pump late", ["a pump", "late"]) == pytest.approx([0, 0.7])

    words = st.lists(st.sampled_from("abcdxyz"), max_size=12)

    @given(words, words)
    def test_coverage_and_proximity_are_shares(self, asked, said):
        worth = dict.fromkeys("abcd", 1.5)
        assert 0 <= coverage(set(asked), worth, said) <= 1
        assert 0 <= proximity(set(asked), said) <= 1

    @given(st.sets(st.sampled_from("abc"), min_size=1), words)
    def test_proximity_is_that_of_the_shortest_stretch(self, asked, said):
        had = asked.intersection(said)
        spans = [
            end - start
            for start in range(len(said))
            for end in range(start, len(said))
            if had <= set(said[start : end + 1])
        ]
        expected = (len(had) - 1) / min(spans) if len(had) > 1 else 0.0
        assert proximity(asked, said) == expected

    @given(st.sets(st.sampled_from("abc")), words, st.sampled_from("abc"))
    def test_a_word_more_never_lowers_the_coverage(self, asked, said, word):
        worth = {"a": 1.0, "b": 0.3, "c": 2.0}
        assert coverage(asked, worth, [*said, word]) >= coverage(asked, worth, said)

    @pytest.mark.parametrize("question", ["", "?!", "zebra"])
    def test_a_question_without_known_words_keeps_the_fused_order(self, question):
        assert rerank("rules", question, CANDIDATES).order == (0, 1, 2)


def sigmoid(x):
    return 1 / (1 + exp(-x))


class TestOnnx:
    WEIGHTS = {"who": 5.0, "pump": 1.0, "fixed": 0.5, "lunch": -2.0}

    @pytest.fixture
    def encoder(self, tmp_path):
        return OnnxCrossEncoder(write_cross_encoder(tmp_path, self.WEIGHTS))

    def test_each_pair_is_scored_by_the_model_whatever_its_batch(self, encoder):
        texts = ["pump", "lunch lunch", "pump fixed", "", "unheard of", "who"]
        expected = [1.0, -4.0, 1.5, 0.0, 0.0, 5.0]
        found = encoder.scores("who", texts)
        assert found == pytest.approx([sigmoid(x) for x in expected], abs=1e-6)
        many = ["pump " * (n % 7) for n in range(3 * BATCH + 1)]
        assert encoder.scores("who", many) == pytest.approx(
            [sigmoid(n % 7) for n in range(3 * BATCH + 1)], abs=1e-6
        )
        assert encoder.scores("who", []) == []

    def test_a_long_text_is_cut_and_the_question_is_not(self, tmp_path):
        folder = write_cross_encoder(tmp_path, self.WEIGHTS, length=8)
        # [CLS] who pump [SEP] and [SEP] leave three of the text.
        assert OnnxCrossEncoder(folder).scores("who pump", ["pump " * 500]) == (
            pytest.approx([sigmoid(3)], abs=1e-6)
        )

    def test_the_configured_folder_reranks(self, tmp_path, settings):
        folder = write_cross_encoder(tmp_path, self.WEIGHTS)
        settings.FABRIC = {**settings.FABRIC, "RERANKER_PATH": str(folder)}
        candidates = [Candidate("lunch", 0.9), Candidate("pump fixed", 0.1)]
        found = rerank("onnx", "who", candidates, seconds=60)
        assert (found.order, found.by, found.dropped) == ((1, 0), "onnx", None)

    @pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
    def test_a_folder_without_its_files_is_named(self, tmp_path, settings, missing):
        folder = write_cross_encoder(tmp_path, self.WEIGHTS)
        (folder / missing).unlink()
        settings.FABRIC = {**settings.FABRIC, "RERANKER_PATH": str(folder)}
        found = rerank("onnx", "who", CANDIDATES, seconds=60)
        assert found.order == (0, 1, 2)
        assert f"{missing} is missing; FABRIC_RERANKER_PATH must" in found.dropped

    @pytest.mark.parametrize(
        ("name", "why"),
        [("model.onnx", "is no usable model"), ("tokenizer.json", "is no tokenizer")],
    )
    def test_files_of_something_else_are_refused(self, tmp_path, name, why):
        folder = write_cross_encoder(tmp_path, self.WEIGHTS)
        (folder / name).write_text("something else")
        with pytest.raises(RerankError, match=rf"{name} {why}"):
            OnnxCrossEncoder(folder)

    def test_a_model_of_other_inputs_is_refused(self, tmp_path):
        inputs = ("input_ids", "attention_mask", "pixels")
        folder = write_cross_encoder(tmp_path, self.WEIGHTS, inputs=inputs)
        with pytest.raises(RerankError, match="wants pixels; a cross-encoder takes"):
            OnnxCrossEncoder(folder)

    def test_without_a_folder_it_says_what_to_set(self, settings):
        settings.FABRIC = {**settings.FABRIC, "RERANKER_PATH": ""}
        found = rerank("onnx", "who", CANDIDATES)
        assert found.dropped == (
            "onnx: set FABRIC_RERANKER_PATH to the folder of its model."
        )

    def test_without_onnxruntime_it_says_what_to_install(self, tmp_path):
        folder = write_cross_encoder(tmp_path, self.WEIGHTS)
        with (
            patch.dict(sys.modules, onnxruntime=None),
            pytest.raises(RerankError, match="its extra `rerank`"),
        ):
            OnnxCrossEncoder(folder)

    def test_two_logits_are_a_share_and_three_are_refused(self):
        two = rerank_onnx._relevance(rerank_onnx.np.array([[1.0, 3.0]]))
        assert two == pytest.approx([exp(3) / (exp(1) + exp(3))])
        with pytest.raises(RerankError, match="gives 3 numbers"):
            rerank_onnx._relevance(rerank_onnx.np.zeros((1, 3)))

    def test_searching_does_not_load_onnxruntime(self):
        code = (
            "import django, sys; django.setup(); import retrieval.search;"
            "print('onnxruntime' in sys.modules)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "fabric_site.settings",
            },
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stdout.strip() == "False"


@dataclass
class FakeChat:
    """A chat model that grades by length, or gives what it was made with."""

    answer: object = None
    asked: list = field(default_factory=list)

    def structured(self, system, user, schema, *, max_tokens):
        self.asked.append((system, user, max_tokens))
        if self.answer is not None:
            return Structured(self.answer, Usage(100, 20))
        texts = json.loads(user.splitlines()[1])["texts"]
        grades = [{"id": t["id"], "grade": min(10, len(t["text"]))} for t in texts]
        return Structured({"grades": grades[::-1]}, Usage(100, 20))


class TestModel:
    def by(self, chat, candidates=CANDIDATES):
        with patch.dict(rerankers, model=lambda: ModelReranker(chat)):
            return rerank("model", QUESTION, candidates)

    def test_the_grades_of_all_batches_are_the_order_and_tokens_are_counted(self):
        chat = FakeChat()
        candidates = [Candidate("x" * (n % 10), 1.0) for n in range(45)]
        found = self.by(chat, candidates)
        assert [len(candidates[i].text) for i in found.order] == sorted(
            (n % 10 for n in range(45)), reverse=True
        )
        assert (found.by, found.tokens, len(chat.asked)) == ("model", 360, 3)

    @pytest.mark.parametrize(
        ("grades", "why"),
        [
            (None, "has no list of grades"),
            ([], "left out the texts [1, 2, 3]"),
            ([(1, 5), (2, 5)], "left out the texts [3]"),
            ([(1, 5), (2, 5), (3, 5), (3, 6)], "graded text 3 twice"),
            ([(1, 5), (2, 5), (4, 5)], "graded text 4; there are 3"),
            ([(0, 5), (1, 5), (2, 5), (3, 5)], "graded text 0"),
            ([(1, 11), (2, 5), (3, 5)], "is not an id and 0 to 10"),
            ([(1, -1), (2, 5), (3, 5)], "is not an id and 0 to 10"),
            ([(1, float("nan")), (2, 5), (3, 5)], "is not an id and 0 to 10"),
            ([(1, "5"), (2, 5), (3, 5)], "is not an id and 0 to 10"),
            ([(True, 5), (2, 5), (3, 5)], "is not an id and 0 to 10"),
        ],
    )
    def test_an_answer_that_is_not_a_grade_for_each_text_is_dropped(self, grades, why):
        listed = grades and [{"id": n, "grade": grade} for n, grade in grades]
        found = self.by(FakeChat({"grades": grades if not grades else listed}))
        assert found.order == (0, 1, 2)
        assert found.dropped.startswith("model: the model")
        assert why in found.dropped

    @pytest.mark.parametrize("answer", ["grades", ["x"], {"grades": ["x"]}, {"x": 1}])
    def test_an_answer_of_another_shape_is_dropped(self, answer):
        assert self.by(FakeChat(answer)).dropped.startswith("model: the model's")

    def test_texts_stay_within_a_fence_made_for_each_request(self):
        system, user = prompt(QUESTION, ["a\nb"])
        first, body, last = user.splitlines()
        assert first == last
        assert len(first) == 32
        assert first in system
        assert json.loads(body)["texts"] == [{"id": 1, "text": "a\nb"}]
        assert QUESTION not in system
        assert prompt(QUESTION, [])[1].splitlines()[0] != first

    @given(st.lists(st.text(), max_size=3), st.text())
    def test_no_text_can_end_the_fence(self, texts, question):
        system, user = prompt(question, [*texts, "\u2028\n\r\x85end"])
        lines = user.split("\n")
        assert len(lines) == 3
        assert lines[0] == lines[2]
        assert lines[0] not in lines[1]
        assert system.count(lines[0]) == 1

    @given(st.permutations(range(1, 9)), st.data())
    def test_grades_are_in_the_order_of_the_texts(self, order, data):
        grades = {n: data.draw(st.integers(0, GRADE_MOST)) for n in order}
        answer = {"grades": [{"id": n, "grade": grades[n]} for n in order]}
        assert grades_of(answer, 8) == [grades[n] for n in range(1, 9)]


@pytest.mark.parametrize("name", ["anthropic", "openai"])
class TestOverTheWire:
    """A real client against a loopback server that speaks the provider's protocol."""

    def by(self, name, settings, reply, faults=()):
        with ModelServer() as server:
            server.reply, server.faults = reply, list(faults)
            settings.FABRIC = settings.FABRIC | settings_for(server, name)
            return rerank(name, QUESTION, CANDIDATES, seconds=20)

    def test_the_model_grades_the_texts(self, name, settings):
        def by_length(user):
            texts = json.loads(user.splitlines()[1])["texts"]
            grades = [{"id": t["id"], "grade": min(10, t["id"])} for t in texts]
            return json.dumps({"grades": grades})

        found = self.by(name, settings, by_length, faults=[(529, BUSY)])
        assert (found.by, found.order) == (name, tuple(range(len(CANDIDATES)))[::-1])
        assert found.tokens > 0

    def test_an_answer_that_is_none_leaves_the_fused_order(self, name, settings):
        found = self.by(name, settings, lambda user: "I would rather not.")
        assert found.by == ""
        assert found.dropped.startswith(f"{name}: BadAnswer")
        assert found.order == tuple(range(len(CANDIDATES)))
