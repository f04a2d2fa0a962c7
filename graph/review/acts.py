"""How the verbs of the graph's own kinds are carried out, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from connections.models import User
from connections.records import JSON
from connections.registry import Registry
from graph.models import Node, ReviewItem
from graph.models.node import EXTRACTION
from graph.parts import clean_text
from graph.review.errors import NotDecidable
from graph.review.kinds import Decision
from graph.review.pruning import cut_edges, mend_edges, prune, uncover
from graph.review.targets import targets_of
from graph.written import give_vectors, rewrite_node

Given = Mapping[str, Any]
# Gives a node of an origin the words of an edit, and returns what takes that back.
Rewrites = Callable[[Node, Decision], Mapping[str, JSON]]
RestoresWords = Callable[[Node, Given, User], None]

# By the origin of a node, where a layer above keeps more of it than its words.
rewriters: Registry[tuple[Rewrites, RestoresWords]] = Registry("way to edit a node")
TEXT_MOST, TITLE_MOST = 20_000, 500
# Its words are somebody else's: the source's, or what identities add up to.
NOT_OURS = ("source", "identity")


def keep(item: ReviewItem, decision: Decision) -> Mapping[str, JSON]:
    """Confirm the claim as of now; an edge has its decision alone."""
    if item.node_id is None or item.detail.get("edge"):
        return {}
    node = _node(item)
    before = node.confirmed_at
    Node.objects.filter(pk=node.pk).update(confirmed_at=timezone.now())
    return {"node": node.pk, "confirmed_at": before.isoformat() if before else None}


def unkeep(item: ReviewItem, before: Given, by: User) -> None:
    """Let the claim be as old as it was."""
    if "node" in before:
        rows = Node.objects.of(item.project).filter(pk=before["node"])
        rows.update(confirmed_at=_moment(before["confirmed_at"]))


def put_away(item: ReviewItem, decision: Decision) -> Mapping[str, JSON]:
    """Put what the item is about in the trash, or end its edge."""
    targets = targets_of(item, decision.into, decision.by)
    if targets.edges:
        cut = cut_edges(
            item.project,
            targets.edges,
            by=decision.by,
            reason=decision.reason,
            token=decision.token,
        )
        return cut.as_json()
    if not targets.nodes:
        raise NotDecidable("It is in the trash already, or was deleted.")
    rows = prune(
        item.project,
        targets.nodes,
        by=decision.by,
        reason=decision.reason,
        token=decision.token,
        item=item.pk,
    )
    return {"chosen": [*targets.nodes], "trashed": [row.pk for row in rows]}


def take_back_prune(item: ReviewItem, before: Given, by: User) -> None:
    """Take out of the trash what the decision put there, or mend its edge."""
    if "edges" in before:
        mend_edges(item.project, before, by=by)
    elif not uncover(item.project, before["chosen"], by=by):
        raise NotDecidable("It is no longer in the trash: it was deleted for good.")


def edit(item: ReviewItem, decision: Decision) -> Mapping[str, JSON]:
    """Give the claim other words, for which the reviewer stands."""
    node = _node(item)
    _check_words(node, decision)
    if node.origin in rewriters:
        rewrites, _ = rewriters[node.origin]
        told = dict(rewrites(node, decision))
    else:
        told = _rewrite(node, decision.title, decision.text)
    confirmed = node.confirmed_at
    Node.objects.filter(pk=node.pk).update(confirmed_at=timezone.now())
    told["node"] = node.pk
    told["confirmed_at"] = confirmed.isoformat() if confirmed else None
    return told


def unedit(item: ReviewItem, before: Given, by: User) -> None:
    """Give the claim its former words."""
    node = Node.objects.of(item.project).filter(pk=before["node"]).first()
    if node is None:
        raise NotDecidable("It was deleted since; its words cannot be put back.")
    if node.origin in rewriters:
        rewriters[node.origin][1](node, before, by)
    else:
        _rewrite(node, before["title"], before["text"])
    rows = Node.objects.filter(pk=node.pk)
    rows.update(confirmed_at=_moment(before["confirmed_at"]))


def _rewrite(node: Node, title: str | None, text: str | None) -> dict[str, JSON]:
    before: dict[str, JSON] = {"title": node.title, "text": node.content}
    if title is not None:
        node.title = clean_text(title).strip()
        node.save(update_fields=("title", "updated_at"))
    if text is not None:
        rewrite_node(node, content=text.strip(), context=node.context)
    else:
        give_vectors([node.pk])
    return before


def _check_words(node: Node, decision: Decision) -> None:
    if node.origin in NOT_OURS:
        raise NotDecidable(
            "These words are a source's own; correct them there, or prune this."
        )
    given = [w for w in (decision.title, decision.text) if w is not None]
    if not given or not any(words.strip() for words in given):
        raise NotDecidable("Give the new words: a title, a text, or both.")
    if len(decision.text or "") > TEXT_MOST or len(decision.title or "") > TITLE_MOST:
        raise NotDecidable(
            f"At most {TEXT_MOST} characters of text and {TITLE_MOST} of title."
        )
    if node.origin == EXTRACTION and not (node.content or node.title):
        raise NotDecidable("It has no words that could be edited.")


def _node(item: ReviewItem) -> Node:
    rows = Node.objects.of(item.project).current().select_related("project__tenant")
    node = rows.filter(pk=item.node_id).first() if item.node_id else None
    if node is None:
        raise NotDecidable("What this is about is in the trash, or was deleted.")
    return node


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
