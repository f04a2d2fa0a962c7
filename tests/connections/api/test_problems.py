from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404
from psycopg.errors import QueryCanceled
from rest_framework.test import APIClient, APIRequestFactory
from rest_framework.throttling import UserRateThrottle

from connections.api.problems import handle
from connections.refusals import Refused
from connections.registry import UnknownName
from tests.connections.api.callers import token_client

MEMBERS = {"type", "title", "status", "detail", "code"}


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def answered(error: Exception):
    request = APIRequestFactory().get("/api/v1/x/")
    request._request = request
    return handle(error, {"request": request})


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Http404(), 404, "not_found"),
        (PermissionDenied("no"), 403, "permission_denied"),
        (SuspiciousOperation("odd"), 400, "parse_error"),
        (
            UnknownName("There is no profile 'x'; there are: default."),
            400,
            "unknown_name",
        ),
        (Refused("Not like that."), 400, "refused"),
        (caused(OperationalError(), QueryCanceled()), 503, "too_slow"),
        (RuntimeError("secret"), 500, "internal"),
    ],
)
def test_every_error_is_a_problem(error, status, code):
    answer = answered(error)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"


def test_what_nobody_foresaw_is_logged_and_tells_nothing(caplog):
    answer = answered(RuntimeError("the password is x"))
    assert b"password" not in answer.content
    assert "the password is x" in caplog.text


def problem_of(answer, status, code):
    body = answer.json()
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert body.keys() >= MEMBERS
    assert (body["status"], body["code"]) == (status, code)
    return body


@pytest.mark.parametrize("path", ["", "nope", "nope/", "graph/nodes/abc/", "chat/x/"])
def test_an_unknown_address_is_a_problem(path, project, member):
    client = APIClient(enforce_csrf_checks=True)
    for method in (client.get, client.post, client.delete):
        problem_of(method(f"/api/v1/{path}"), 404, "not_found")


@pytest.mark.parametrize(
    "body", [b"{", b"[", b"\xff", b'{"query": NaN}', b"[" * 100_000, b'{"a":' * 100_000]
)
def test_malformed_json_is_a_400(body, project, member):
    client = token_client(member, project)
    answer = client.post(
        "/api/v1/search/",
        body,
        content_type="application/json",
    )
    problem_of(answer, 400, "parse_error")


@pytest.mark.parametrize("body", [b"[]", b"1", b'"x"', b"null"])
def test_json_that_is_no_object_is_a_400(body, project, member):
    client = token_client(member, project)
    answer = client.post("/api/v1/search/", body, content_type="application/json")
    problem_of(answer, 400, "invalid")


def test_a_body_in_an_odd_encoding_is_read_as_utf8(project, member):
    client = token_client(member, project)
    answer = client.post(
        "/api/v1/search/",
        b'{"query": ""}',
        content_type="application/json; charset=base64",
    )
    assert answer.status_code == 200


def test_a_body_too_large_is_a_413(project, member, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    answer = token_client(member, project).post(
        "/api/v1/search/", {"query": "x" * 1000}
    )
    problem_of(answer, 413, "too_large")


def test_a_body_that_is_no_json_is_a_415(project, member):
    client = token_client(member, project)
    answer = client.post("/api/v1/search/", b"a=b", content_type="text/plain")
    problem_of(answer, 415, "unsupported_media_type")


def test_a_method_that_is_not_there_is_a_405(project, member):
    answer = token_client(member, project).put("/api/v1/search/", {})
    problem_of(answer, 405, "method_not_allowed")
    assert "POST" in answer["Allow"]


def test_an_answer_nobody_makes_is_a_406(project, member):
    answer = token_client(member, project).get(
        "/api/v1/projects/", HTTP_ACCEPT="image/png"
    )
    problem_of(answer, 406, "not_acceptable")


def test_a_validation_error_names_the_field_and_what_to_do(project, member):
    answer = token_client(member, project).post(
        "/api/v1/search/", {"limit": 0, "filters": {"since": "x", "tags": [{}]}}
    )
    body = problem_of(answer, 400, "invalid")
    assert set(body["errors"]) == {"limit", "filters.since", "filters.tags.0"}
    assert "limit: Ensure this value is greater than or equal to 1." in body["detail"]


def test_a_misspelt_parameter_is_an_error_that_lists_the_right_ones(project, member):
    client = token_client(member, project)
    body = problem_of(client.get("/api/v1/graph/nodes/", {"typ": "x"}), 400, "invalid")
    assert "type" in body["errors"]["typ"][0]
    body = problem_of(client.post("/api/v1/search/", {"q": "x"}), 400, "invalid")
    assert "query" in body["errors"]["q"][0]


def test_too_many_requests_are_a_429_that_says_when_to_come_back(
    project, member, monkeypatch
):
    monkeypatch.setattr(UserRateThrottle, "THROTTLE_RATES", {"user": "2/min"})
    client = token_client(member, project)
    answers = [client.get("/api/v1/projects/") for _ in range(3)]
    problem_of(answers[-1], 429, "throttled")
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
