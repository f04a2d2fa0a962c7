from __future__ import annotations

import json
import math

import pytest
from django.core.management import CommandError, call_command

from connections.models import Project
from connections.sources.base import SourceError
from retrieval.evaluation import (
    evaluate,
    filled,
    ndcg,
    read_questions,
    recall,
    reciprocal_rank,
)
from retrieval.search import search


@pytest.mark.parametrize(
    ("keys", "relevant", "cut", "found"),
    [
        (["a", "b", "c"], {"a"}, 2, 1.0),
        (["a", "b", "c"], {"c"}, 2, 0.0),
        (["a", "b", "c"], {"a", "c"}, 2, 0.5),
        ([], {"a"}, 5, 0.0),
        (["a"], set(), 5, 0.0),
    ],
)
def test_recall_is_the_share_of_what_is_relevant_among_the_first(
    keys, relevant, cut, found
):
    assert recall(keys, frozenset(relevant), cut) == found


def test_ndcg_discounts_by_place_and_is_one_at_best():
    assert ndcg(["a", "b"], frozenset("ab"), 10) == 1.0
    assert ndcg(["x", "a"], frozenset("a"), 10) == pytest.approx(1 / math.log2(3))
    assert ndcg(["x", "a", "b"], frozenset("ab"), 10) == pytest.approx(
        (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))
    )
    assert ndcg(["x"], frozenset("a"), 10) == 0.0
    assert ndcg(["a"], frozenset(), 10) == 0.0


def test_reciprocal_rank_is_that_of_the_first_that_is_relevant():
    assert reciprocal_rank(["x", "a", "b"], frozenset("ab")) == 0.5
    assert reciprocal_rank(["x"], frozenset("a")) == 0.0


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "documents").mkdir()
    for name, text in (
        ("pump", "The pump of line four failed because its seal was dry."),
        ("lunch", "Lunch is served at noon in the canteen."),
        ("rota", "The rota of the night shift changes in May."),
    ):
        (tmp_path / "documents" / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    rows = [
        {
            "id": "1",
            "project": "all",
            "query": "why did the pump fail",
            "relevant": ["file:pump.md"],
        },
        {
            "id": "2",
            "project": "all",
            "query": "when is lunch",
            "relevant": ["file:lunch.md"],
        },
        {"id": "3", "project": "all", "query": "lunch", "relevant": ["file:gone.md"]},
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    return tmp_path


def test_questions_are_read_and_limited(folder):
    assert [q.id for q in read_questions(folder)] == ["1", "2", "3"]
    assert len(read_questions(folder, 1)) == 1


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"id": 1}', '{"id":1,"project":"p","query":"q","relevant":5}']
)
def test_a_bad_line_is_named(folder, line):
    with (folder / "questions.jsonl").open("a") as file:
        file.write(line)
    with pytest.raises(SourceError, match=r"questions\.jsonl, line"):
        read_questions(folder)


def test_what_is_no_set_says_so(tmp_path):
    with pytest.raises(SourceError, match="no retrieval set"):
        read_questions(tmp_path)


@pytest.mark.django_db
class TestRuns:
    def test_a_set_is_scored_and_leaves_no_project_behind(self, folder):
        scores = evaluate(folder)
        assert scores.questions == 3
        assert scores.recall == {5: pytest.approx(2 / 3)} | dict.fromkeys(
            (10, 20), pytest.approx(2 / 3)
        )
        assert scores.mrr == pytest.approx(2 / 3)
        assert 0 < scores.p50_ms <= scores.p95_ms
        assert not Project.objects.exists()

    def test_its_projects_stay_when_asked(self, folder):
        evaluate(folder, limit=1, keep=True)
        assert Project.objects.get().tenant.slug == "scratch"

    def test_a_set_without_inputs_fails_and_leaves_nothing(self, folder):
        for path in (folder / "documents").iterdir():
            path.unlink()
        (folder / "documents").rmdir()
        with pytest.raises(SourceError, match="neither documents/"):
            evaluate(folder)
        assert not Project.objects.exists()

    def test_the_command_prints_what_the_contract_lists(self, folder, capsys):
        call_command(
            "evaluate", str(folder), json=True, no_progress=True, limit_questions=2
        )
        answer = json.loads(capsys.readouterr().out)
        assert set(answer) == {
            "set",
            "profile",
            "questions",
            "recall@5",
            "recall@10",
            "recall@20",
            "nDCG@10",
            "MRR",
            "p50_ms",
            "p95_ms",
        }
        assert (answer["set"], answer["questions"], answer["MRR"]) == (
            folder.name,
            2,
            1.0,
        )

    def test_the_command_refuses_a_profile_that_does_not_exist(self, folder):
        with pytest.raises(CommandError, match="no profile 'x'"):
            call_command("evaluate", str(folder), profile="x")


@pytest.mark.django_db
def test_a_set_is_filled_for_as_long_as_it_is_asked(folder):
    with filled(folder, ["all"]) as projects:
        (project,) = projects.values()
        assert project.path.startswith("scratch/")
        assert "all" not in project.path
        assert search(project, "lunch", user=None).results
    assert not Project.objects.filter(pk=project.pk).exists()


@pytest.mark.django_db
def test_a_set_that_fails_half_way_leaves_nothing(tmp_path):
    before = Project.objects.count()
    with pytest.raises(SourceError, match="has neither"), filled(tmp_path, ["a", "b"]):
        pass
    assert Project.objects.count() == before
