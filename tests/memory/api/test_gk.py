from __future__ import annotations

import json
import re

import pytest
from django.conf import settings

from memory.environments import environment
from tests.connections.api.callers import session_client, token_client
from tests.factories import make_member, make_project
from tests.memory.making import make_observation

URL = "/api/v1/memory/graph"
ENVIRONMENTS = "/api/v1/memory/environments"
SECRET = "not-to-be-shown-4f1c"


@pytest.fixture
def remembered(project, member):
    return make_observation(
        project, member, "Hollis has the key of the north cold store.", subject="Key"
    )


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_graph_of_memory_has_nodes_edges_and_statistics(
    slash, project, member, remembered
):
    answer = token_client(member, project).get(f"{URL}{slash}")
    body = answer.json()
    assert answer.status_code == 200
    assert set(body) == {"nodes", "edges", "statistics"}
    fact = next(node for node in body["nodes"] if node["node_type"] == "fact")
    assert set(fact) == {"id", "node_type", "content", "metadata", "degree"}
    assert fact["id"] == f"memory:{remembered.node_id}"
    assert fact["metadata"]["text"] == "Hollis has the key of the north cold store."
    assert {
        "source": fact["id"],
        "target": "topic:key",
        "label": "about",
        "weight": 1.0,
    } in body["edges"]
    assert re.fullmatch(r"total;dur=[\d.]+", answer.headers["Server-Timing"])


def test_types_and_degree_narrow_the_graph(project, member, remembered):
    make_observation(project, member, "Another fact.")
    client = token_client(member, project)
    body = client.get(URL, {"types": "fact,meta", "min_degree": 2}).json()
    assert {node["node_type"] for node in body["nodes"]} == {"fact", "meta"}
    assert all(node["degree"] >= 2 for node in body["nodes"])
    assert client.get(URL, {"limit": 1}).json()["statistics"]["truncated"] is True


def test_two_users_of_one_project_see_different_memory(
    project, member, outsider, stranger, other_project, remembered
):
    make_observation(project, outsider, "Theirs, shared.", is_shared=True)

    def facts(user, of=project):
        nodes = session_client(user).get(URL, {"project": of.path}).json()["nodes"]
        return {n["metadata"]["text"] for n in nodes if n["node_type"] == "fact"}

    assert len(facts(member)) == 2
    assert facts(outsider) == {"Theirs, shared."}
    assert facts(stranger, other_project) == set()
    answer = session_client(stranger).get(URL, {"project": project.path})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_token_of_another_tenant_reads_no_memory(
    project, other_project, member, remembered
):
    make_member(other_project, member.email)
    client = token_client(member, other_project)
    assert client.get(URL, {"project": project.path}).status_code == 404
    assert client.get(URL).json()["nodes"] == []


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"types": "fact,person"}, "types"),
        ({"limit": 0}, "limit"),
        ({"limit": 5001}, "limit"),
        ({"min_degree": -1}, "min_degree"),
        ({"degree": 1}, "degree"),
        ({"query": "x" * 2001}, "query"),
    ],
)
def test_what_cannot_be_asked_is_a_400_that_names_it(asked, named, project, member):
    answer = token_client(member, project).get(URL, asked)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert named in answer.json()["errors"]


def test_who_has_several_projects_names_one(project, member):
    make_member(make_project("acme/second"), member.email)
    answer = session_client(member).get(URL)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["project"])


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_environment_says_what_memory_runs_on(slash, project, member):
    body = token_client(member, project).get(f"{ENVIRONMENTS}{slash}").json()
    assert set(body) == {
        "providers",
        "models",
        "dimensions",
        "versions",
        "limits",
        "memory",
    }
    assert body["dimensions"] == 256
    assert body["versions"]["postgresql"].startswith("18")
    assert body["versions"]["django"]
    assert body["limits"]["memory_graph_most"] == 5000
    assert {"kind": "embedder", "name": "static", "is_configured": True} in body[
        "providers"
    ]


@pytest.mark.django_db
def test_no_secret_of_the_settings_is_in_the_environment(monkeypatch):
    def put(named: str) -> str:
        return f"{SECRET}-{named}"

    secret = re.compile("KEY|SECRET|PASSWORD|TOKEN|URL|HOST|USER", re.IGNORECASE)
    for name, value in list(settings.FABRIC.items()):
        if isinstance(value, str) and secret.search(name):
            monkeypatch.setitem(settings.FABRIC, name, put(name))
    for name in ("SECRET_KEY", "CELERY_BROKER_URL"):
        monkeypatch.setattr(settings, name, put(name))
    told = json.dumps(environment())
    assert settings.FABRIC["OPENAI_API_KEY"] == put("OPENAI_API_KEY")
    assert SECRET not in told
    for database in settings.DATABASES.values():
        assert not database.get("PASSWORD") or database["PASSWORD"] not in told
    for key in settings.FIELD_ENCRYPTION_KEYS:
        assert key not in told


@pytest.mark.django_db
def test_whether_a_provider_has_a_key_is_told(monkeypatch):
    monkeypatch.setitem(settings.FABRIC, "OPENAI_API_KEY", "")
    assert not _openai()
    monkeypatch.setitem(settings.FABRIC, "OPENAI_API_KEY", SECRET)
    assert _openai()


def _openai() -> bool:
    rows = environment()["providers"]
    return next(row["is_configured"] for row in rows if row["name"] == "openai")
