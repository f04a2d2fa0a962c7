"""Every error as `application/problem+json` (RFC 9457), made in one place."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

import psycopg.errors
from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.core.signals import got_request_exception
from django.db import DatabaseError
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions
from rest_framework.views import set_rollback

from connections.databases.base import GuardRefused
from connections.refusals import Refused
from connections.registry import UnknownName

log = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
NOBODY = "Send `Authorization: Bearer TOKEN`, or sign in."


class TooLarge(exceptions.APIException):
    """A body that is longer than the site reads."""

    status_code = 413
    default_code = "too_large"


class TooSlow(exceptions.APIException):
    """A query that the database gave up on."""

    status_code = 503
    default_code = "too_slow"
    default_detail = "The query took too long; narrow it."


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    errors: object = None,
    rule: str = "",
) -> JsonResponse:
    """Return an error; `code` is for programs, `detail` says what to do about it.

    `rule` names what a statement broke that the guard refused.
    """
    body: dict[str, object] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if errors is not None:
        body["errors"] = errors
    if rule:
        body["rule"] = rule
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE, headers=headers)


def handle(error: Exception, context: dict[str, Any]) -> JsonResponse:
    """Return the answer to `error`; what nobody foresaw is logged and is a 500."""
    set_rollback()
    known = _known(error)
    if known is None:
        request = context.get("request")
        return _unforeseen(error, request._request if request else None)
    if isinstance(known, exceptions.ValidationError):
        return _invalid(known)
    return problem(
        known.status_code,
        str(known.get_codes()),
        str(known.detail),
        headers=_headers(known),
        rule=error.rule if isinstance(error, GuardRefused) else "",
    )


def unknown_address(request: HttpRequest) -> JsonResponse:
    """Answer an address under the API that leads nowhere."""
    hint = "" if request.path.endswith("/") else "; addresses end with a slash"
    return problem(404, "not_found", f"There is nothing at {request.path}{hint}.")


def _known(error: Exception) -> exceptions.APIException | None:
    if isinstance(error, exceptions.NotAuthenticated):
        error.detail = exceptions.ErrorDetail(NOBODY, error.default_code)
    if isinstance(error, exceptions.APIException):
        return error
    if isinstance(error, Http404):
        return exceptions.NotFound("There is nothing here that you may see.")
    if isinstance(error, PermissionDenied):
        return exceptions.PermissionDenied(str(error) or None)
    if isinstance(error, UnknownName):
        return exceptions.ValidationError(str(error), code="unknown_name")
    if isinstance(error, Refused):
        refused = exceptions.APIException(str(error), code=error.code)
        refused.status_code = error.status_code
        return refused
    if isinstance(error, RequestDataTooBig):
        return TooLarge("The body is longer than the site reads.")
    if isinstance(error, (SuspiciousOperation, BadRequest)):
        return exceptions.ParseError(str(error) or "The request cannot be read.")
    is_slow = isinstance(error.__cause__, psycopg.errors.QueryCanceled)
    return TooSlow() if isinstance(error, DatabaseError) and is_slow else None


def _invalid(error: exceptions.ValidationError) -> JsonResponse:
    said = error.detail
    codes = error.get_codes()
    code = "unknown_name" if codes == ["unknown_name"] else "invalid"
    if isinstance(said, list):
        return problem(400, code, " ".join(map(str, said)))
    errors = dict(_flat(said))
    listed = " ".join(f"{name}: {' '.join(words)}" for name, words in errors.items())
    return problem(400, code, listed, errors=errors)


def _flat(said: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield each field, as "filters.types.0", with what is wrong with it."""
    for name, value in said.items():
        field = prefix if name == "non_field_errors" else f"{prefix}.{name}".strip(".")
        if isinstance(value, Mapping):
            yield from _flat(value, field)
        elif isinstance(value, list):
            nested = {str(i): v for i, v in enumerate(value) if isinstance(v, Mapping)}
            yield from _flat(nested, field)
            if words := [str(v) for v in value if not isinstance(v, Mapping)]:
                yield field or "request", words
        else:
            yield field or "request", [str(value)]


def _headers(error: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(max(1, int(wait)))
    return headers


def _unforeseen(error: Exception, request: HttpRequest | None) -> JsonResponse:
    what = f"{request.method} {request.path}" if request else "An answer"
    if request:
        # As Django's own handler does: the test client and error reporters listen.
        got_request_exception.send(sender=None, request=request)
    log.error("%s failed", what, exc_info=error)
    return problem(500, "internal", "The server failed; its log says why.")
