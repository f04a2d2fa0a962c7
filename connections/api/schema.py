"""What the OpenAPI description says of every operation."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from connections.api.problems import CONTENT_TYPE

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was wrong and what to do."},
        "code": {"type": "string", "description": "The same for the same mistake."},
        "rule": {
            "type": "string",
            "description": "The guard's rule that a refused statement breaks.",
        },
        "errors": {
            "type": "object",
            "description": "What was wrong with each field.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
    },
}
ALWAYS = {
    "400": "Something in the request is wrong; `detail` says what.",
    "401": "No token or session, or one that is no longer good.",
    "403": "The token lacks the scope.",
    "404": "It does not exist, or is not for the caller to see.",
    "406": "`Accept` names nothing that is answered here.",
    "429": "Too many requests; `Retry-After` says how many seconds to wait.",
}
WITH_BODY = {
    "413": "The body is too long.",
    "415": "The body is not JSON.",
}
WITH_VERSION = {
    "409": "It is not changed here; `detail` says where, or what stands against it.",
    "412": "It was changed since it was read.",
    "428": "Send the ETag that it was read with as `If-Match`.",
}


class TokenScheme(OpenApiAuthenticationExtension):
    """Describes the bearer token; drf-spectacular finds it when this is imported."""

    target_class = "connections.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


def add_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the errors that any operation may answer; a hook of drf-spectacular."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    for path in result["paths"].values():
        for operation in path.values():
            reasons = ALWAYS | (WITH_BODY if "requestBody" in operation else {})
            asked = {each["name"] for each in operation.get("parameters", ())}
            reasons |= WITH_VERSION if "If-Match" in asked else {}
            for status, reason in reasons.items():
                operation["responses"].setdefault(status, _response(status, reason))
    return result


def _response(status: str, reason: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": reason,
        "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    header = {"401": "WWW-Authenticate", "429": "Retry-After"}.get(status)
    if header:
        described["headers"] = {
            header: {"required": True, "schema": {"type": "string"}}
        }
    return described
