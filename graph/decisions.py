"""A person's word on who is who: written, audited, and carried out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from connections.models import Project, User, record_audit
from connections.records import JSON
from graph.identity import refresh_persons
from graph.models import Identity, IdentityDecision, Node

Verb = IdentityDecision.Verb


class NothingToDecide(ValueError):
    """The choice leaves nothing to merge or to split; the message says why."""


def merge_persons(persons: Sequence[Node], *, actor: User, reason: str = "") -> None:
    """Make `persons`, nodes of one project, one person from now on.

    What people split between them before is taken back. Raises `NothingToDecide`.
    """
    project = _one_project(persons)
    groups = [_keys(person) for person in persons]
    if len(groups) < 2 or not all(groups):
        raise NothingToDecide("Choose two or more persons that have identities.")
    first, *others = sorted(groups, key=lambda keys: keys[0])
    with transaction.atomic():
        for place, keys in enumerate((first, *others)):
            for later in (first, *others)[place + 1 :]:
                _take_back(project, Verb.SPLIT, keys, later)
        for keys in others:
            _decide(project, Verb.MERGE, first[0], keys[0], actor=actor, reason=reason)
        record_audit(
            "person.merged",
            target=f"node:{persons[0].pk}",
            project=project,
            actor=actor,
            identities=[keys[0] for keys in (first, *others)],
            reason=reason,
        )
        refresh_persons(project)


def part_persons(persons: Sequence[Node], *, actor: User, reason: str = "") -> None:
    """Hold `persons`, nodes of one project, to be different people from now on.

    What people merged of them before is taken back. Raises `NothingToDecide`.
    """
    project = _one_project(persons)
    groups = [_keys(person) for person in persons]
    if len(groups) < 2 or not all(groups):
        raise NothingToDecide("Choose two or more persons that have identities.")
    pairs = (pair for two in combinations(groups, 2) for pair in product(*two))
    with transaction.atomic():
        for one, two in pairs:
            _decide(project, Verb.SPLIT, one, two, actor=actor, reason=reason)
        record_audit(
            "person.parted",
            target=f"node:{persons[0].pk}",
            project=project,
            actor=actor,
            identities=[keys[0] for keys in groups],
            reason=reason,
        )
        refresh_persons(project)


def decided_of(project: Project, keys: Sequence[str]) -> list[dict[str, JSON]]:
    """Return what people decided between the identities `keys`, for `decide_again`."""
    rows = _between(project, keys).order_by("first_key", "second_key")
    names = ("verb", "first_key", "second_key", "decided_by_id", "reason")
    return [dict(zip(names, row, strict=True)) for row in rows.values_list(*names)]


def decide_again(
    project: Project,
    keys: Sequence[str],
    decided: Sequence[dict[str, Any]],
    *,
    actor: User,
) -> None:
    """Make `decided` all that people decided between the identities `keys`."""
    with transaction.atomic():
        _between(project, keys).delete()
        IdentityDecision.objects.bulk_create(
            IdentityDecision(tenant_id=project.tenant_id, project=project, **row)
            for row in decided
        )
        record_audit(
            "person.undecided", project=project, actor=actor, identities=[*keys]
        )
        refresh_persons(project)


def _between(project: Project, keys: Sequence[str]) -> QuerySet[IdentityDecision]:
    return IdentityDecision.objects.filter(
        tenant_id=project.tenant_id,
        project=project,
        first_key__in=keys,
        second_key__in=keys,
    )


def split_identity(identity: Identity, *, actor: User, reason: str = "") -> None:
    """Part `identity` from all others of its person, whatever held them together."""
    project = Project.objects.select_related("tenant").get(pk=identity.project_id)
    others = [key for key in _keys(identity.person) if key != identity.key]
    if not others:
        raise NothingToDecide(f"{identity.key} is the only identity of its person.")
    with transaction.atomic():
        for other in others:
            _decide(
                project, Verb.SPLIT, identity.key, other, actor=actor, reason=reason
            )
        record_audit(
            "person.split",
            target=f"node:{identity.pk}",
            identity=identity.key,
            project=project,
            actor=actor,
            parted_from=[*others],
            reason=reason,
        )
        refresh_persons(project)


def _one_project(persons: Sequence[Node]) -> Project:
    projects = {person.project_id for person in persons}
    if len(projects) != 1:
        raise NothingToDecide("Persons of different projects cannot be merged.")
    return Project.objects.select_related("tenant").get(pk=projects.pop())


def _keys(person: Node) -> list[str]:
    held = Identity.objects.filter(
        tenant_id=person.tenant_id, project_id=person.project_id, person=person
    )
    return list(held.order_by("key").values_list("key", flat=True))


def _decide(
    project: Project, verb: str, one: str, other: str, *, actor: User, reason: str
) -> None:
    first, second = sorted((one, other))
    IdentityDecision.objects.update_or_create(
        tenant_id=project.tenant_id,
        project=project,
        first_key=first,
        second_key=second,
        defaults={"verb": verb, "decided_by": actor, "reason": reason},
    )


def _take_back(
    project: Project, verb: str, ones: Sequence[str], others: Sequence[str]
) -> None:
    IdentityDecision.objects.filter(
        Q(first_key__in=ones, second_key__in=others)
        | Q(first_key__in=others, second_key__in=ones),
        tenant_id=project.tenant_id,
        project=project,
        verb=verb,
    ).delete()
