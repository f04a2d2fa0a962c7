"""What was done, by whom: a row with the act, in its transaction."""

from __future__ import annotations

import hashlib
import json
import secrets
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
        )
        indexes = (
            models.Index(fields=("tenant", "project", "-at"), name="audit_at"),
            models.Index(fields=("tenant", "verb", "-at"), name="audit_verb"),
        )

    def __str__(self) -> str:
        return f"{self.verb} {self.target}"


class AuditDetail(models.Model):
    """The text of an audit row; erasing it leaves the chain whole."""

    audit = models.OneToOneField(
        Audit, models.PROTECT, primary_key=True, related_name="detail"
    )
    salt = models.CharField(max_length=32)
    detail = models.JSONField(default=dict)

    class Meta:
        db_table = "audit_details"

    def __str__(self) -> str:
        return f"detail of {self.audit_id}"


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
    salt = secrets.token_hex(16)
    text = salt + json.dumps(detail, sort_keys=True, default=str)
    with transaction.atomic():
        row = Audit.objects.create(
            tenant_id=project.tenant_id if project else getattr(tenant, "pk", None),
            project=project,
            actor=actor,
            token_id=token_id,
            verb=verb,
            target=target[:600],
            detail_sha256=hashlib.sha256(text.encode()).hexdigest(),
        )
        AuditDetail.objects.create(audit=row, salt=salt, detail=detail)
    return row
