"""Signing in and out, refused or locked out, and passwords changed: each audited."""

from __future__ import annotations

from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.signals import (
    user_logged_in,
    user_logged_out,
    user_login_failed,
)
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models.signals import post_save
from django.http import HttpRequest

from connections.models import Tenant, User, record_audit

NOBODY = "somebody unknown"


class SignIn(ModelBackend):
    """Signs people in; what they may do comes from their roles, not from here."""

    def _get_permissions(self, user_obj: Any, obj: Any, from_name: str) -> set[str]:
        return set()


def tenants_of(user: User) -> list[Tenant | None]:
    """Return the tenants whose audit an act of `user` as a person belongs to."""
    found = Tenant.objects.filter(projects__memberships__user=user).distinct()
    return [*found.order_by("pk")] or [None]


def connect() -> None:
    """Listen to Django and to its lock; called once, when the app is ready."""
    for signal, heard in (
        (user_logged_in, _signed_in),
        (user_logged_out, _signed_out),
        (user_login_failed, _refused),
        (user_locked_out, _locked_out),
    ):
        signal.connect(heard, dispatch_uid=f"audit:{heard.__name__}")
    post_save.connect(_password, sender=User, dispatch_uid="audit:password")


def _signed_in(sender: Any, request: Any, user: User, **rest: Any) -> None:
    _record("auth.signed_in", user, request)


def _signed_out(sender: Any, request: Any, user: User | None, **rest: Any) -> None:
    if user is not None:
        _record("auth.signed_out", user, request)


def _refused(
    sender: Any, credentials: dict[str, Any], request: Any = None, **rest: Any
) -> None:
    typed = credentials.get("username") or credentials.get("email") or ""
    _of_address("auth.refused", str(typed), request)


def _locked_out(sender: Any, request: Any, username: str, **rest: Any) -> None:
    _of_address("auth.locked_out", str(username or ""), request)


def _password(sender: Any, instance: User, created: bool, **rest: Any) -> None:
    # Django keeps the raw one until it is saved, and drops it where it only rehashes.
    if not created and instance._password is not None:  # type: ignore[attr-defined]
        _record("user.password_changed", instance, None)


def _of_address(verb: str, typed: str, request: Any) -> None:
    """Audit what was tried with an address; what is none may be a password."""
    user = User.objects.filter(email__iexact=typed).first() if typed else None
    if user is not None:
        _record(verb, user, request, acts=False)
        return
    try:
        validate_email(typed)
    except ValidationError:
        typed = NOBODY
    record_audit(verb, target=typed, address=_address(request))


def _record(verb: str, user: User, request: Any, *, acts: bool = True) -> None:
    with transaction.atomic():
        for tenant in tenants_of(user):
            record_audit(
                verb,
                target=user.email,
                tenant=tenant,
                actor=user if acts else None,
                address=_address(request),
            )


def _address(request: Any) -> str:
    """Return from where it came; behind a proxy that is the proxy's."""
    is_request = isinstance(request, HttpRequest)
    return str(request.META.get("REMOTE_ADDR", "")) if is_request else ""
