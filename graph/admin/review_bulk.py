"""Several items of the queue decided alike: asked first, each whole or not at all."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.admin import ModelAdmin

from connections.admin_scope import staff
from connections.models import User
from connections.refusals import Refused
from graph.admin.review_done import counted, standing_of
from graph.admin.review_forms import QUICK, VerbForm, bulk_form_of
from graph.admin.review_item import QUEUE, verb_sent
from graph.admin.review_queue import with_nodes
from graph.models import ReviewItem
from graph.review import deciding
from graph.review.confirming import AT_ONCE, Consequences
from graph.review.deciding import BULK_MOST, confirm_again_of, consequences_of
from graph.review.errors import Unconfirmed
from graph.review.kinds import Verb, review_kinds
from graph.review.reading import queue_of

BULK = (Verb.KEEP, Verb.PRUNE, Verb.SNOOZE, Verb.ASSIGN)
NAMED_MOST = 20
# Of an id and a version, which are numbers of the database.
DIGITS_MOST = 28


def ask_bulk(
    model_admin: ModelAdmin, request: HttpRequest, verb: Verb, chosen: Sequence[int]
) -> HttpResponse | None:
    """Return the page that asks what a bulk act needs; None where it cannot be."""
    if len(chosen) > BULK_MOST:
        model_admin.message_user(
            request, f"Decide at most {BULK_MOST:,} at once.", messages.ERROR
        )
        return None
    items = _items(staff(request), chosen)
    form = _form(verb, items)
    try:
        found = _found(verb, items, staff(request))
    except Refused as error:
        model_admin.message_user(request, str(error), messages.ERROR)
        return None
    return _page(model_admin, request, items, form, found)


def decide_bulk(model_admin: ModelAdmin, request: HttpRequest) -> HttpResponse:
    """Carry a bulk act out, or ask again for what it still lacks."""
    user, verb = staff(request), verb_sent(request)
    chosen = _chosen(request)
    if verb not in BULK or not chosen:
        raise BadRequest("There is no such bulk act.")
    items = _items(user, [pk for pk, _ in chosen])
    form = _form(verb, items, request.POST)
    try:
        if not form.is_valid():
            found = _found(verb, items, user)
            return _page(model_admin, request, items, form, found, status=400)
        done = deciding.decide_all(chosen, form.decision(user))
    except Unconfirmed as error:
        return _again(model_admin, request, items, form, error)
    except Refused as error:
        model_admin.message_user(request, str(error), messages.ERROR)
        return redirect(QUEUE)
    for line in counted(done.refused):
        model_admin.message_user(request, line, messages.WARNING)
    query = urlencode({"batch": done.batch}) if done.done else ""
    return redirect(f"{reverse(QUEUE)}?{query}")


def undo_bulk(
    model_admin: ModelAdmin, request: HttpRequest, batch: uuid.UUID
) -> HttpResponse:
    """Take back what still stands of a bulk act."""
    user = staff(request)
    back, refused = 0, {}
    for row in standing_of(batch, user):
        try:
            deciding.undo(row.pk, user)
            back += 1
        except Refused as error:
            refused[row.pk] = str(error)
    for line in counted(refused):
        model_admin.message_user(request, line, messages.WARNING)
    if back:
        model_admin.message_user(request, f"{back} taken back.", messages.SUCCESS)
    return redirect(QUEUE)


def _again(
    model_admin: ModelAdmin,
    request: HttpRequest,
    items: Sequence[ReviewItem],
    form: VerbForm,
    error: Unconfirmed,
) -> HttpResponse:
    """Return the second question of many, else the first one as things are now."""
    token = request.POST.get("token", "")
    chosen = [item.pk for item in items]
    if error.consequences.asks_again and token:
        try:
            second = confirm_again_of(chosen, staff(request), token)
        except Unconfirmed as changed:
            error = changed
        else:
            return _page(model_admin, request, items, form, second, is_second=True)
    found, why = error.consequences, str(error)
    return _page(model_admin, request, items, form, found, why=why, status=409)


def _page(
    model_admin: ModelAdmin,
    request: HttpRequest,
    items: Sequence[ReviewItem],
    form: VerbForm,
    found: Consequences | None,
    *,
    why: str = "",
    is_second: bool = False,
    status: int = 200,
) -> HttpResponse:
    title = f"{form.verb.label} {len(items)} item{'s' * (len(items) != 1)}?"
    context: dict[str, Any] = {
        **model_admin.admin_site.each_context(request),
        "title": title,
        "page_title": title,
        "opts": model_admin.opts,
        "items": items,
        "chosen": ",".join(f"{item.pk}:{item.version}" for item in items),
        "named": [(review_kinds[each.kind].title, each) for each in items[:NAMED_MOST]],
        "more": max(0, len(items) - NAMED_MOST),
        "form": form,
        "found": found,
        "why": why,
        "is_second": is_second,
        "at_once": AT_ONCE,
        "quick": QUICK,
        "back": reverse(QUEUE),
    }
    return TemplateResponse(request, "admin/review/bulk.html", context, status=status)


def _items(user: User, chosen: Sequence[int]) -> list[ReviewItem]:
    rows = queue_of(user, state="").filter(pk__in=chosen)
    return list(with_nodes(rows.select_related("project__tenant"), user))


def _form(verb: Verb, items: Sequence[ReviewItem], given: Any = None) -> VerbForm:
    return bulk_form_of(verb, list({item.project_id for item in items}), given)


def _found(verb: Verb, items: Sequence[ReviewItem], user: User) -> Consequences | None:
    if verb != Verb.PRUNE:
        return None
    return consequences_of([item.pk for item in items], user)


def _chosen(request: HttpRequest) -> list[tuple[int, int]]:
    """Return the items and the versions that the page showed."""
    chosen = []
    # One field for all: Django takes a thousand fields of a form at most.
    for each in filter(None, request.POST.get("chosen", "").split(",")):
        pk, _, version = each.partition(":")
        is_plain = each.isascii() and pk.isdigit() and version.isdigit()
        if not is_plain or len(each) > DIGITS_MOST:
            raise BadRequest("The choice of items is damaged; choose them again.")
        chosen.append((int(pk), int(version)))
    return chosen
