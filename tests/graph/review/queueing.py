"""What the tests of the queue begin with."""

from __future__ import annotations

from connections.models import Project, Role, User
from graph.models import Node, ReviewItem
from graph.review.deciding import consequences_of, decide
from graph.review.kinds import Decision, Verb
from tests.factories import make_member, make_node, make_review_item


def make_reviewer(project: Project, email: str = "rita@acme.test") -> User:
    return make_member(project, email, Role.REVIEWER)


def make_claim(project: Project, key: str = "decision:1", **fields: object) -> Node:
    fields = {"node_type": "decision", "content": "We use pumps of Acme.", **fields}
    return make_node(project, key, fields.pop("content"), **fields)


def decide_it(item: ReviewItem, verb: Verb, by: User, **more: object):
    """Decide `item` as it is in the database now."""
    item.refresh_from_db()
    given = {"reason": "It is so.", **more}
    if verb == Verb.PRUNE:
        given["token"] = consequences_of([item.pk], by).token
    return decide(item.pk, Decision(verb=verb, by=by, **given), version=item.version)


def make_item(
    project: Project, key: str = "decision:1", **fields: object
) -> ReviewItem:
    return make_review_item(project, make_claim(project, key), **fields)
