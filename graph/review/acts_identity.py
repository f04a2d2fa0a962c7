"""Two that may be one person: merged, or held to be two; both can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from connections.models import User
from connections.records import JSON
from graph.decisions import (
    NothingToDecide,
    decide_again,
    decided_of,
    merge_persons,
    part_persons,
)
from graph.models import Identity, Node, ReviewItem
from graph.review.errors import NotDecidable
from graph.review.kinds import Decision

Decides = Callable[..., None]


def merge(item: ReviewItem, decision: Decision) -> Mapping[str, JSON]:
    """Make the two one person."""
    return _decide(item, decision, merge_persons)


def keep_apart(item: ReviewItem, decision: Decision) -> Mapping[str, JSON]:
    """Hold the two to be two people, whatever else ties them."""
    return _decide(item, decision, part_persons)


def take_back(item: ReviewItem, before: Mapping[str, Any], by: User) -> None:
    """Make what was decided between their identities what it was."""
    ones, others = before["ones"], before["others"]
    _point(item, None, None)
    decide_again(item.project, [*ones, *others], before["decided"], actor=by)
    _point(item, *_persons_of(item, ones, others))


def _decide(
    item: ReviewItem, decision: Decision, decides: Decides
) -> Mapping[str, JSON]:
    one, other = _person(item, item.node_id), _person(item, item.other_id)
    ones, others = _keys(one), _keys(other)
    if one.pk == other.pk:
        raise NotDecidable("They are one person already.")
    before = decided_of(item.project, [*ones, *others])
    # A person that is merged into another goes, and an item with it.
    _point(item, None, None)
    try:
        decides([one, other], actor=decision.by, reason=decision.reason)
    except NothingToDecide as error:
        raise NotDecidable(str(error)) from error
    _point(item, *_persons_of(item, ones, others))
    return {"ones": [*ones], "others": [*others], "decided": [*before]}


def _person(item: ReviewItem, node_id: int | None) -> Node:
    """Return the person that a node is, or that an identity is held to be."""
    rows = Identity.objects.filter(tenant_id=item.tenant_id, project_id=item.project_id)
    found = None
    if node_id is not None:
        as_identity, as_person = rows.filter(node=node_id), rows.filter(person=node_id)
        found = as_identity.first() or as_person.first()
    if found is None:
        raise NotDecidable("One of the two is no longer there.")
    return found.person


def _keys(person: Node) -> list[str]:
    held = Identity.objects.filter(
        tenant_id=person.tenant_id, project_id=person.project_id, person=person
    )
    return list(held.order_by("key").values_list("key", flat=True))


def _persons_of(
    item: ReviewItem, ones: Sequence[str], others: Sequence[str]
) -> tuple[int | None, int | None]:
    rows = Identity.objects.filter(tenant_id=item.tenant_id, project_id=item.project_id)
    held = dict(rows.filter(key__in=[*ones, *others]).values_list("key", "person_id"))
    one, other = (held.get(keys[0]) for keys in (ones, others))
    return one, other


def _point(item: ReviewItem, node: int | None, other: int | None) -> None:
    ReviewItem.objects.filter(pk=item.pk).update(node=node, other=other)
