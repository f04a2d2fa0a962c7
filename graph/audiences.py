"""Audiences in the database: found or made, listed, combined."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from django.db import transaction

from connections.models import (
    Audience,
    AudienceMember,
    Project,
    User,
    record_audit,
)
from connections.records import AudienceDraft
from graph import sql
from graph.copying import fetch

# Of a change of members; the audit says how many more there were.
NAMED_MOST = 200


class Audiences:
    """The audiences of one project, each looked up once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._by_key: dict[tuple[str, str], int] = {}
        self._members: dict[int, tuple[str, ...]] = {}
        self._parts: dict[int, frozenset[int]] = {}
        self._public: int | None = None

    def forget(self) -> None:
        """Look all up again: a transaction that made some was taken back."""
        self._by_key, self._members, self._parts = {}, {}, {}
        self._public = None

    @property
    def public(self) -> int:
        if self._public is None:
            self._public = self._find("public", "", "").pk
        return self._public

    def id_of(self, draft: AudienceDraft) -> int:
        """Return the audience of `draft`, made and listed as the draft says."""
        if draft.kind == "public":
            return self.public
        where = (draft.kind, draft.key)
        if where not in self._by_key:
            self._by_key[where] = self._find(draft.kind, draft.key, draft.title).pk
        audience = self._by_key[where]
        if draft.members is not None and self._members.get(audience) != draft.members:
            self._list(audience, draft.members)
            self._members[audience] = draft.members
        return audience

    def private_to(self, user: User) -> int:
        """Return the audience of one user alone."""
        where = (Audience.Kind.PRIVATE.value, f"user:{user.pk}")
        if where not in self._by_key:
            audience, is_new = self._find_or_make(*where, "")
            if is_new:
                AudienceMember.objects.create(audience=audience, user=user)
            self._by_key[where] = audience.pk
        return self._by_key[where]

    def any_of(self, ids: Iterable[int]) -> int:
        """Return the audience of everybody who is in one of `ids`."""
        return self._combined(ids, Audience.Combines.ANY)

    def all_of(self, ids: Iterable[int]) -> int:
        """Return the audience of those who are in every one of `ids`."""
        return self._combined(ids, Audience.Combines.ALL)

    def _combined(self, ids: Iterable[int], how: str) -> int:
        parts: frozenset[int] = frozenset()
        for audience in set(ids):
            parts |= self._parts_of(audience, how)
        if how == Audience.Combines.ANY and self.public in parts:
            return self.public
        if how == Audience.Combines.ALL and len(parts) > 1:
            parts -= {self.public}
        if len(parts) == 1:
            return next(iter(parts))
        listed = "+".join(map(str, sorted(parts)))
        key = f"{how}:{hashlib.sha256(listed.encode()).hexdigest()}"
        combined = self._find("members", key, "", combines=how)
        if not self._parts.get(combined.pk):
            combined.parts.set(parts)
            self._parts[combined.pk] = parts
        return combined.pk

    def _parts_of(self, audience: int, how: str) -> frozenset[int]:
        if audience not in self._parts:
            row = Audience.objects.get(pk=audience)
            found = (
                row.parts.values_list("pk", flat=True) if row.combines == how else ()
            )
            self._parts[audience] = frozenset(found) or frozenset({audience})
        return self._parts[audience]

    def _find(self, kind: str, key: str, title: str, *, combines: str = "") -> Audience:
        return self._find_or_make(kind, key, title, combines=combines)[0]

    def _find_or_make(
        self, kind: str, key: str, title: str, *, combines: str = ""
    ) -> tuple[Audience, bool]:
        return Audience.objects.get_or_create(
            tenant_id=self.project.tenant_id,
            project=self.project,
            kind=kind,
            key=key,
            defaults={"title": title[:300], "combines": combines},
        )

    def _list(self, audience: int, members: tuple[str, ...]) -> None:
        wanted = {member.lower() if "@" in member else member for member in members}
        rows = AudienceMember.objects.filter(audience_id=audience, user=None)
        listed = set(rows.values_list("member", flat=True))
        if wanted == listed:
            return
        with transaction.atomic():
            rows.filter(member__in=listed - wanted).delete()
            AudienceMember.objects.bulk_create(
                [
                    AudienceMember(audience_id=audience, member=m)
                    for m in wanted - listed
                ],
                ignore_conflicts=True,
            )
            record_audit(
                "audience.changed",
                target=f"audience:{audience}",
                project=self.project,
                added=[*map(str, sorted(wanted - listed)[:NAMED_MOST])],
                removed=[*map(str, sorted(listed - wanted)[:NAMED_MOST])],
                added_in_all=len(wanted - listed),
                removed_in_all=len(listed - wanted),
            )


def readable_with(project: Project, audiences: Sequence[int]) -> dict[int, list[int]]:
    """Return for each audience those that all of its people are in: itself, the
    project's public one, and each union it is a part of."""
    scope = {"tenant": project.tenant_id, "project": project.pk}
    public = [row[0] for row in fetch(sql.PUBLIC_AUDIENCES, scope)]
    unions: dict[int, list[int]] = {}
    for part, union in fetch(sql.UNIONS, scope):
        unions.setdefault(part, []).append(union)
    return {a: sorted({a, *public, *unions.get(a, ())}) for a in audiences}
