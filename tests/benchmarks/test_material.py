from __future__ import annotations

import json

import pytest

from benchmarks.material import _documents, material
from benchmarks.report import Unavailable

SAID = "The pump of line four failed again. Its dry seal must be replaced by Monday."


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = tmp_path / "retrieval" / "some"
    (folder / "documents").mkdir(parents=True)
    for number in range(5):
        text = (
            f"# Page {number}\n\n{SAID} Page {number} was written by the night shift."
        )
        (folder / "documents" / f"{number}.md").write_text(text)
    rows = [
        {"id": str(n), "project": "p", "query": f"what about {n}?", "relevant": ["k"]}
        for n in range(10)
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setenv("FABRIC_DATA", str(tmp_path))
    return tmp_path


def test_messages_are_made_of_whole_real_sentences_the_same_at_every_run(data):
    real = material(1000)
    texts = list(real.texts("main", 300))
    assert len(texts) == 300
    assert texts == list(real.texts("main", 300)) != list(real.texts("other", 300))
    known = {one for said in _documents(data) for one in said}
    for text in texts:
        rest = text
        for sentence in sorted(known, key=len, reverse=True):
            rest = rest.replace(sentence, "")
        assert rest.strip() == ""


def test_questions_are_drawn_from_those_of_the_sets(data):
    asked = material(1000).questions(4)
    assert len(set(asked)) == 4
    assert all(question.startswith("what about") for question in asked)
    assert len(material(1000).questions(99)) == 10


def test_without_real_data_the_words_are_made_up(monkeypatch):
    monkeypatch.delenv("FABRIC_DATA", raising=False)
    made = material(1000)
    assert made.name.startswith("made-up")
    assert len(list(made.texts("main", 20))) == 20
    assert len(made.questions(3)) == 3


def test_a_folder_without_anything_to_read_is_said_so(tmp_path, monkeypatch):
    monkeypatch.setenv("FABRIC_DATA", str(tmp_path))
    with pytest.raises(Unavailable, match="holds no mails"):
        list(material(1000).texts("main", 1))
