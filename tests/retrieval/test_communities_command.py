from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from tests.retrieval.communities.worlds import make_company

pytestmark = pytest.mark.django_db


def run(capsys, *args):
    call_command("communities", "--project", "acme/main", "--no-progress", *args)
    return capsys.readouterr().out


def test_it_finds_communities_and_lists_them_as_a_user_sees_them(
    project, member, outsider, capsys
):
    make_company(project, member)
    found = json.loads(run(capsys, "--json"))
    assert found["communities"] == 3
    assert found["algorithm"] == "Leiden (modularity)"
    assert "communities 3, kept 3" in run(capsys)
    every = json.loads(run(capsys, "--list", "--json"))["communities"]
    assert len(every) == 3
    assert every[0]["key"].startswith("community:")
    assert "ightingale" in run(capsys, "--list", "--user", member.email)
    assert "ightingale" not in run(capsys, "--list", "--user", outsider.email)


def test_an_empty_project_says_so(project, capsys):
    assert "No communities." in run(capsys, "--list")


def test_bad_input_is_named(project, capsys):
    with pytest.raises(CommandError, match="--limit"):
        run(capsys, "--list", "--limit", "0")
    with pytest.raises(CommandError, match="no active user"):
        run(capsys, "--list", "--user", "x@y.z")
