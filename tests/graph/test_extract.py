"""What the rules find in a text, and what they leave alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.extract import extract, extract_entities, find_names, vocabulary_with
from graph.vocabulary import Name, listed_names, plain

AGENTS = [
    "database-engineer",
    "backend-system-architect",
    "frontend-ui-developer",
    "security-auditor",
    "test-generator",
    "workflow-architect",
    "llm-integrator",
    "data-pipeline-engineer",
]
TECHNOLOGIES = [
    "pgvector",
    "PostgreSQL",
    "FastAPI",
    "SQLAlchemy",
    "React",
    "TypeScript",
    "LangGraph",
    "Redis",
    "Celery",
    "Docker",
    "Kubernetes",
]
PATTERNS = ["cursor-pagination", "CQRS", "event-sourcing", "RAG"]


def names(text):
    return [(e["name"], e["type"]) for e in extract_entities(text)["entities"]]


def relations(text):
    return [
        (r["from"], r["relation"], r["to"]) for r in extract_entities(text)["relations"]
    ]


def test_the_published_example_comes_out_word_for_word():
    assert extract_entities("database-engineer uses pgvector for RAG applications") == {
        "entities": [
            {"name": "database-engineer", "type": "agent"},
            {"name": "pgvector", "type": "technology"},
            {"name": "RAG", "type": "pattern"},
        ],
        "relations": [
            {"from": "database-engineer", "relation": "uses", "to": "pgvector"},
            {"from": "pgvector", "relation": "used_for", "to": "RAG"},
        ],
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((n, "agent") for n in AGENTS),
        *((n, "technology") for n in TECHNOLOGIES),
        *((n, "pattern") for n in PATTERNS),
    ],
)
def test_every_published_name_is_known_in_any_case(name, kind):
    for spelt in (name, name.lower(), name.upper() if name != "React" else name):
        assert (name, kind) in names(f"We already talked about using {spelt} today.")


@pytest.mark.parametrize(
    "spelt",
    [
        "cursor-pagination",
        "cursor_pagination",
        "Cursor Pagination",
        "CURSOR\npagination",
    ],
)
def test_spellings_of_a_name_are_one(spelt):
    assert names(f"about {spelt}, then") == [("cursor-pagination", "pattern")]


@pytest.mark.parametrize(
    "text",
    [
        "predisposed to dockerise",
        "see https://redis.io/docs and docker.com",
        "mail ann@redis.test",
        "edit conf/redis/redis.conf",
        "run ```\nimport redis\n``` now",
        "> Ann said Redis is fast",
        "my_redis_client",
        "let it go, react to it, express it, make sure they excel, rust never sleeps",
        "Go ahead. React quickly. Excel at it.",
        "Claude said so, and Travis met Julia in Phoenix.",
    ],
)
def test_what_only_looks_like_a_name_is_none(text):
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The gateway uses Go now", "Go"),
        ("a React component", "React"),
        ("it uses react", "React"),
        ("we moved the sheet from Excel yesterday", "Excel"),
        ("Rust and PostgreSQL", "Rust"),
    ],
)
def test_a_common_word_is_a_name_in_company(text, name):
    assert name in [n for n, _ in names(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ask the release-manager agent.", ["release-manager"]),
        ("Agent `Data_Steward` did it.", ["data-steward"]),
        ("a well-known agent and the third-party agents", []),
        ("user-agent agents, multi-agent systems", []),
        ("the release-manager did it", []),
    ],
)
def test_an_unlisted_name_is_an_agent_only_where_it_is_typed_as_one(text, found):
    assert [n for n, kind in names(text) if kind == "agent"] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Celery requires Redis and depends on kombu, Kubernetes depends on etcd.",
            [("Celery", "requires", "Redis"), ("Kubernetes", "depends_on", "etcd")],
        ),
        (
            "backend-system-architect recommends FastAPI, SQLAlchemy and asyncpg",
            [
                ("backend-system-architect", "recommends", "FastAPI"),
                ("backend-system-architect", "recommends", "SQLAlchemy"),
                ("backend-system-architect", "recommends", "asyncpg"),
            ],
        ),
        (
            "pgvector is used by database-engineer",
            [("database-engineer", "uses", "pgvector")],
        ),
        ("Redis is used for rate limiting", [("Redis", "used_for", "rate-limiting")]),
        (
            "FastAPI is blocked by SQLAlchemy",
            [("FastAPI", "blocked_by", "SQLAlchemy")],
        ),
        (
            "C++ uses CMake and C# uses .NET",
            [("C++", "uses", "CMake"), ("C#", "uses", ".NET")],
        ),
        ("FastAPI does not use Redis", []),
        ("Does FastAPI use Redis?", []),
        ("We like Redis. Docker uses it", []),
        ("Redis uses little; PostgreSQL is bigger", []),
        ("Redis uses Redis", []),
    ],
)
def test_relations(text, found):
    assert relations(text) == found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to ship on Friday.", "decision"),
        ("Ann chose the blue one.", "decision"),
        ("The team will use two queues.", "decision"),
        ("The launch is blocked until legal signs.", "blocker"),
        ("There is an issue with the login page.", "blocker"),
        ("The problem is the lock.", "blocker"),
        ("Bob prefers short meetings.", "preference"),
        ("She likes to work late.", "preference"),
    ],
)
def test_claims_are_whole_sentences(text, kind):
    assert names(f"Hello there. {text} See you.") == [(text, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "Have we decided on a date?",
        "We have not decided yet.",
        "No problem at all, thanks.",
        "It works without any issues.",
        "Let me know if there is a problem.",
        "I opened issue #12 for that.",
        "The problem was fixed yesterday.",
        "Which one do you prefer?",
        "the chosen few",
        "decided.",
    ],
)
def test_what_claims_nothing(text):
    assert names(text) == []


def test_evidence_is_the_sentence_as_it_stands():
    text = "Intro.\nWe use  FastAPI\nfor all of it, e.g. the API. End."
    (entity, proof), *_ = extract(text).entities.items()
    assert entity.name == "FastAPI"
    assert text[proof.start : proof.end] == proof.quote


@given(
    st.text(alphabet="RedisDocker uses decided issue.!?\n`>#-_/@:ß\u0130\U0001f4a5\x00")
)
def test_evidence_always_stands_in_its_text(text):
    assert len(plain(text)) == len(text)
    found = extract(text)
    for proof in (*found.entities.values(), *found.relations.values()):
        assert text[proof.start : proof.end] == proof.quote


def test_a_projects_own_names_come_before_the_list():
    own = vocabulary_with([Name("redis", "agent"), Name("Blue Heron", "technology")])
    found = [(e.name, e.type) for e in extract("Redis and blue-heron", own).entities]
    assert found == [("redis", "agent"), ("Blue Heron", "technology")]


def test_a_question_names_by_a_part_what_a_text_would_spell_out():
    asked = find_names("What pagination approach did database-engineer recommend?")
    assert [(n.said, n.is_partial) for n in asked] == [
        ("pagination", True),
        ("database-engineer", False),
    ]
    assert asked[0].names == ("cursor-pagination", "offset-pagination")
    assert names("pagination") == []


def test_the_list_is_long_and_says_nothing_twice():
    assert len(listed_names()) > 400
