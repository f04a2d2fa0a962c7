from __future__ import annotations

from retrieval.communities.texts import Stem, Text, describe, words_of


def text(node_id, content, *, title="", centrality=1.0):
    return Text(node_id, "english", title, content, "digest", centrality)


def stems_of(*texts, idf=None):
    """Each word is its own lexeme; `idf` for those that are not 3.0."""
    words = {word for each in texts for word in words_of(each)}
    return {
        ("english", word): Stem(word, (idf or {}).get(word, 3.0))
        for word in words
        if word not in ("the", "and", "for")
    }


PUMPS = [
    text(1, "The spare pump is in the harbour. Nobody asked me."),
    text(2, "A spare pump costs nine hundred. Ask the harbour."),
    text(3, "Lunch was fine today, was it not?", centrality=0.1),
]


def test_the_title_has_the_terms_that_several_texts_share_in_their_order():
    said = describe(PUMPS, stems_of(*PUMPS, idf={"was": 0.1, "ask": 0.1, "asked": 0.1}))
    assert said.title == "Harbour, spare pump"
    assert set(said.title_lexemes) == {"harbour", "spare", "pump"}
    assert set(said.title_lexemes) <= set(said.lexemes)


def test_a_word_common_in_the_project_says_nothing_of_a_community():
    texts = [text(n, f"Hello crane {n}") for n in range(3)]
    said = describe(texts, stems_of(*texts, idf={"hello": -1.0}))
    assert said.title == "Crane"


def test_a_summary_is_of_the_sources_own_sentences_each_with_its_node():
    said = describe(PUMPS, stems_of(*PUMPS))
    by_node = {sentence.node_id: sentence.text for sentence in said.summary}
    assert by_node[1] == "The spare pump is in the harbour."
    assert by_node[2] == "A spare pump costs nine hundred."
    for sentence in said.summary:
        (source,) = [each for each in PUMPS if each.node_id == sentence.node_id]
        assert sentence.text in source.content


def test_a_sentence_said_twice_is_in_the_summary_once():
    again = [text(n, "The spare pump is in the harbour.") for n in (1, 2, 3)]
    assert len(describe(again, stems_of(*again)).summary) == 1


def test_tables_paths_and_quotes_are_no_sentences():
    texts = [
        text(1, "pump | 12 | 13 | 14 | 15 | 16 | 17 | 18"),
        text(2, "> the pump of the harbour is broken again"),
        text(3, "pump https://example.test/pump/1234567890/1234567890"),
    ]
    assert describe(texts, stems_of(*texts)).summary == ()


def test_a_community_that_says_nothing_has_the_names_of_its_members():
    texts = [text(1, "", title="Ann Lee"), text(2, "", title="Ben Low")]
    assert describe(texts, {}).title == "Ann Lee, Ben Low"


def test_nothing_is_described_as_nothing():
    said = describe([], {})
    assert (said.title, said.summary, said.lexemes) == ("", (), ())
