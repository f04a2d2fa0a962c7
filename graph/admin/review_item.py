"""One item of the queue on one page: read, decided, taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    QueryDict,
)
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.admin import ModelAdmin

from connections.admin_scope import staff
from connections.models import User
from connections.refusals import Refused
from graph.admin.review_done import done_of
from graph.admin.review_forms import QUICK, VerbForm, form_of, verbs_of
from graph.admin.review_queue import KEPT, Asked, left_of, next_of, previous_of
from graph.models import ReviewItem
from graph.review import deciding
from graph.review.confirming import Consequences
from graph.review.deciding import DECIDABLE, consequences_of
from graph.review.errors import Collision, ReviewError, Unconfirmed
from graph.review.kinds import Verb
from graph.review.reading import Detail, detail_of, queue_of
from graph.review.reopening import can_take_back

QUEUE = "admin:graph_reviewitem_changelist"
ITEM = "admin:graph_reviewitem_change"
TO = ("next", "previous", "list")
KEYS: Mapping[Verb, str] = {
    Verb.KEEP: "a",
    Verb.PRUNE: "p",
    Verb.SNOOZE: "s",
    Verb.MERGE: "m",
    Verb.EDIT: "e",
    Verb.ASSIGN: "g",
}
# What each key does, as the page lists them; `k` is the previous item, so that keep
# has `a`, as in approve.
KEYS_OF_ITEM = (
    ("j", "skip: the next item"),
    ("k", "the previous item"),
    ("aK", "keep"),
    ("pr", "prune, which asks first"),
    ("s", "snooze"),
    ("m", "merge"),
    ("e", "edit"),
    ("g", "give it to somebody"),
    ("u", "undo"),
    ("q", "all of the queue"),
    ("?", "this list"),
)
KEYS_OF_LIST = (
    ("j", "down"),
    ("k", "up"),
    ("o", "open"),
    ("x", "choose for a bulk act"),
    ("u", "undo"),
    ("?", "this list"),
)


@dataclass(frozen=True, slots=True)
class Panel:
    """A verb of an item: its key, its form, and whether that stands open."""

    verb: Verb
    label: str
    key: str
    form: VerbForm
    is_open: bool
    can_undo: bool


@dataclass(frozen=True, slots=True)
class Tried:
    """A decision that was not carried out: what was typed, and why not."""

    form: VerbForm
    why: str = ""
    status: int = 400

    @property
    def typed(self) -> list[tuple[str, str]]:
        """Return what was typed, for those who can no longer send it."""
        fields = self.form.visible_fields()
        return [
            (str(each.label), str(value)) for each in fields if (value := each.value())
        ]


def item_page(
    model_admin: ModelAdmin, request: HttpRequest, pk: int, tried: Tried | None = None
) -> HttpResponse:
    """Return the page of an item, which is held for its reader from now on."""
    user = staff(request)
    item, held = _held(_item(request, pk), user)
    detail = detail_of(item, user)
    asked = asked_of(request)
    context = {
        **_context(model_admin, request, item),
        "page_title": detail.kind.title,
        "detail": detail,
        "both": [node for node in (detail.claim, detail.other) if node],
        "withheld": _withheld(detail),
        "keys": KEYS_OF_ITEM,
        "held": held,
        "panels": _panels(detail, tried) if _is_decidable(item) and not held else [],
        "tried": tried,
        "along": _along(detail, user),
        "left": left_of(asked, user),
        "previous": previous_of(asked, item, user),
        "following": next_of(asked, item, user),
        "done": done_of(request, user),
        "quick": QUICK,
        "undoable": undoable_of(detail),
    }
    status = tried.status if tried else 200
    return TemplateResponse(request, "admin/review/item.html", context, status=status)


def decide_item(model_admin: ModelAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """Carry out what was sent; then the next item, or this one with what hinders."""
    user, item = staff(request), _item(request, pk)
    detail = detail_of(item, user)
    verb = verb_sent(request)
    version = request.POST.get("version", "")
    if verb not in detail.kind.verbs or not (version.isascii() and version.isdigit()):
        raise BadRequest("There is no such decision of this item.")
    form = form_of(verb, detail, request.POST)
    if not form.is_valid():
        return item_page(model_admin, request, pk, Tried(form))
    decision = form.decision(user)
    try:
        row = deciding.decide(pk, decision, version=int(version))
    except Unconfirmed as error:
        why = str(error) if decision.token else ""
        return _confirm(model_admin, request, item, form, error.consequences, why)
    except Refused as error:
        tried = Tried(form, str(error), error.status_code)
        return item_page(model_admin, request, pk, tried)
    return _on(request, item, user, done=row.pk)


def leave_item(model_admin: ModelAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """Let others decide an item, and go where was asked for."""
    user, item = staff(request), _item(request, pk)
    to = request.POST.get("to", "")
    if to not in TO:
        raise BadRequest("Leave it for the next, the previous, or the list.")
    deciding.release(pk, user)
    asked = asked_of(request)
    if to == "next":
        return _on(request, item, user)
    before = previous_of(asked, item, user) if to == "previous" else None
    return _to(request, before)


def undo_decision(
    model_admin: ModelAdmin, request: HttpRequest, decision: int
) -> HttpResponse:
    """Take a decision back, and open its item."""
    try:
        row = deciding.undo(decision, staff(request))
    except ReviewError as error:
        if error.status_code == 404:
            raise Http404(str(error)) from error
        model_admin.message_user(request, str(error), messages.ERROR)
        return _to(request, None)
    model_admin.message_user(request, "Taken back.", messages.SUCCESS)
    return _to(request, ReviewItem.objects.get(pk=row.item_id))


def asked_of(request: HttpRequest) -> Asked:
    """Return the list that an item was opened from."""
    return Asked.of(QueryDict(request.GET.get(KEPT, "")).dict())


def verb_sent(request: HttpRequest) -> Verb:
    """Return the verb of a form; another is a bad request."""
    try:
        return Verb(request.POST.get("verb", ""))
    except ValueError:
        raise BadRequest("There is no such verb.") from None


def undoable_of(detail: Detail) -> int | None:
    """Return the latest decision of an item where it can be taken back."""
    latest = next((row for row in detail.history if row.undone_at is None), None)
    own = (Verb.SNOOZE, Verb.ASSIGN)
    if latest is None or not can_take_back(latest):
        return None
    return latest.pk if latest.verb in (*detail.kind.undos, *own) else None


def _item(request: HttpRequest, pk: int) -> ReviewItem:
    rows = queue_of(staff(request), state="").select_related(
        "project__tenant", "assigned_to", "held_by"
    )
    item = rows.filter(pk=pk).first()
    if item is None:
        raise Http404("There is no such item that you may decide.")
    return item


def _withheld(detail: Detail) -> int:
    """Return how many of the nodes of an item its reader does not see."""
    named = [pk for pk in (detail.item.node_id, detail.item.other_id) if pk]
    return len(named) - sum(1 for node in (detail.claim, detail.other) if node)


def _is_decidable(item: ReviewItem) -> bool:
    return item.state in DECIDABLE


def _held(item: ReviewItem, user: User) -> tuple[ReviewItem, Collision | None]:
    """Return the item, held for `user`; with who else holds it, if somebody does."""
    if not _is_decidable(item):
        return item, None
    try:
        return deciding.hold(item.pk, user), None
    except Collision as error:
        return item, error


def _panels(detail: Detail, tried: Tried | None) -> list[Panel]:
    own = (Verb.SNOOZE, Verb.ASSIGN)
    panels = []
    for verb in verbs_of(detail):
        was_tried = tried is not None and tried.form.verb == verb
        form = tried.form if tried and was_tried else form_of(verb, detail)
        can_undo = verb in detail.kind.undos or verb in own
        panels.append(
            Panel(
                verb=verb,
                label=detail.kind.label(verb),
                key=KEYS[verb],
                form=form,
                is_open=was_tried,
                can_undo=can_undo,
            )
        )
    return panels


def _along(detail: Detail, user: User) -> Consequences | None:
    """Return what a prune would do, where it is plain which of two would go."""
    item = detail.item
    if Verb.PRUNE not in detail.kind.verbs or item.other_id or not _is_decidable(item):
        return None
    try:
        return consequences_of([item.pk], user)
    except ReviewError:
        return None


def _confirm(
    model_admin: ModelAdmin,
    request: HttpRequest,
    item: ReviewItem,
    form: VerbForm,
    found: Consequences,
    why: str,
) -> HttpResponse:
    context = {
        **_context(model_admin, request, item),
        "title": "Prune this?",
        "page_title": "Prune this?",
        "found": found,
        "reason": form.cleaned_data["reason"],
        "into": form.cleaned_data.get("into", ""),
        "version": request.POST["version"],
        "why": why,
    }
    return TemplateResponse(
        request, "admin/review/confirm.html", context, status=409 if why else 200
    )


def _context(
    model_admin: ModelAdmin, request: HttpRequest, item: ReviewItem
) -> dict[str, Any]:
    kept = request.GET.get(KEPT, "")
    return {
        **model_admin.admin_site.each_context(request),
        "title": "Review",
        "opts": model_admin.opts,
        "item": item,
        "query": f"?{urlencode({KEPT: kept})}" if kept else "",
        "back": f"{reverse(QUEUE)}?{kept}",
    }


def _on(
    request: HttpRequest, item: ReviewItem, user: User, **more: object
) -> HttpResponseRedirect:
    return _to(request, next_of(asked_of(request), item, user), **more)


def _to(
    request: HttpRequest, item: ReviewItem | None, **more: object
) -> HttpResponseRedirect:
    """Lead to an item with the list it is of, or to that list."""
    kept = request.GET.get(KEPT, "")
    if item is None:
        asked = Asked.of(QueryDict(kept).dict()).query()
        return redirect(
            f"{reverse(QUEUE)}?{'&'.join(filter(None, (asked, urlencode(more))))}"
        )
    query = {KEPT: kept} if kept else {}
    found = urlencode(query | more)
    return redirect(f"{reverse(ITEM, args=[item.pk])}{'?' + found if found else ''}")
