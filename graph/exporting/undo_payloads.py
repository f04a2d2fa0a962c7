"""What takes a decision back, as an export tells it: nodes by their keys, people by
their addresses.

Only of what names nothing else by its id: keeping, pruning, editing, snoozing and
assigning. A merge and an edge that ended are told without, and cannot be taken back
where they were brought to.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graph.exporting.parts import Row, Translated
from graph.models import ReviewItem

_NAMES = ("node", "chosen", "confirmed_at", "title", "text")
# What was put in the trash is there by its node.
_TOLD = "ARRAY['node', 'chosen', 'trashed', 'confirmed_at', 'title', 'text']"
_ACT = "coalesce(t.before -> 'act', '{}')"
_OUT_NODES = f"""
    CASE WHEN {_ACT} ? 'node' THEN jsonb_build_array(({_ACT}) -> 'node')
         ELSE coalesce(({_ACT}) -> 'chosen', '[]') END
"""
OUT = f"""
    CASE WHEN t.before ? 'item' AND ({_ACT}) - {_TOLD} = '{{}}'
              AND NOT EXISTS (
                  SELECT 1 FROM jsonb_array_elements_text({_OUT_NODES}) AS a (id)
                   WHERE NOT EXISTS (SELECT 1 FROM exported_nodes c
                                      WHERE c.id = a.id::bigint))
         THEN jsonb_build_object(
              'item', (t.before -> 'item') || jsonb_build_object('assigned_to', (
                  SELECT lower(u.email) FROM connections_user u
                   WHERE u.id = (t.before #>> '{{item,assigned_to}}')::bigint)),
              'act', ({_ACT}) - 'trashed'
                  || CASE WHEN ({_ACT}) ? 'node' THEN jsonb_build_object('node', (
                              SELECT c.address FROM exported_nodes c
                               WHERE c.id = (({_ACT}) ->> 'node')::bigint))
                          ELSE '{{}}' END
                  || CASE WHEN ({_ACT}) ? 'chosen' THEN jsonb_build_object('chosen', (
                              SELECT jsonb_agg(c.address ORDER BY c.address)
                                FROM exported_nodes c
                                JOIN jsonb_array_elements_text(({_ACT}) -> 'chosen')
                                     AS a (id) ON a.id::bigint = c.id))
                          ELSE '{{}}' END)
         ELSE '{{}}' END
"""  # noqa: S608 - ours
_SAID = "(s.doc #> '{before,act}')"
_BACK_NODES = f"""
    CASE WHEN {_SAID} ? 'node' THEN jsonb_build_array({_SAID} -> 'node')
         ELSE coalesce({_SAID} -> 'chosen', '[]') END
"""
BACK = f"""
    CASE WHEN s.doc #> '{{before,item}}' IS NULL
              OR EXISTS (SELECT 1 FROM jsonb_array_elements({_BACK_NODES}) AS a (key)
                          WHERE NOT EXISTS (SELECT 1 FROM restored_nodes c
                                             WHERE c.address = a.key))
         THEN '{{}}'::jsonb
         ELSE jsonb_build_object(
              'item', (s.doc #> '{{before,item}}')
                  || jsonb_build_object('assigned_to', (
                         SELECT u.id FROM restored_users u
                          WHERE u.email = s.doc #>> '{{before,item,assigned_to}}')),
              'act', {_SAID}
                  || CASE WHEN {_SAID} ? 'node' THEN jsonb_build_object('node', (
                              SELECT c.id FROM restored_nodes c
                               WHERE c.address = {_SAID} -> 'node'))
                          ELSE '{{}}' END
                  || CASE WHEN {_SAID} ? 'chosen' THEN jsonb_build_object('chosen', (
                              SELECT jsonb_agg(c.id ORDER BY c.id)
                                FROM restored_nodes c
                                JOIN jsonb_array_elements({_SAID} -> 'chosen')
                                     AS a (key) ON a.key = c.address))
                          ELSE '{{}}' END)
         END
"""  # noqa: S608 - ours
UNDO = Translated(out=OUT, back=BACK)


def check_undo(row: Row) -> str:
    """Return what is wrong with what would take the decision of a line back."""
    before = row["before"]
    if before == {}:
        return ""
    if not isinstance(before, Mapping) or before.keys() != {"item", "act"}:
        return "before has an item and an act, or nothing"
    item, act = before["item"], before["act"]
    if not isinstance(item, Mapping) or not isinstance(act, Mapping):
        return "before holds something else than an item and an act"
    return _wrong_item(item) or _wrong_act(act)


def assignee_of(row: Row) -> str | None:
    """Return whom an undo would give the item to again."""
    item: Mapping[str, Any] = row["before"].get("item") or {}
    return item.get("assigned_to")


def _wrong_item(item: Mapping[str, Any]) -> str:
    if item.keys() != {"state", "snoozed_until", "assigned_to"}:
        return "the item in before has a state, snoozed_until and assigned_to"
    if item["state"] not in ReviewItem.State.values:
        return f"the item in before has no state {item['state']!r:.40}"
    is_asleep = item["state"] == ReviewItem.State.SNOOZED
    if is_asleep != (item["snoozed_until"] is not None):
        return "the item in before sleeps until a moment, or does not"
    if is_asleep and not _is_moment(item["snoozed_until"]):
        return "snoozed_until in before is no moment"
    who = item["assigned_to"]
    is_address = isinstance(who, str) and who == who.lower() and "@" in who
    return "" if who is None or is_address else "assigned_to in before is no address"


def _wrong_act(act: Mapping[str, Any]) -> str:
    if other := sorted(act.keys() - set(_NAMES)):
        return f"the act in before has {other[0]!r:.40}, which is not known"
    chosen = act.get("chosen", [])
    if not isinstance(chosen, list) or not all(isinstance(key, str) for key in chosen):
        return "chosen in before is no list of keys"
    if "node" in act and "chosen" in act:
        return "the act in before is of a node or of chosen ones"
    if not all(isinstance(act.get(n, ""), str) for n in ("node", "title", "text")):
        return "the act in before holds something else than words"
    confirmed = act.get("confirmed_at")
    is_moment = confirmed is None or _is_moment(confirmed)
    return "" if is_moment else "confirmed_at in before is no moment"


def _is_moment(text: Any) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except (TypeError, ValueError):
        return False
