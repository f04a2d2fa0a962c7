"""A person's word on who is who: written, audited, and carried out."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q

from connections.models import Project, User, record_audit
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
