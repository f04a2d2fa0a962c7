"""What is asked for each verb of the queue, and the decision it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any, ClassVar

from django import forms
from django.utils import timezone

from connections.models import User
from connections.roles import Act, users_where
from graph.explanations import named
from graph.models import Node
from graph.review.acts import NOT_OURS, TEXT_MOST, TITLE_MOST
from graph.review.deciding import REASON_CHARACTERS
from graph.review.kinds import Decision, Verb
from graph.review.reading import Detail

# Days of the buttons beside a date.
QUICK = ((7, "A week"), (30, "A month"), (91, "A quarter"))
TOKEN_MOST = 400


class VerbForm(forms.Form):
    """The fields of a verb."""

    verb: ClassVar[Verb]

    def decision(self, by: User) -> Decision:
        """Return the decision that a valid form makes."""
        given = self.cleaned_data
        return Decision(verb=self.verb, by=by, reason=given.get("reason", ""))


class KeepForm(VerbForm):
    verb = Verb.KEEP
    reason = forms.CharField(
        max_length=REASON_CHARACTERS,
        label="Why it holds (kept in the history)",
        widget=forms.TextInput(attrs={"list": "review-reasons", "autocomplete": "off"}),
    )


class PruneForm(VerbForm):
    verb = Verb.PRUNE
    reason = forms.CharField(
        max_length=REASON_CHARACTERS,
        label="Why it goes (kept in the history)",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    token = forms.CharField(
        max_length=TOKEN_MOST, required=False, widget=forms.HiddenInput
    )

    def decision(self, by: User) -> Decision:
        given = self.cleaned_data
        return Decision(
            verb=self.verb,
            by=by,
            reason=given["reason"],
            token=given["token"],
            into=int(given["into"]) if given.get("into") else None,
        )


class SnoozeForm(VerbForm):
    verb = Verb.SNOOZE
    until = forms.DateField(
        required=False,
        label="Until",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    days = forms.TypedChoiceField(
        choices=QUICK, coerce=int, required=False, widget=forms.HiddenInput
    )
    reason = forms.CharField(
        max_length=REASON_CHARACTERS, required=False, label="Why (may be empty)"
    )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if not given.get("until") and not given.get("days") and not self.errors:
            self.add_error("until", "Choose a day.")
        return given

    def decision(self, by: User) -> Decision:
        given = self.cleaned_data
        today = timezone.localdate()
        day = today + timedelta(days=given["days"]) if given["days"] else given["until"]
        until = timezone.make_aware(datetime.combine(day, time.min))
        return Decision(verb=self.verb, by=by, reason=given["reason"], until=until)


class MergeForm(VerbForm):
    verb = Verb.MERGE
    reason = forms.CharField(
        max_length=REASON_CHARACTERS, required=False, label="Why (may be empty)"
    )

    def decision(self, by: User) -> Decision:
        given = self.cleaned_data
        into = int(given["into"]) if given.get("into") else None
        return Decision(verb=self.verb, by=by, reason=given["reason"], into=into)


class EditForm(VerbForm):
    verb = Verb.EDIT
    title = forms.CharField(max_length=TITLE_MOST, required=False)
    text = forms.CharField(
        max_length=TEXT_MOST, required=False, widget=forms.Textarea(attrs={"rows": 5})
    )
    reason = forms.CharField(
        max_length=REASON_CHARACTERS, required=False, label="Why (may be empty)"
    )

    def decision(self, by: User) -> Decision:
        given = self.cleaned_data
        # A browser sends every line's end as two characters.
        words = {
            name: given[name].replace("\r\n", "\n")
            for name in ("title", "text")
            if name in given
        }
        changed = {
            name: text
            for name, text in words.items()
            if text != str(self.initial.get(name) or "").strip()
        }
        return Decision(verb=self.verb, by=by, reason=given["reason"], **changed)


class AssignForm(VerbForm):
    verb = Verb.ASSIGN
    assignee = forms.ModelChoiceField(
        User.objects.none(), required=False, empty_label="nobody", label="To"
    )

    def decision(self, by: User) -> Decision:
        return Decision(verb=self.verb, by=by, assignee=self.cleaned_data["assignee"])


FORMS: Mapping[Verb, type[VerbForm]] = {
    each.verb: each
    for each in (KeepForm, PruneForm, SnoozeForm, MergeForm, EditForm, AssignForm)
}


def form_of(
    verb: Verb, detail: Detail, given: Mapping[str, str] | None = None
) -> VerbForm:
    """Return the form of a verb for one item."""
    form = FORMS[verb](given, auto_id=f"id_{verb}_%s", initial=_initial(detail))
    if verb == Verb.KEEP:
        form.fields["reason"].label = f"{detail.kind.why_kept} (kept in the history)"
    if verb in (Verb.PRUNE, Verb.MERGE):
        _offer_two(form, [node for node in (detail.claim, detail.other) if node])
    if verb == Verb.EDIT and detail.claim and detail.claim.origin == "memory":
        del form.fields["title"]
    if verb == Verb.ASSIGN:
        offer_people(form, [detail.item.project_id])
    return form


def bulk_form_of(
    verb: Verb,
    projects: Sequence[int],
    given: Mapping[str, str] | None = None,
) -> VerbForm:
    """Return the form of a verb for several items of some projects."""
    form = FORMS[verb](given, auto_id=f"id_{verb}_%s")
    if verb == Verb.ASSIGN:
        offer_people(form, projects)
    return form


def offer_people(form: forms.Form, projects: Sequence[int]) -> None:
    """Offer those who may decide the queue in one of the projects."""
    field = form.fields["assignee"]
    field.queryset = users_where(projects, Act.REVIEW)  # type: ignore[attr-defined] # it is a choice of models


def verbs_of(detail: Detail) -> list[Verb]:
    """Return the verbs that make sense for an item as it is."""
    verbs = list(detail.kind.verbs)
    is_ours = detail.claim is not None and detail.claim.origin not in NOT_OURS
    return [verb for verb in verbs if verb != Verb.EDIT or is_ours]


def _initial(detail: Detail) -> dict[str, Any]:
    claim, item = detail.claim, detail.item
    return {
        "title": claim.title if claim else "",
        "text": claim.content if claim else "",
        "assignee": item.assigned_to_id,
        "into": item.node_id if item.kind != "contradiction" else None,
    }


def _offer_two(form: forms.Form, both: Sequence[Node]) -> None:
    """Ask which of two stays."""
    if len(both) == 2:
        names = [f"{side}: {named(n)}" for side, n in zip("AB", both, strict=True)]
        form.fields["into"] = forms.ChoiceField(
            label="Which one stays?",
            choices=[(str(n.pk), name) for n, name in zip(both, names, strict=True)],
            widget=forms.RadioSelect,
        )
        form.order_fields(["into"])
