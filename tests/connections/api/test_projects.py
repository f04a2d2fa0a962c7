from __future__ import annotations

from connections.models import Role
from tests.connections.api.callers import session_client, token_client
from tests.factories import make_member, make_project

URL = "/api/v1/projects/"


def test_a_caller_gets_their_projects_and_their_role(project, other_project):
    editor = make_member(project, "editor@acme.test", Role.EDITOR)
    make_member(project, "viewer@acme.test", Role.VIEWER)
    assert token_client(editor, project).get(URL).json()["results"] == [
        {
            "id": project.pk,
            "project": "acme/main",
            "tenant": "acme",
            "name": "Main",
            "language": "english",
            "role": "editor",
        }
    ]


def test_a_stranger_gets_only_their_own(project, stranger, other_project):
    rows = token_client(stranger, other_project).get(URL).json()["results"]
    assert [row["project"] for row in rows] == ["strangers/main"]


def test_who_belongs_nowhere_gets_none(project, user):
    assert session_client(user).get(URL).json() == {"results": [], "next_cursor": None}


def test_pages_follow_each_other_without_gap_or_repeat(project, member):
    paths = {"acme/main"}
    for n in range(6):
        make_member(made := make_project(f"acme/p{n}"), member.email)
        paths.add(made.path)
    client, seen, cursor = session_client(member), [], ""
    while True:
        page = client.get(URL, {"limit": 3, "cursor": cursor}).json()
        seen += [row["project"] for row in page["results"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(paths)
    assert set(seen) == paths
