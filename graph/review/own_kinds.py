"""The graph's own kinds of items, in words, with what can be decided of each."""

from __future__ import annotations

from graph.review import acts, acts_duplicate, acts_identity
from graph.review.kinds import ReviewKind, Verb, review_kinds

_CLAIM_ACTS = {
    Verb.KEEP: acts.keep,
    Verb.PRUNE: acts.put_away,
    Verb.EDIT: acts.edit,
}
_CLAIM_UNDOS = {
    Verb.KEEP: acts.unkeep,
    Verb.PRUNE: acts.take_back_prune,
    Verb.EDIT: acts.unedit,
}
_AWAY = {Verb.KEEP: acts.keep, Verb.PRUNE: acts.put_away}
_AWAY_UNDOS = {Verb.KEEP: acts.unkeep, Verb.PRUNE: acts.take_back_prune}

KINDS = (
    ReviewKind(
        name="stale",
        title="Stale",
        icon="hourglass_bottom",
        meaning="Nothing has confirmed this claim for longer than its type allows. "
        "Keep it if it still holds: that confirms it as of today.",
        acts=_CLAIM_ACTS,
        undos=_CLAIM_UNDOS,
    ),
    ReviewKind(
        name="vanished",
        title="Vanished at its source",
        icon="link_off",
        meaning="What this rests on is no longer at its source. Keep it if it holds "
        "all the same.",
        acts=_AWAY,
        undos=_AWAY_UNDOS,
    ),
    ReviewKind(
        name="orphan",
        title="Orphan",
        icon="scatter_plot",
        meaning="Nothing is tied to this node any more. Keep it if it is worth "
        "something by itself.",
        acts=_CLAIM_ACTS,
        undos=_CLAIM_UNDOS,
    ),
    ReviewKind(
        name="low_confidence",
        title="Doubtful reading",
        icon="help_center",
        meaning="This was read out of a text with little to go by. Look at the words: "
        "keep it if they say so.",
        acts=_CLAIM_ACTS,
        undos=_CLAIM_UNDOS,
    ),
    ReviewKind(
        name="duplicate",
        title="Duplicate",
        icon="content_copy",
        meaning="These have nearly the same name. Merge them if they are one thing; "
        "keep both if they are two.",
        acts={
            Verb.KEEP: acts_duplicate.hold_apart,
            Verb.PRUNE: acts.put_away,
            Verb.MERGE: acts_duplicate.merge,
        },
        undos={
            Verb.KEEP: acts_duplicate.unhold,
            Verb.PRUNE: acts.take_back_prune,
            Verb.MERGE: acts_duplicate.unmerge,
        },
        labels={Verb.KEEP: "Keep both", Verb.PRUNE: "Prune one"},
        why_kept="Why they are two",
    ),
    ReviewKind(
        name="identity",
        title="One person or two",
        icon="group",
        meaning="These may be one person. Merge them if they are; keep them apart if "
        "they are two.",
        acts={Verb.KEEP: acts_identity.keep_apart, Verb.MERGE: acts_identity.merge},
        undos={
            Verb.KEEP: acts_identity.take_back,
            Verb.MERGE: acts_identity.take_back,
        },
        labels={Verb.KEEP: "Keep apart"},
        why_kept="Why they are two",
    ),
)


def register() -> None:
    """Register them; called once, when the app is ready."""
    for kind in KINDS:
        review_kinds.add(kind.name, kind)
