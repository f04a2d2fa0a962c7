"""API tokens: a prefix to find one by, 256 random bits to prove it."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from datetime import timedelta
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from connections.models.tenancy import Tenant, User

TOKEN_DAYS = 90


class Scope(models.TextChoices):
    READ = "read", "search and read the graph"
    ASK = "ask", "ask questions"
    WRITE = "write", "write to graph and memory"
    REVIEW = "review", "decide in review queues"
    ADMIN = "admin", "manage connections and sources"


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def issue(
        self,
        *,
        user: User,
        tenant: Tenant,
        name: str,
        scopes: list[str],
        **fields: object,
    ) -> tuple[ApiToken, str]:
        """Return a new token and its text, which is shown this once and not stored."""
        prefix = secrets.token_hex(4)
        text = f"fab_{prefix}_{secrets.token_urlsafe(32)}"
        token = self.create(
            user=user,
            tenant=tenant,
            name=name,
            scopes=scopes,
            prefix=prefix,
            digest=digest(text),
            **fields,
        )
        return token, text

    def presented(self, text: str) -> ApiToken | None:
        """Return the live token that `text` is, or None."""
        parts = text.split("_", 2)
        if len(parts) != 3 or parts[0] != "fab" or not parts[1].isalnum():
            return None
        token = self.select_related("user", "tenant").filter(prefix=parts[1]).first()
        if token is None or not secrets.compare_digest(token.digest, digest(text)):
            return None
        return token if token.is_live and token.user.is_active else None


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def default_expiry() -> object:
    return timezone.now() + timedelta(days=TOKEN_DAYS)


class ApiToken(models.Model):
    """A token of one user for the projects of one tenant."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="tokens")
    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=8, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    scopes = ArrayField(models.CharField(max_length=16, choices=Scope))
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(default=default_expiry)
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = "API token"
        ordering: ClassVar[tuple[str, ...]] = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} (fab_{self.prefix}_…)"

    @property
    def is_live(self) -> bool:
        return self.revoked_at is None and self.expires_at > timezone.now()
