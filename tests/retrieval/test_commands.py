from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from tests.worlds import QUESTION

pytestmark = pytest.mark.django_db


def run(capsys, command, world, text, **options):
    call_command(command, text, project=world.project.path, json=True, **options)
    out, _ = capsys.readouterr()
    assert out.count("\n") == 1, "one JSON object, nothing else"
    return json.loads(out)


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("", 12),
        ("member@acme.test", 12),
        ("outsider@acme.test", 6),
        ("STRANGER@strangers.test", 0),
    ],
)
def test_search_is_the_operator_s_or_the_named_user_s(
    capsys, world, outsider, stranger, user, found
):
    answer = run(capsys, "search", world, QUESTION, user=user)
    assert answer["total_results"] == len(answer["results"]) == found


def test_ask_answers_as_the_named_user(capsys, world, outsider):
    answer = run(capsys, "ask", world, QUESTION, user="outsider@acme.test")
    assert answer["grounded"]
    assert {c["key"].split(":")[1] for c in answer["citations"]} == {"C1"}


def test_people_read_results_and_sources(capsys, world):
    call_command("search", QUESTION, project=world.project.path, limit=1)
    assert "slack:" in capsys.readouterr().out
    call_command("search", "which auidt", project=world.project.path)
    said, *_ = capsys.readouterr().out.splitlines()
    assert said == "No text has 'auidt'; searched for 'audit'."
    call_command("ask", QUESTION, project=world.project.path)
    out = capsys.readouterr().out
    assert "[1] slack:" in out
    assert "[Λ+" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"project": "no/where"}, "no project no/where"),
        ({"project": "nowhere"}, "TENANT/PROJECT"),
        ({"user": "nobody@x.test"}, "no active user"),
        ({"limit": 0}, "--limit"),
        ({"profile": "x"}, "no profile 'x'"),
        ({"types": ["messages"]}, "no node type 'messages'"),
    ],
)
def test_what_cannot_run_says_why(world, options, message):
    with pytest.raises(CommandError, match=message):
        call_command("search", "q", **{"project": world.project.path} | options)
