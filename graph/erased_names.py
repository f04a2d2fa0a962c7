"""Names that were erased, known by keyed hashes alone, kept out of what is read next."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from connections import keyed
from connections.models import Project
from connections.records import JSON, NodeDraft, Record
from graph.models import ErasedName
from graph.scrubbing import ERASED

PURPOSE = "fabric erased names"
_WORD = re.compile(r"[\w.+@-]+")
_EDGES = re.compile(r"^\W+|\W+$")


def digests_of(name: str, project: Project, *, as_written: bool = False) -> list[str]:
    """Return the hashes of `name` in a project: by the newest key, then older ones."""
    plain = f"={name}" if as_written else " ".join(name.casefold().split())
    return keyed.digests(PURPOSE, f"{project.pk}|{plain}")


def keep_out(
    project: Project,
    keys: Collection[str],
    phrases: Collection[str],
    *,
    own: Collection[str] = (),
    first: Collection[str] = (),
    keeps_messages: bool = False,
) -> None:
    """Keep `keys` (of identities) and `phrases` (names, addresses) out from now on,
    names of `first` as they are written.

    What `keys` wrote is left out, or, where it `keeps_messages`, read without its
    author and without `own` names.
    """

    def row(name: str, words: int, **how: bool) -> ErasedName:
        as_written = how.get("as_written", False)
        return ErasedName(
            tenant_id=project.tenant_id,
            project=project,
            digest=digests_of(name, project, as_written=as_written)[0],
            words=words,
            **how,
        )

    # What was said last of somebody's messages holds.
    ErasedName.objects.bulk_create(
        [row(key, 0, anonymous=keeps_messages) for key in sorted(set(keys))],
        update_conflicts=True,
        unique_fields=("tenant", "project", "digest"),
        update_fields=("words", "anonymous"),
    )
    rows = [row(phrase, _count(phrase)) for phrase in phrases]
    rows += [row(name, 1, as_written=True) for name in first]
    theirs = {name.casefold() for name in (*phrases, *keys)}
    alone = [name for name in own if name.casefold() not in theirs]
    rows += [row(name, _count(name), anonymous=True) for name in alone]
    ErasedName.objects.bulk_create(rows, ignore_conflicts=True)


def _count(phrase: str) -> int:
    return len(_WORD.findall(phrase))


@dataclass(frozen=True, slots=True)
class Barrier:
    """What may not come back into a project.

    `digests` are kept out of everything, `written` as they are written; `nameless` are
    keys whose messages stay without an author, `own` names that only these lose.
    """

    project: Project
    digests: frozenset[str]
    written: frozenset[str]
    nameless: frozenset[str]
    own: frozenset[str]
    longest: int

    @classmethod
    def of(cls, project: Project) -> Barrier | None:
        """Return the barrier of a project; None where nobody was erased."""
        found = list(
            ErasedName.objects.filter(tenant_id=project.tenant_id, project=project)
        )
        if not found:
            return None
        keys = [one for one in found if not one.words]
        names = [one for one in found if one.words]

        def those(rows: Sequence[ErasedName]) -> frozenset[str]:
            return frozenset(row.digest for row in rows)

        general = [one for one in names if not (one.anonymous or one.as_written)]
        return cls(
            project,
            digests=those([*keys, *general]),
            written=those([one for one in names if one.as_written]),
            nameless=those([one for one in keys if one.anonymous]),
            own=those([one for one in names if one.anonymous]),
            longest=max(one.words for one in found),
        )

    def holds(self, name: str, *, is_own: bool = False) -> bool:
        """Return whether `name` is kept out, of what its bearer wrote if `is_own`."""
        among = self.digests | self.own if is_own else self.digests
        return not among.isdisjoint(digests_of(name, self.project)) or (
            bool(self.written)
            and " " not in name
            and not self.written.isdisjoint(
                digests_of(name, self.project, as_written=True)
            )
        )

    def passed(self, records: Sequence[Record]) -> list[Record]:
        """Return what of `records` may be written."""
        return [kept for record in records if (kept := self.without(record))]

    def without(self, record: Record) -> Record | None:
        """Return `record` without who was erased; None where they wrote it, and what
        they wrote is not to stay."""
        named = {e.target for e in record.edges} | {e.source for e in record.edges}
        named |= {node.key for node in record.nodes}
        gone = {key for key in named | {record.key} if self.holds(key)}
        nameless = {key for key in gone if self._is_nameless(key)}
        writers = {e.target for e in record.edges if e.relation == "sent_by"}
        is_theirs = bool(writers) and writers <= gone
        if record.key in gone or (is_theirs and not writers <= nameless):
            return None
        removed = _spoken(record, gone - nameless)
        stays = _spoken(record, nameless)
        said = {n.content for n in record.nodes if n.key in removed and n.content}
        body = record.body
        for text in sorted(said, key=len, reverse=True):
            body = body.replace(text, ERASED)
        cleaned = replace(
            record,
            body=self.clean(body, is_own=is_theirs),
            nodes=tuple(
                self._node(
                    node,
                    is_removed=node.key in removed,
                    # Whom else it names is not what they say.
                    is_own=(is_theirs and not node.identity) or node.key in stays,
                )
                for node in record.nodes
                if node.key not in gone
            ),
            edges=tuple(
                replace(e, quote=self.clean(e.quote, is_own=is_theirs))
                for e in record.edges
                if not {e.source, e.target} & gone
            ),
        )
        return cleaned if cleaned != record else record

    def _is_nameless(self, key: str) -> bool:
        return not self.nameless.isdisjoint(digests_of(key, self.project))

    def _node(self, node: NodeDraft, *, is_removed: bool, is_own: bool) -> NodeDraft:
        content = self.clean(node.content, is_own=is_own)
        return replace(
            node,
            title=self.clean(node.title, is_own=is_own),
            content=ERASED if is_removed and node.content else content,
            context=self.clean(node.context, is_own=is_own),
            tags=tuple(self.clean(tag, is_own=is_own) for tag in node.tags),
            metadata={
                name: self._value(value, is_own)
                for name, value in node.metadata.items()
            },
        )

    def _value(self, value: JSON, is_own: bool) -> JSON:
        """Return a value of metadata with every erased name in it replaced."""
        if isinstance(value, str):
            return self.clean(value, is_own=is_own)
        if isinstance(value, Mapping):
            return {name: self._value(each, is_own) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(each, is_own) for each in value]
        return value

    def clean(self, text: str, *, is_own: bool = False) -> str:
        """Return `text` with every erased name in it replaced."""
        parts, at = [], 0
        for start, end in self._spans(text, is_own):
            if start >= at:
                parts += [text[at:start], ERASED]
                at = end
        return "".join([*parts, text[at:]]) if parts else text

    def _spans(self, text: str, is_own: bool) -> Iterator[tuple[int, int]]:
        """Yield where erased names stand, of those at one place the longest."""
        words = list(_WORD.finditer(text))
        for first, word in enumerate(words):
            for count in range(self.longest, 0, -1):
                if first + count > len(words):
                    continue
                last = words[first + count - 1]
                said = text[word.start() : last.end()]
                plain = _EDGES.sub("", said)
                if plain and self.holds(plain, is_own=is_own):
                    start = word.start() + said.index(plain)
                    yield start, start + len(plain)
                    break


def _spoken(record: Record, by: Collection[str]) -> set[str]:
    """Return the keys of what the identities `by` say in a record of several."""
    sent = [e for e in record.edges if e.relation == "sent_by"]
    return {e.source for e in sent if e.target in by}
