"""A place to read from, made known: its name, its keys, and who may see it."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from connections.models import (
    Audience,
    AudienceMember,
    Project,
    Source,
    User,
    record_audit,
)
from connections.sources.base import SourceError, connectors

FOLDER = "folder"


def connect_source(
    *,
    project: Project,
    kind: str,
    location: Path,
    name: str = "",
    audience: str = "",
    owner: User | None = None,
) -> Source:
    """Return the source of that name, made where missing; raise `SourceError`.

    `audience` is "project" (every member), "private" (only `owner`), or addresses
    with commas between. Without it a personal source (a mailbox) is closed to all but
    its owner from the first, and any other source says itself who may see what.
    """
    connector = connectors[kind]
    location = location.expanduser().absolute()
    if not location.exists():
        raise SourceError(f"{location} does not exist.")
    name = name or f"{kind}-{location.name}"
    with transaction.atomic():
        source = Source.objects.filter(project=project, name=name).first()
        if source is None:
            source = Source(
                tenant_id=project.tenant_id,
                project=project,
                kind=kind,
                name=name,
                owner=owner,
                file_prefix=_file_prefix(project, kind, name),
            )
            audience = audience or ("private" if connector.personal else "")
            verb = "source.connected"
        elif source.kind != kind:
            raise SourceError(f"{name} is a source of kind {source.kind}, not {kind}.")
        else:
            verb = "source.changed"
        source.location = str(location)
        if audience:
            source.audience = _audience(project, name, audience, source.owner)
        source.save()
        record_audit(
            verb,
            target=name,
            project=project,
            actor=owner,
            kind=kind,
            audience=audience or "as the source says",
        )
    return source


def _file_prefix(project: Project, kind: str, name: str) -> str:
    """Return what sets the files of a second folder apart from those of the first."""
    if kind != FOLDER:
        return ""
    is_first = not Source.objects.filter(project=project, kind=FOLDER).exists()
    return "" if is_first else f"{name}/"


def _audience(project: Project, name: str, wanted: str, owner: User | None) -> Audience:
    if wanted in ("project", "public"):
        return _get(project, Audience.Kind.PUBLIC, "")
    closed = _get(project, Audience.Kind.MEMBERS, f"source:{name}", title=name)
    addresses = {a.strip().lower() for a in wanted.split(",")} - {"private", ""}
    if bad := [a for a in addresses if "@" not in a]:
        raise SourceError(
            f"--audience {bad[0]!r} is not an address; it takes project, private, or "
            "addresses with commas between."
        )
    AudienceMember.objects.filter(audience=closed).delete()
    AudienceMember.objects.bulk_create(
        AudienceMember(audience=closed, member=address) for address in addresses
    )
    if owner is not None:
        AudienceMember.objects.create(audience=closed, user=owner)
    return closed


def _get(project: Project, kind: str, key: str, *, title: str = "") -> Audience:
    audience, _ = Audience.objects.get_or_create(
        tenant_id=project.tenant_id,
        project=project,
        kind=kind,
        key=key,
        defaults={"title": title},
    )
    return audience
