"""What a caller may do: scopes of tokens, memberships of people."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from connections.models import ApiToken, Scope, User

if TYPE_CHECKING:
    # The framework imports this module while it imports its views.
    from rest_framework.views import APIView

Rows = TypeVar("Rows", bound="QuerySet")


class IsMemberWithScope(BasePermission):
    """Lets in a person, or a token that has the scope of the view's action.

    A view names its `scope` ("read" where it names none) and, by action, `scopes` that
    differ. What a caller may see is for `visible` to say: outside of it is a 404.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not (request.user and request.user.is_authenticated):
            return False
        scope = scope_of(view)
        if isinstance(request.auth, ApiToken) and scope not in request.auth.scopes:
            raise PermissionDenied(
                f"This token lacks the scope {scope.value!r}; use one that has it.",
                code="missing_scope",
            )
        return True


def scope_of(view: APIView) -> Scope:
    """Return the scope that what is asked of `view` needs."""
    scopes: dict[str, Scope] = getattr(view, "scopes", {})
    usual: Scope = getattr(view, "scope", Scope.READ)
    return scopes.get(getattr(view, "action", None) or "", usual)


def caller(request: Request) -> User:
    """Return who is signed in; only for views behind `IsMemberWithScope`."""
    if not isinstance(request.user, User):
        raise PermissionDenied("Nobody is signed in.", code="not_authenticated")
    return request.user


def token_of(request: Request) -> UUID | None:
    """Return the token that the caller came with; None of a session."""
    return request.auth.pk if isinstance(request.auth, ApiToken) else None


def visible(rows: Rows, request: Request) -> Rows:
    """Keep what the caller may see, and of that only the tenant of their token."""
    seen: Rows = rows.visible_to(request.user)  # type: ignore[attr-defined] # every read model has it
    if isinstance(request.auth, ApiToken):
        return seen.filter(tenant_id=request.auth.tenant_id)
    return seen
