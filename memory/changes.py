"""What people do to what is remembered: each checked, written and audited at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from connections.models import Project, User, record_audit
from connections.roles import Act, may
from graph.copying import execute
from graph.models import Evidence, Node
from graph.written import reopen_node, rewrite_node
from memory import observation_sql
from memory.learned import HAND, MemoryRefused, NotYours, check_text, hash_of
from memory.models import MemoryScope, Observation
from memory.observation_writer import settle_audiences
from memory.scopes import locked_scope


def may_change(observation: Observation, by: User) -> bool:
    """Return whether `by` may change it: it is theirs, and they see it."""
    seen = Node.objects.visible_to(by).filter(pk=observation.node_id)
    return is_theirs(observation, by) and seen.exists()


def is_theirs(observation: Observation, user: User) -> bool:
    """Return whether `user`, who sees it, may change it: their own, or what is shared
    where they review the project."""
    if observation.owner_id == user.pk:
        return True
    return observation.is_shared and may(
        user, Act.CURATE_MEMORY, observation.project_id
    )


@contextmanager
def _changing(
    observation: Observation, by: User, verb: str, **detail: str
) -> Iterator[tuple[Observation, MemoryScope]]:
    """Yield it as it is now, with its scope, both held; save it and audit the act."""
    project = Project.objects.select_related("tenant").get(pk=observation.project_id)
    with transaction.atomic():
        owner = observation.owner if not observation.is_shared else None
        scope = locked_scope(project, owner)
        held = (
            Observation.objects.select_for_update(of=("self",), no_key=True)
            .select_related("node__project", "owner", "project__tenant")
            .filter(pk=observation.pk, scope=scope)
            .first()
        )
        if held is None or not may_change(held, by):
            raise NotYours(
                f"memory:{observation.pk} is not in a memory that you may change."
            )
        record_audit(
            verb,
            target=f"memory:{held.pk}",
            project=project,
            actor=by,
            **detail,  # type: ignore[arg-type] # words of the detail only
        )
        yield held, scope


def correct(observation: Observation, text: str, *, by: User) -> Observation:
    """Give it the words of `by`, who vouches for them from now on; return it.

    Its former words stay in the audit, where they can be erased.
    """
    check_text(text)
    before = observation.node.content
    with _changing(observation, by, "memory.corrected", before=before) as (held, _):
        _refuse_twice(held, held.scope, hash_of(text))
        rewrite_node(held.node, content=text.strip(), context=held.node.context)
        held.words_hash, held.origin = hash_of(text), HAND
        held.save()
    return held


def pin(observation: Observation, *, by: User, pinned: bool = True) -> Observation:
    """Hold it as strong as it is, or let it fade again from now on."""
    verb = "memory.pinned" if pinned else "memory.unpinned"
    with _changing(observation, by, verb) as (held, scope):
        if held.left_at or held.superseded_by_id:
            raise MemoryRefused(
                f"memory:{held.pk} is not in memory; restore it, then pin it."
            )
        if held.is_pinned != pinned:
            held.counted = held.counted.pinned(scope.ticks, pinned)
            held.save()
    return held


def set_status(observation: Observation, status: str, *, by: User) -> Observation:
    """Say that a commitment is open, done or dropped."""
    if status not in Observation.Status:
        raise MemoryRefused(f"{status!r} is no status; it takes open, done or dropped.")
    with _changing(observation, by, "memory.status", status=status) as (held, _):
        held.status = status
        held.save()
    return held


def share(observation: Observation, *, by: User, shared: bool = True) -> Observation:
    """Put it into the project's memory, for all who may see what it rests on; or take
    it back into its owner's."""
    verb = "memory.shared" if shared else "memory.unshared"
    with transaction.atomic():
        if observation.owner is not None:
            # Before the project's, as everywhere: nobody waits in a circle.
            locked_scope(observation.project, observation.owner)
        with _changing(observation, by, verb) as (held, scope):
            if held.is_shared != shared:
                _move(held, scope, shared)
                settle_audiences(held.project, [held.pk])
    return held


def _move(held: Observation, scope: MemoryScope, shared: bool) -> None:
    if not shared and held.owner is None:
        raise MemoryRefused(
            f"memory:{held.pk} is nobody's own: it was always the project's."
        )
    target = locked_scope(held.project, None if shared else held.owner)
    _refuse_twice(held, target, held.words_hash)
    held.counted = held.counted.moved(scope.ticks, target.ticks)
    if held.superseded_by_id or held.left_at:
        held.leaves_at = None
    held.scope, held.is_shared = target, shared
    held.save()


def restore(observation: Observation, *, by: User) -> Observation:
    """Bring back what left memory, as strong as what is new."""
    with _changing(observation, by, "memory.restored") as (held, scope):
        if held.left_at is None and not held.counted.has_left(scope.ticks):
            raise MemoryRefused(f"memory:{held.pk} has not left memory.")
        if held.left_because == Observation.Left.UNSUPPORTED and not _has_proof(held):
            raise MemoryRefused(
                f"Nothing supports memory:{held.pk} any more. Remember it by hand if "
                "you vouch for it."
            )
        _refuse_twice(held, scope, held.words_hash)
        bring_back(held, scope)
    return held


def bring_back(observation: Observation, scope: MemoryScope) -> None:
    """Put what had left into memory again, as strong as what is new."""
    observation.counted = observation.counted.restored(scope.ticks)
    observation.left_at, observation.left_because = None, Observation.Left.NOT
    observation.save()
    reopen_node(observation.node_id)


def forget(observation: Observation, *, by: User) -> None:
    """Delete it for good, with all that says so; ask first.

    What it superseded does not come back: it can be restored for 30 days.
    """
    with _changing(observation, by, "memory.forgotten") as (held, _):
        older = Observation.objects.filter(superseded_by=held)
        if held.superseded_by_id:
            older.update(superseded_by=held.superseded_by_id)
        delete_nodes([held.pk])


def delete_nodes(nodes: list[int]) -> None:
    """Delete the nodes of observations, and with each all that refers to it."""
    execute(observation_sql.ORPHANED_BY, {"nodes": nodes, "now": timezone.now()})
    Node.objects.filter(pk__in=nodes).delete()


def _has_proof(held: Observation) -> bool:
    return Evidence.objects.filter(
        tenant_id=held.tenant_id, project_id=held.project_id, node_id=held.pk
    ).exists()


def _refuse_twice(held: Observation, scope: MemoryScope, words_hash: str) -> None:
    twin = (
        Observation.objects.filter(
            scope=scope,
            observation_type=held.observation_type,
            words_hash=words_hash,
            superseded_by=None,
            left_at=None,
        )
        .filter(~Q(pk=held.pk))
        .first()
    )
    if twin is not None:
        raise MemoryRefused(
            f"That memory holds it already: memory:{twin.pk} says the same."
        )
