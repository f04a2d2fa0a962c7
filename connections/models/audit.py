"""What was done, by whom: a row with the act, in its transaction."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from django.db import models, transaction

from connections.models.tenancy import Project, Tenant, User

if TYPE_CHECKING:
    import uuid

    from connections.records import JSON


class Audit(models.Model):
    """One act. Its text lies in `AuditDetail`, which may be erased; the hash stays.

    `position` and `seal` are filled when a batch is sealed into the tenant's chain.
    A trigger refuses every other change, and every deletion.
    """

    tenant = models.ForeignKey(
        Tenant, models.DO_NOTHING, related_name="+", null=True, db_constraint=False
    )
    project = models.ForeignKey(
        Project, models.DO_NOTHING, related_name="+", null=True, db_constraint=False
    )
    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(User, models.PROTECT, related_name="+", null=True)
    token_id = models.UUIDField(null=True)
    verb = models.CharField(max_length=64)
    target = models.CharField(max_length=600, blank=True)
    detail_sha256 = models.CharField(max_length=64)
    position = models.BigIntegerField(null=True, editable=False)
    seal = models.CharField(max_length=64, blank=True, editable=False)

    class Meta:
        db_table = "audit"
        verbose_name_plural = "audit"
        ordering: ClassVar[tuple[str, ...]] = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "position"), name="audit_position_once"
            ),
            models.UniqueConstraint(
                fields=("position",),
                condition=models.Q(tenant=None),
                name="audit_position_once_of_nobody",
            ),
            models.CheckConstraint(
                condition=models.Q(position=None, seal="")
                | models.Q(position__gte=1, seal__gt=""),
                name="audit_sealed_or_waiting",
            ),
        )
        indexes = (
            models.Index(fields=("tenant", "project", "-at"), name="audit_at"),
            models.Index(fields=("tenant", "verb", "-at"), name="audit_verb"),
            models.Index(fields=("verb", "-id"), name="audit_verbs"),
            models.Index(fields=("project", "-id"), name="audit_project"),
            models.Index(
                fields=("target", "-id"),
                opclasses=("varchar_pattern_ops", "int8_ops"),
                name="audit_target",
            ),
            models.Index(
                fields=("tenant", "id"),
                condition=models.Q(position=None),
                name="audit_waiting",
            ),
        )

    def __str__(self) -> str:
        return f"{self.verb} {self.target}"


class AuditDetail(models.Model):
    """The text of an audit row; erasing it, or emptying it with its salt, leaves the
    chain whole."""

    audit = models.OneToOneField(
        Audit, models.PROTECT, primary_key=True, related_name="detail"
    )
    salt = models.CharField(max_length=32)
    detail = models.JSONField(default=dict)

    class Meta:
        db_table = "audit_details"

    def __str__(self) -> str:
        return f"detail of {self.audit_id}"


class AuditHead(models.Model):
    """Where a tenant's chain ends; `chain` is its tenant, or 0 for the installation's.

    Signed with a key that the database does not hold: a chain cut short or written
    anew shows, for its end no longer is what was signed. A trigger lets heads only
    move on.
    """

    chain = models.BigIntegerField(primary_key=True)
    position = models.BigIntegerField()
    seal = models.CharField(max_length=64)
    signature = models.CharField(max_length=128)
    sealed_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "audit_heads"

    def __str__(self) -> str:
        return f"{self.position}:{self.seal[:12]}"


class AuditCheck(models.Model):
    """What the last verification of a chain found, for the admin to show."""

    chain = models.BigIntegerField(primary_key=True)
    checked_at = models.DateTimeField()
    sealed = models.BigIntegerField()
    waiting = models.BigIntegerField()
    erased = models.BigIntegerField()
    faults = models.BigIntegerField()
    first_fault = models.TextField(blank=True)

    class Meta:
        db_table = "audit_checks"

    def __str__(self) -> str:
        return f"{self.sealed} sealed, {self.faults} faults"


def storable(value: JSON) -> JSON:
    """Return `value` as it comes back from the database, character for character.

    The hash of a detail is taken of what is stored: a number or a character that the
    database would write otherwise, or refuse, must not fail an act or its proof.
    """
    if isinstance(value, str):
        plain = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return plain.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return int(value) if value.is_integer() and abs(value) >= 1e16 else value + 0.0
    if isinstance(value, Mapping):
        return {str(storable(str(key))): storable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(each) for each in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    return str(value)


def hash_of(salt: str, detail: JSON) -> str:
    """Return what an audit row holds of its detail, as 64 hex digits."""
    text = salt + json.dumps(detail, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def record_audit(
    verb: str,
    *,
    target: str = "",
    project: Project | None = None,
    tenant: Tenant | None = None,
    actor: User | None = None,
    token_id: uuid.UUID | None = None,
    **detail: JSON,
) -> Audit:
    """Write what was done; call it in the transaction of the act."""
    salt, said = secrets.token_hex(16), storable(detail)
    with transaction.atomic():
        row = Audit.objects.create(
            tenant_id=project.tenant_id if project else getattr(tenant, "pk", None),
            project=project,
            actor=actor,
            token_id=token_id,
            verb=verb,
            target=str(storable(target))[:600],
            detail_sha256=hash_of(salt, said),
        )
        AuditDetail.objects.create(audit=row, salt=salt, detail=said)
    return row
