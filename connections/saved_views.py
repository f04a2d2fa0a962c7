"""Keeping lists of the admin under a name: what may be kept, and where it leads."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import admin
from django.contrib.admin.options import TO_FIELD_VAR, IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG, PAGE_VAR
from django.core.exceptions import (
    PermissionDenied,
    SuspiciousOperation,
    ValidationError,
)
from django.db import IntegrityError, transaction
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from connections.models import Project, SavedView, User, record_audit
from connections.roles import Act, must

NAME_MOST, QUERY_MOST, EACH_MOST = 80, 2000, 200
# What is of one visit, not of the list.
PASSING = frozenset({PAGE_VAR, ERROR_FLAG, TO_FIELD_VAR, "_popup", "all"})


class NotKept(ValidationError):
    """A list that cannot be kept; the message says why, and what to do."""


def address_of_view(view: SavedView) -> str:
    """Return where a view leads: a list of our own, or nothing where there is none now.

    The address is made of the model's own list; of what is stored only the query.
    """
    if named(view.model) is None:
        return ""
    app, _, model = view.model.partition(".")
    address = reverse(f"admin:{app}_{model}_changelist")
    return f"{address}?{view.query}" if view.query else address


def named(label: str) -> Any:
    """Return the admin of the model called `app.model`; None where there is none."""
    for model, model_admin in admin.site._registry.items():
        if model._meta.label_lower == label:
            return model_admin
    return None


def keep_view(
    request: HttpRequest,
    *,
    by: User,
    name: str,
    label: str,
    query: str,
    shared_with: Project | None = None,
) -> SavedView:
    """Keep a list; raises `NotKept` unless it is one that `by` can open as it stands.

    To share it with a project one must be an editor there.
    """
    name = " ".join(name.split())
    if not name or len(name) > NAME_MOST:
        raise NotKept(f"Give the view a name of 1 to {NAME_MOST} characters.")
    model_admin = named(label)
    if model_admin is None or not model_admin.has_view_permission(request):
        raise NotKept("There is no such list, or it is not open to you.")
    if shared_with is not None:
        must(by, Act.SHARE_VIEWS, shared_with.pk)
    kept = checked_query(request, model_admin, query)
    if SavedView.objects.filter(owner=by).count() >= EACH_MOST:
        raise NotKept(f"You have {EACH_MOST} views; remove one first.")
    try:
        with transaction.atomic():
            view = SavedView.objects.create(
                owner=by, shared_with=shared_with, name=name, model=label, query=kept
            )
            record_audit(
                "view.saved",
                target=name,
                project=shared_with,
                actor=by,
                model=label,
                query=kept,
            )
    except IntegrityError:
        raise NotKept(
            f"You have a view {name!r} of this list already: take another name, or "
            "remove that one first."
        ) from None
    return view


def checked_query(request: HttpRequest, model_admin: Any, query: str) -> str:
    """Return the part of a list's query that is kept; `NotKept` where it is none.

    The list itself is asked, so that nothing is kept that it would not open with.
    """
    pairs = parse_qsl(query.lstrip("?"), keep_blank_values=False)
    kept = urlencode([pair for pair in pairs if pair[0] not in PASSING])
    if len(kept) > QUERY_MOST:
        raise NotKept("These filters are too long to be kept; take some away.")
    asked = _asking(request, kept)
    try:
        model_admin.get_changelist_instance(asked)
    except (IncorrectLookupParameters, SuspiciousOperation, ValueError) as error:
        raise NotKept("This list has no such filter; open it anew.") from error
    return kept


def _asking(request: HttpRequest, query: str) -> HttpRequest:
    asked = HttpRequest()
    asked.user, asked.method, asked.path = request.user, "GET", request.path
    asked.GET = QueryDict(query)
    asked.META = request.META
    asked._messages = getattr(request, "_messages", None)  # type: ignore[attr-defined]
    return asked


def remove_view(view: SavedView, *, by: User) -> None:
    """Remove a view: one's own, or one shared with a project of which one is admin."""
    if view.owner_id != by.pk:
        if view.shared_with_id is None:
            raise PermissionDenied("This view is somebody else's.")
        must(by, Act.REMOVE_VIEWS, view.shared_with_id)
    with transaction.atomic():
        record_audit(
            "view.removed",
            target=view.name,
            project=view.shared_with,
            actor=by,
            model=view.model,
        )
        view.delete()
