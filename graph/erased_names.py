"""Names that were erased, known by keyed hashes alone, kept out of what is read next."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from connections import keyed
from connections.models import Project
from connections.records import NodeDraft, Record
from graph.models import ErasedName
from graph.scrubbing import ERASED

PURPOSE = "fabric erased names"
_WORD = re.compile(r"[\w.+@-]+")
_EDGES = re.compile(r"^\W+|\W+$")


def digests_of(name: str, project: Project) -> list[str]:
    """Return the hashes of `name` in a project: by the newest key, then older ones."""
    said = f"{project.pk}|{' '.join(name.casefold().split())}"
    return keyed.digests(PURPOSE, said)


def keep_out(project: Project, keys: Collection[str], phrases: Collection[str]) -> None:
    """Keep `keys` (of identities) and `phrases` (names, addresses) out from now on."""
    words = {phrase: len(_WORD.findall(phrase)) for phrase in phrases}
    wanted = dict.fromkeys(keys, 0) | words
    ErasedName.objects.bulk_create(
        [
            ErasedName(
                tenant_id=project.tenant_id,
                project=project,
                digest=digests_of(name, project)[0],
                words=count,
            )
            for name, count in wanted.items()
        ],
        ignore_conflicts=True,
    )


@dataclass(frozen=True, slots=True)
class Barrier:
    """What may not come back into a project."""

    project: Project
    digests: frozenset[str]
    longest: int

    @classmethod
    def of(cls, project: Project) -> Barrier | None:
        """Return the barrier of a project; None where nobody was erased."""
        rows = ErasedName.objects.filter(
            tenant_id=project.tenant_id, project=project
        ).values_list("digest", "words")
        found = list(rows)
        if not found:
            return None
        return cls(
            project, frozenset(row[0] for row in found), max(row[1] for row in found)
        )

    def holds(self, name: str) -> bool:
        return any(d in self.digests for d in digests_of(name, self.project))

    def passed(self, records: Sequence[Record]) -> list[Record]:
        """Return what of `records` may be written."""
        return [kept for record in records if (kept := self.without(record))]

    def without(self, record: Record) -> Record | None:
        """Return `record` without who was erased; None where they wrote it."""
        named = {e.target for e in record.edges} | {e.source for e in record.edges}
        named |= {node.key for node in record.nodes}
        gone = {key for key in named | {record.key} if self.holds(key)}
        writers = {e.target for e in record.edges if e.relation == "sent_by"}
        if record.key in gone or (writers and writers <= gone):
            return None
        spoken = {
            e.source
            for e in record.edges
            if e.relation == "sent_by" and e.target in gone
        }
        said = {n.content for n in record.nodes if n.key in spoken and n.content}
        body = record.body
        for text in sorted(said, key=len, reverse=True):
            body = body.replace(text, ERASED)
        cleaned = replace(
            record,
            body=self.clean(body),
            nodes=tuple(
                self._node(node, is_theirs=node.key in spoken)
                for node in record.nodes
                if node.key not in gone
            ),
            edges=tuple(
                replace(e, quote=self.clean(e.quote))
                for e in record.edges
                if not {e.source, e.target} & gone
            ),
        )
        return cleaned if cleaned != record else record

    def _node(self, node: NodeDraft, *, is_theirs: bool) -> NodeDraft:
        content = ERASED if is_theirs and node.content else self.clean(node.content)
        return replace(
            node,
            title=self.clean(node.title),
            content=content,
            context=self.clean(node.context),
        )

    def clean(self, text: str) -> str:
        """Return `text` with every erased name in it replaced."""
        parts, at = [], 0
        for start, end in self._spans(text):
            if start >= at:
                parts += [text[at:start], ERASED]
                at = end
        return "".join([*parts, text[at:]]) if parts else text

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where erased names stand, of those at one place the longest."""
        words = list(_WORD.finditer(text))
        for first, word in enumerate(words):
            for count in range(self.longest, 0, -1):
                if first + count > len(words):
                    continue
                last = words[first + count - 1]
                said = text[word.start() : last.end()]
                plain = _EDGES.sub("", said)
                if plain and self.holds(plain):
                    start = word.start() + said.index(plain)
                    yield start, start + len(plain)
                    break
