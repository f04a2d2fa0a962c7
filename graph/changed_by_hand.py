"""What people, agents and the API wrote: said otherwise, or put in the trash.

Only what they say alone can be changed here. What a source says is changed where it is
said, what was remembered in memory, who is one person under the identities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from connections.models import Audience, Project, User
from connections.records import JSON
from connections.roles import Act, must
from graph import by_hand_sql as sql
from graph.audiences import Audiences
from graph.by_hand import NodeByHand, audience_of, check_draft, prove
from graph.copying import fetch
from graph.edges import GraphScope
from graph.hand import (
    Author,
    NotByHand,
    NotThere,
    NotWritten,
    WriteRefused,
    audit_write,
)
from graph.locks import lock_project
from graph.merged import describe
from graph.models import Edge, Node
from graph.models.node import IMPLIED, MEMORY
from graph.parts import clean_text
from graph.review.plans import plan_of
from graph.review.pruning import put_away
from graph.same_names import named_same
from graph.versions import check_version, version_of_node
from graph.vocabulary import same_name
from graph.written import give_vectors

REASON = "Deleted by hand."
# Where else it is changed, by the origin of what nobody wrote by hand.
ELSEWHERE = {
    MEMORY: "was remembered: correct or forget it under memory/observations/.",
    "identity": "is what accounts and addresses add up to: decide that under People.",
    IMPLIED: "was only named by an edge: write it, by POST to graph/nodes/.",
    "extraction": "was read out of texts: it goes when they no longer say it, or by "
    "the review. Words of your own stand beside it by POST to graph/nodes/.",
}
FROM_SOURCE = "comes of a source: change it there, and read the source again."


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChange:
    """What a node is to say from now on; None leaves it as it is."""

    title: str | None = None
    content: str | None = None
    tags: Sequence[str] | None = None
    metadata: Mapping[str, JSON] | None = None

    @property
    def fields(self) -> list[str]:
        return [name for name in self.__slots__ if getattr(self, name) is not None]


@dataclass(frozen=True, slots=True)
class Sayers:
    """Who says something, in words of their own (`said`) or in texts that were read;
    of sources their names, as far as one may see what they say."""

    by_hand: bool
    said: tuple[str, ...]
    read: tuple[str, ...]


def change_node_by_hand(
    project: Project, node: int, change: NodeChange, by: Author, *, version: str
) -> None:
    """Let a node that is there by people's words say `change`; it does when this
    returns. What `by` said of it before is replaced, what others said stands behind.

    Raises `Outdated` where it is not what had that `version`, `NotByHand` for what a
    source says, and `WriteRefused` for a name that another node has.
    """
    must(by.user, Act.WRITE_GRAPH, project.pk)
    if not change.fields:
        raise WriteRefused("Give what it is to say: title, content, tags, metadata.")
    scope = GraphScope(project, Audiences(project), timezone.now())
    with transaction.atomic():
        lock_project(project)
        row = _node(project, node, by.user, version)
        refuse_elsewhere(row.key, row.origin, sayers_of(row, by.user))
        draft = _changed(row, change)
        check_draft(draft)
        _refuse_same_name(project, row, draft.title)
        _write(scope, row, draft, by)
        give_vectors([row.pk])
        target = f"node:{row.pk}"
        audit_write(
            project, "node.changed", target, by, key=row.key, fields=[*change.fields]
        )


def delete_node_by_hand(
    project: Project, node: int, by: Author, *, version: str, reason: str = ""
) -> None:
    """Put a node that nobody but people speak of in the trash, for 30 days.

    Raises `NotByHand` where a source speaks of it too, `WriteRefused` where what was
    remembered rests on it alone, and `Outdated` as a change does.
    """
    must(by.user, Act.WRITE_GRAPH, project.pk)
    with transaction.atomic():
        lock_project(project)
        row = _node(project, node, by.user, version)
        sayers = sayers_of(row, by.user)
        refuse_elsewhere(row.key, row.origin, sayers)
        if sayers.read:
            raise NotByHand(
                f"{row.key!r} is spoken of by {_named(sayers.read)} too: it goes when "
                "nothing there speaks of it any more."
            )
        plan = plan_of(project, [row.pk])
        if Node.objects.filter(pk__in=list(plan.along)).current().exists():
            raise WriteRefused(
                f"Something rests on {row.key!r} alone and would go along: what was "
                "remembered of it has to be forgotten first."
            )
        put_away(
            project,
            plan,
            by=by.user,
            reason=reason or REASON,
            token_id=by.token_id,
        )


def sayers_of(row: Node | Edge, user: User) -> Sayers:
    """Return who says that a node or an edge is."""
    values = {
        "tenant": row.tenant_id,
        "project": row.project_id,
        "id": row.pk,
        "audiences": list(Audience.objects.ids_of(user)),
    }
    statement = sql.SAYERS_OF_NODE if isinstance(row, Node) else sql.SAYERS_OF_EDGE
    found = fetch(statement, values)
    others = [
        (is_said, name if is_seen else "")
        for is_hand, is_said, name, is_seen in found
        if not is_hand
    ]
    return Sayers(
        by_hand=any(row[0] and row[1] for row in found),
        said=tuple(name for is_said, name in others if is_said),
        read=tuple(name for is_said, name in others if not is_said),
    )


def refuse_elsewhere(key: str, origin: str, sayers: Sayers) -> None:
    """Raise `NotByHand`, which says where it is changed, unless people said it."""
    if origin == MEMORY or not sayers.by_hand:
        raise NotByHand(f"{key!r} {ELSEWHERE.get(origin, FROM_SOURCE)}")
    if sayers.said:
        raise NotByHand(
            f"{key!r} is what {_named(sayers.said)} says: change it there, and read "
            "the source again."
        )


def _named(sources: Sequence[str]) -> str:
    seen = [f"the source {name!r}" for name in sources if name]
    return " and ".join(seen) or "another source"


def _node(project: Project, node: int, user: User, version: str) -> Node:
    """Return the node, held until the transaction ends, as it was seen."""
    rows = Node.objects.visible_to(user).current().of(project).defer("embedding")
    live = rows.select_for_update(of=("self",)).filter(valid_to=None)
    row = live.filter(pk=node).first()
    if row is None:
        raise NotThere("There is no such node that you may see, or it has ended.")
    check_version(version, version_of_node(row))
    return row


def _changed(row: Node, change: NodeChange) -> NodeByHand:
    given = {name: getattr(change, name) for name in change.fields}
    said = {
        "title": row.title,
        "content": row.content,
        "tags": list(row.tags),
        "metadata": dict(row.metadata),
    }
    return NodeByHand(node_type=row.node_type, **{**said, **given})


def _refuse_same_name(project: Project, row: Node, title: str) -> None:
    name = clean_text(title)
    if same_name(name) == same_name(row.title):
        return
    same = named_same(project, row.node_type, name)
    if same is not None and same != row.pk:
        raise WriteRefused(
            f"There is a {row.node_type} of that name already: give it another name, "
            "or let the review merge the two."
        )


def _write(scope: GraphScope, row: Node, draft: NodeByHand, by: Author) -> None:
    """Keep the words as a record and describe the node by them; look whether it says
    so, try once more where it does not, then raise `NotWritten`."""
    for _ in range(2):
        prove(scope, row.pk, row.key, draft, audience_of(scope, row), by)
        describe(scope.project, [row.pk])
        there = Node.objects.current().filter(
            pk=row.pk,
            title=clean_text(draft.title),
            content=clean_text(draft.content),
            # What was merged into it adds tags of its own.
            tags__contains=list(draft.tags),
            metadata__contains=dict(draft.metadata),
        )
        if there.exists():
            return
    raise NotWritten(
        f"The node {row.key!r} was changed and does not say so; nothing was kept. "
        "Try again; the log of the server may say why."
    )
