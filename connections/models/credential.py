"""Keys to model providers, of a tenant or of one project."""

from __future__ import annotations

import uuid
from typing import ClassVar
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import models

from connections.models.tenancy import Project, Tenant
from connections.providers.chat import Access
from connections.secrets import EncryptedField, Secret


def is_web_address(address: str) -> None:
    """Refuse what is no address of a server, or holds a password of its own."""
    try:
        parts = urlsplit(address)
        is_fine = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_fine = False
    if not is_fine or parts.username or parts.password:
        raise ValidationError(
            "An address begins with https:// or http:// and holds no password, such as "
            "http://localhost:11434/v1."
        )


class ModelCredentialQuerySet(models.QuerySet["ModelCredential"]):
    def serving(self, project: Project) -> ModelCredential | None:
        """Return what opens models to `project`: its own, else its tenant's."""
        mine = models.Q(project=project) | models.Q(project=None)
        return (
            self.filter(mine, tenant_id=project.tenant_id, enabled=True)
            .order_by(models.F("project_id").asc(nulls_last=True))
            .first()
        )


class ModelCredential(models.Model):
    """A key to a provider of chat models; the enabled one of a scope is used."""

    class Provider(models.TextChoices):
        ANTHROPIC = "anthropic", "Anthropic"
        OPENAI = "openai", "OpenAI, or a server that speaks its protocol"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="model_credentials")
    project = models.ForeignKey(
        Project,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="model_credentials",
        help_text="Empty: every project of the tenant that has none of its own.",
    )
    provider = models.CharField(max_length=16, choices=Provider)
    base_url = models.CharField(
        "address",
        max_length=500,
        blank=True,
        validators=[is_web_address],
        help_text="Empty: the provider's own. Ollama: http://localhost:11434/v1, "
        "Gemini: https://generativelanguage.googleapis.com/v1beta/openai/.",
    )
    key = EncryptedField(help_text="Written only: it is encrypted and never shown.")
    chat_model = models.CharField(
        max_length=200, blank=True, help_text="Its id; empty: the provider's current."
    )
    small_model = models.CharField(
        max_length=200,
        blank=True,
        help_text="For small work, such as reading what to remember out of a turn.",
    )
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ModelCredentialQuerySet.as_manager()

    class Meta:
        db_table = "model_credentials"
        verbose_name = "model key"
        ordering: ClassVar[tuple[str, ...]] = ("tenant_id", "project_id", "provider")
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project"),
                condition=models.Q(enabled=True),
                nulls_distinct=False,
                name="model_credentials_one_enabled",
            ),
            models.CheckConstraint(
                condition=models.Q(provider__in=("anthropic", "openai")),
                name="model_credentials_provider",
            ),
        )

    def __str__(self) -> str:
        of = self.project.path if self.project else self.tenant.slug
        return f"{self.provider} for {of}"

    def clean(self) -> None:
        wrong: dict[str, str] = {}
        if self.project is not None and self.project.tenant_id != self.tenant_id:
            wrong["project"] = "This project is another tenant's."
        is_own_server = self.provider == self.Provider.OPENAI and bool(self.base_url)
        if self.key is None and not is_own_server:
            wrong["key"] = (
                "Enter the provider's key; only a server of your own has none."
            )
        if is_own_server:
            for name in ("chat_model", "small_model"):
                if not getattr(self, name):
                    wrong[name] = (
                        "A server of your own has models of its own: name one."
                    )
        # A form that may not change the tenant would not check the constraint.
        others = ModelCredential.objects.filter(
            tenant_id=self.tenant_id, project=self.project, enabled=True
        )
        if self.enabled and others.exclude(pk=self.pk).exists():
            wrong["enabled"] = "Another key is enabled there: disable one of them."
        if wrong:
            raise ValidationError(wrong)

    @property
    def access(self) -> Access:
        """Return what a client is made with; raises `SecretError`."""
        secret: Secret | None = self.key  # type: ignore[assignment] # its attribute
        return Access(self.base_url, secret.reveal() if secret else "")

    def model_of(self, purpose: str) -> str:
        """Return the id of the model for that purpose, "" for the provider's own."""
        return self.small_model if purpose == "small" else self.chat_model
