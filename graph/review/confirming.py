"""The consequences of a prune as a person may see them, and the token that confirms
them: signed over that state, good for half an hour, no good once it has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.core import signing
from django.db import transaction

from connections.models import Project, User
from connections.roles import Act, must
from graph.models import Edge, Node
from graph.review.errors import NoSuchItem, NotDecidable, Unconfirmed
from graph.review.kinds import Reliance, dependants
from graph.review.plans import Plan, plan_of

SALT = "graph.review.prune"
GOOD_SECONDS = 30 * 60
# Above so many at once a second confirmation is asked for.
AT_ONCE = 50
NODES_MOST = 5000


@dataclass(frozen=True, slots=True)
class Going:
    """A node that would be put away."""

    node_id: int
    key: str
    node_type: str
    title: str

    @property
    def type_name(self) -> str:
        return self.node_type.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a prune would do, as far as its reader may see it.

    `along` goes with what was chosen; `edges` end with all that; `reliances` stay, and
    lose what they rest on; `hidden` is how many more of these there are that the reader
    may not see. `asks_again`: `token` must be confirmed by `confirm_again` first.
    """

    chosen: Sequence[Going]
    along: Sequence[Going]
    edges: int
    reliances: Sequence[Reliance]
    hidden: int
    token: str
    asks_again: bool = False


def consequences(
    project: Project,
    nodes: Sequence[int],
    reader: User,
    *,
    edges: Sequence[int] = (),
) -> Consequences:
    """Return what pruning `nodes` and `edges` would do, with the token that confirms
    it. Nothing is changed. Raises `NoSuchItem` for what the reader may not see."""
    must(reader, Act.REVIEW, project.pk)
    return told(project, plan_to(project, nodes, reader, edges), reader)


def confirm_again(
    project: Project,
    nodes: Sequence[int],
    reader: User,
    token: str,
    *,
    edges: Sequence[int] = (),
) -> Consequences:
    """Return the consequences with the second token, which a prune of more than
    `AT_ONCE` asks for, for the first one; raise `Unconfirmed` for another state."""
    found = consequences(project, nodes, reader, edges=edges)
    check_token(found, token, step=1)
    second = _signed(_unsigned(found.token)[0], step=2)
    return replace(found, token=second, asks_again=False)


def plan_to(
    project: Project, nodes: Sequence[int], reader: User, edges: Sequence[int] = ()
) -> Plan:
    """Return the plan of a prune by `reader`, who must see all that is chosen."""
    wanted = set(nodes)
    if not wanted and not edges:
        raise NotDecidable("Choose what is to be pruned.")
    if len(wanted) > NODES_MOST:
        raise NotDecidable(f"Prune at most {NODES_MOST} at once.")
    seen = Node.objects.visible_to(reader).of(project).current()
    found = set(seen.filter(pk__in=wanted).values_list("pk", flat=True))
    lines = set(
        Edge.objects.visible_to(reader)
        .of(project)
        .filter(pk__in=edges, valid_to=None)
        .values_list("pk", flat=True)
    )
    if found != wanted or lines != set(edges):
        raise NoSuchItem(
            "Some of what is to be pruned is not there, or is in the trash already."
        )
    return plan_of(project, found, lines)


def told(project: Project, plan: Plan, reader: User) -> Consequences:
    """Return `plan` as `reader` may see it, with its token."""
    # One moment for what is counted and what is signed.
    with transaction.atomic():
        rows = Node.objects.visible_to(reader).of(project).filter(pk__in=plan.nodes)
        columns = rows.values_list("pk", "key", "node_type", "title", "content")
        seen = {
            pk: Going(pk, key, kind, title or content[:80] or key)
            for pk, key, kind, title, content in columns
        }
        reliances = [
            each
            for find in dependants.values()
            for each in (find(project, plan.nodes, reader) if plan.nodes else ())
            if each.count or each.hidden
        ]
    unseen = sum(1 for node in plan.along if node not in seen)
    found = Consequences(
        chosen=[seen[node] for node in plan.chosen if node in seen],
        along=[seen[node] for node in sorted(plan.along) if node in seen],
        edges=plan.edges,
        reliances=reliances,
        hidden=unseen + sum(each.hidden for each in reliances),
        token="",
        asks_again=len(plan.chosen) > AT_ONCE,
    )
    return replace(found, token=_signed(_state(project, plan, found, reader), step=1))


def check_token(found: Consequences, token: str, *, step: int | None = None) -> None:
    """Raise `Unconfirmed` unless `token` confirms `found`, and often enough."""
    needed = step or (2 if found.asks_again else 1)
    if not token:
        raise Unconfirmed("Nothing was pruned: confirm what it would do.", found)
    try:
        state, confirmed = _unsigned(token)
    except signing.SignatureExpired:
        message = "Nothing was pruned: the confirmation is older than half an hour."
        raise Unconfirmed(f"{message} Look at it again.", found) from None
    except signing.BadSignature:
        message = "Nothing was pruned: this is no confirmation of it."
        raise Unconfirmed(f"{message} Look at it again.", found) from None
    if state != _unsigned(found.token)[0]:
        raise Unconfirmed(
            "Nothing was pruned: what would go has changed since. Look at it again.",
            found,
        )
    if confirmed < needed:
        raise Unconfirmed(
            f"Nothing was pruned: more than {AT_ONCE} are confirmed twice.", found
        )


def _state(project: Project, plan: Plan, found: Consequences, reader: User) -> str:
    stamps = Node.objects.of(project).filter(pk__in=plan.nodes).order_by("pk")
    said = [
        project.pk,
        reader.pk,
        plan.chosen,
        sorted(plan.along),
        plan.cut,
        plan.edges,
        [(each.name, each.count, each.hidden) for each in found.reliances],
        [str(at) for at in stamps.values_list("updated_at", flat=True)],
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _signed(state: str, *, step: int) -> str:
    return signing.dumps([state, step], salt=SALT)


def _unsigned(token: str) -> tuple[str, int]:
    state, step = signing.loads(token, salt=SALT, max_age=GOOD_SECONDS)
    return state, step
