"""Every address of the API, by everybody who might call it."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from connections.models import Database
from fabric_site import api
from tests.connections.api.callers import (
    expired_client,
    make_world,
    revoked_client,
    session_client,
    token_client,
)
from tests.factories import make_audience

READ = [
    ("get", "projects/", None),
    ("get", "connections/databases/", None),
    ("get", "connections/databases/{database}/", None),
    ("get", "graph/nodes/", None),
    ("get", "graph/nodes/{node}/", None),
    ("get", "graph/nodes/{node}/neighbours/", None),
    ("get", "graph/nodes/{node}/timeline/", None),
    ("get", "graph/nodes/{node}/provenance/", None),
    ("get", "graph/edges/", None),
    ("get", "graph/edges/{edge}/", None),
    ("get", "graph/edges/{edge}/provenance/", None),
    ("get", "graph/paths/?from={node}&to={other}", None),
    ("get", "graph/statistics/?project=acme/main", None),
    ("get", "memory/conversations/", None),
    ("get", "memory/observations/", None),
    ("get", "memory/context/?project=acme/main", None),
    ("get", "memory/graph?project=acme/main", None),
    ("get", "memory/graph/?project=acme/main", None),
    ("get", "memory/environments", None),
    ("get", "memory/environments/", None),
    ("get", "review/thresholds/?project=acme/main", None),
    ("post", "search/", {"project": "acme/main", "query": "launch"}),
]
ASK = ("post", "chat/", {"project": "acme/main", "question": "When is the launch?"})
LISTS = {
    "projects/",
    "connections/databases/",
    "graph/nodes/",
    "graph/edges/",
    "memory/conversations/",
    "memory/observations/",
}
# What is of no project: whoever is signed in may know it.
NO_PROJECTS = {"memory/environments", "memory/environments/"}
EVERYTHING = pytest.mark.parametrize(("method", "path", "body"), [*READ, ASK])


@pytest.fixture
def call(project, member):
    world = make_world(project, member)
    database = Database.objects.create(
        tenant=project.tenant,
        project=project,
        audience=make_audience(project),
        name="launches",
        engine="postgres",
        host="db.acme.test",
        port=5432,
        database="launches",
        user="reader",
    )
    names = {"node": world.first.pk, "edge": world.posted.pk, "other": world.channel.pk}
    names["database"] = database.pk

    def called(client, method, path, body):
        return getattr(client, method)(f"/api/v1/{path.format(**names)}", body)

    return called


@EVERYTHING
def test_a_member_is_answered(method, path, body, call, project, member):
    for client in (token_client(member, project), session_client(member)):
        assert call(client, method, path, body).status_code == 200


@EVERYTHING
def test_nobody_is_a_401(method, path, body, call, project, member):
    for client in (
        APIClient(),
        expired_client(member, project),
        revoked_client(member, project),
    ):
        answer = call(client, method, path, body)
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"].startswith("Bearer")
        assert answer["Content-Type"] == "application/problem+json"


@EVERYTHING
def test_a_stranger_gets_a_404_or_an_empty_list(
    method, path, body, call, stranger, other_project
):
    for client in (token_client(stranger, other_project), session_client(stranger)):
        answer = call(client, method, path, body)
        if path in LISTS:
            rows = answer.json()["results"]
            assert all(row.get("project") == "strangers/main" for row in rows)
        elif path in NO_PROJECTS:
            assert answer.status_code == 200
        else:
            assert answer.status_code == 404
        assert b"launch" not in answer.content.lower().replace(b"/", b"")


@EVERYTHING
def test_a_token_of_another_tenant_opens_nothing(
    method, path, body, call, member, other_project
):
    answer = call(token_client(member, other_project), method, path, body)
    if path in LISTS:
        assert answer.json()["results"] == []
    elif path in NO_PROJECTS:
        assert answer.status_code == 200
    else:
        assert answer.status_code == 404


@EVERYTHING
def test_a_token_without_the_scope_is_a_403(method, path, body, call, project, member):
    scopes = ("read", "write") if path == "chat/" else ("ask", "write")
    answer = call(token_client(member, project, scopes), method, path, body)
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")


def test_no_address_was_forgotten_above():
    """Fails when an address is added and nobody says here who may call it."""
    tried = {path.partition("?")[0] for _, path, _ in [*READ, ASK]}
    # Tested with what they change, in tests/memory/api.
    tried |= {
        "connections/queries/",
        "connections/queries/{conversation}/",
        "connections/queries/{conversation}/cancel/",
        "connections/saved-queries/",
        "connections/saved-queries/{conversation}/",
        "connections/databases/{database}/query/",
        "connections/databases/{database}/ask/",
        "memory/conversations/{conversation}/",
        "memory/conversations/{conversation}/end/",
        "memory/observations/{observation}/",
        "memory/observations/{observation}/restore/",
        "memory/sync/",
    }
    # With roles, in tests/graph/api/test_reviews.py.
    tried |= {"review/items/", "review/items/<int:pk>/", "review/report/"}
    verbs = [
        "keep",
        "prune",
        "snooze",
        "merge",
        "edit",
        "assign",
        "hold",
        "release",
        "undo",
    ]
    tried |= {f"review/items/<int:pk>/{verb}/" for verb in verbs}
    tried |= {"review/trash/", "review/trash/<int:pk>/restore/"}
    # With what they do, in tests/connections/databases/test_api.py, beside it in
    # tests/connections/api/test_database_exposures.py, in tests/graph/api/test_pictures.py
    # and in tests/memory/test_trails.py; all of them in tests/site/access.
    tried |= {
        "connections/databases/{database}/test/",
        "connections/databases/{database}/exposures/",
        "graph/picture/",
        "graph/picture/path/",
        "memory/observations/{observation}/provenance/",
        "memory/turns/<int:turn>/provenance/",
    }
    tried |= {"schema/", "docs/", ""}
    tried |= {"chat/turns/<int:turn>/stop/"}  # in tests/memory/api/test_chat.py
    routes = {str(pattern.pattern) for pattern in api.urlpatterns}
    named = {
        route.replace("graph/nodes/<int:pk>", "graph/nodes/{node}")
        .replace("graph/edges/<int:pk>", "graph/edges/{edge}")
        .replace("memory/observations/<int:pk>", "memory/observations/{observation}")
        .replace("connections/databases/<uuid:pk>", "connections/databases/{database}")
        .replace("<uuid:pk>", "{conversation}")
        for route in routes
    }
    assert named == tried
