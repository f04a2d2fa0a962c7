"""Databases that may be asked, what they hold, and what was asked of them."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from connections.models.tenancy import Audience, Project, Tenant, User
from connections.secrets import EncryptedField


class DatabaseQuerySet(models.QuerySet["Database"]):
    """Databases; `visible_to` begins every read that a person causes."""

    def visible_to(self, user: User) -> DatabaseQuerySet:
        """Keep those whose audience has `user`, in projects of theirs."""
        return self.filter(
            project__in=Project.objects.visible_to(user),
            audience_id__in=Audience.objects.ids_of(user),
        )


class Database(models.Model):
    """A database of the company's, read with one login, by those of its audience."""

    class Engine(models.TextChoices):
        POSTGRES = "postgres", "PostgreSQL"
        MYSQL = "mysql", "MySQL or MariaDB"

    class Encryption(models.TextChoices):
        OFF = "off", "none: only in a network you trust"
        REQUIRED = "required", "encrypted, whoever the server is"
        VERIFIED = "verified", "encrypted, the server's certificate checked"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, models.CASCADE, related_name="databases")
    audience = models.ForeignKey(
        Audience,
        models.RESTRICT,
        related_name="+",
        help_text="Who may see its tables and ask it.",
    )
    name = models.SlugField(
        max_length=63, help_text="In keys and addresses; letters, digits, - and _."
    )
    title = models.CharField(max_length=200, blank=True)
    engine = models.CharField(max_length=16, choices=Engine)
    host = models.CharField(max_length=255)
    port = models.PositiveIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(65535)]
    )
    database = models.CharField(max_length=128)
    user = models.CharField("login", max_length=128)
    password = EncryptedField(
        help_text="Written only: it is encrypted and never shown."
    )
    encryption = models.CharField(
        max_length=16, choices=Encryption, default=Encryption.VERIFIED
    )
    certificate = models.TextField(
        "certificate authority",
        blank=True,
        help_text="PEM; empty: those that the system trusts.",
    )
    superuser_allowed = models.BooleanField(
        default=False, help_text="Let a login in that may do everything. Better not."
    )
    rows_most = models.PositiveIntegerField(
        default=10_000, validators=[MinValueValidator(1), MaxValueValidator(100_000)]
    )
    seconds_most = models.PositiveIntegerField(
        default=20, validators=[MinValueValidator(1), MaxValueValidator(600)]
    )
    enabled = models.BooleanField(default=True)
    # What the server said of itself when it was last reached.
    flavour = models.CharField(max_length=16, blank=True, editable=False)
    version = models.CharField(max_length=64, blank=True, editable=False)
    default_schema = models.CharField(max_length=128, blank=True, editable=False)
    tested_at = models.DateTimeField(null=True, editable=False)
    test_report = models.JSONField(default=dict, editable=False)
    discovered_at = models.DateTimeField(null=True, editable=False)
    discovery_error = models.TextField(blank=True, editable=False)
    # The circuit breaker: how often in a row it failed, and until when it is left alone.
    failures = models.PositiveIntegerField(default=0, editable=False)
    paused_until = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = DatabaseQuerySet.as_manager()

    class Meta:
        db_table = "databases"
        ordering: ClassVar[tuple[str, ...]] = ("tenant_id", "project_id", "name")
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "name"), name="databases_name"
            ),
            models.CheckConstraint(
                condition=Q(engine__in=("postgres", "mysql")), name="databases_engine"
            ),
            models.CheckConstraint(
                condition=Q(encryption__in=("off", "required", "verified")),
                name="databases_encryption",
            ),
        )

    def __str__(self) -> str:
        return self.title or self.name


class DatabaseTable(models.Model):
    """A table or view as it was found; `exposure` is what staff let be seen of it."""

    class Exposure(models.TextChoices):
        VISIBLE = "visible"
        HIDDEN = "hidden"

    database = models.ForeignKey(Database, models.CASCADE, related_name="tables")
    schema = models.CharField(max_length=128)
    name = models.CharField(max_length=128)
    kind = models.CharField(max_length=8, default="table")
    comment = models.TextField(blank=True)
    rows = models.BigIntegerField(default=0)
    exposure = models.CharField(
        max_length=16, choices=Exposure, default=Exposure.VISIBLE
    )
    # What staff chose no discovery changes.
    is_chosen = models.BooleanField(default=False, editable=False)
    sampled_at = models.DateTimeField(null=True, editable=False)
    gone_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "database_tables"
        ordering: ClassVar[tuple[str, ...]] = ("schema", "name")
        constraints = (
            models.UniqueConstraint(
                fields=("database", "schema", "name"), name="database_tables_name"
            ),
            models.CheckConstraint(
                condition=Q(exposure__in=("visible", "hidden")),
                name="database_tables_exposure",
            ),
        )

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


class DatabaseColumn(models.Model):
    """A column as it was found, and how much of it may be seen."""

    class Exposure(models.TextChoices):
        VISIBLE = "visible"
        MASKED = "masked", "masked: only a mask of each value"
        AGGREGATE = "aggregate", "only in sums, counts and the like"
        HIDDEN = "hidden", "hidden: it cannot be used at all"

    table = models.ForeignKey(DatabaseTable, models.CASCADE, related_name="columns")
    name = models.CharField(max_length=128)
    position = models.PositiveIntegerField()
    data_type = models.CharField(max_length=200)
    family = models.CharField(max_length=16)
    nullable = models.BooleanField(default=True)
    comment = models.TextField(blank=True)
    is_key = models.BooleanField(default=False)
    exposure = models.CharField(
        max_length=16, choices=Exposure, default=Exposure.VISIBLE
    )
    is_chosen = models.BooleanField(default=False, editable=False)
    # Of an enumeration all, else a sample where there are few; of masked ones none.
    values = ArrayField(models.TextField(), default=list, blank=True)
    values_complete = models.BooleanField(default=False)
    gone_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "database_columns"
        ordering: ClassVar[tuple[str, ...]] = ("table_id", "position")
        constraints = (
            models.UniqueConstraint(
                fields=("table", "name"), name="database_columns_name"
            ),
            models.CheckConstraint(
                condition=Q(exposure__in=("visible", "masked", "aggregate", "hidden")),
                name="database_columns_exposure",
            ),
            models.CheckConstraint(
                condition=Q(exposure="visible") | Q(values=[]),
                name="database_columns_no_values_of_masked",
            ),
        )

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


class DatabaseKey(models.Model):
    """A foreign key: columns of one table that name a row of another."""

    table = models.ForeignKey(DatabaseTable, models.CASCADE, related_name="keys")
    name = models.CharField(max_length=128)
    columns = ArrayField(models.TextField())
    target = models.ForeignKey(
        DatabaseTable, models.CASCADE, related_name="referring_keys"
    )
    target_columns = ArrayField(models.TextField())

    class Meta:
        db_table = "database_keys"
        constraints = (
            models.UniqueConstraint(
                fields=("table", "name"), name="database_keys_name"
            ),
        )

    def __str__(self) -> str:
        return f"{self.table}: {self.name}"


class DatabaseChange(models.Model):
    """A difference that a discovery found to the one before."""

    class Kind(models.TextChoices):
        ADDED = "added"
        REMOVED = "removed"
        CHANGED = "changed"

    database = models.ForeignKey(Database, models.CASCADE, related_name="changes")
    at = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=Kind)
    what = models.CharField(max_length=400, help_text="Table, column or key.")
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)

    class Meta:
        db_table = "database_changes"
        ordering: ClassVar[tuple[str, ...]] = ("-at", "id")
        indexes = (
            models.Index(fields=("database", "-at"), name="database_changes_recent"),
        )

    def __str__(self) -> str:
        return f"{self.what} {self.kind}"


class DatabaseQuery(models.Model):
    """A statement that was asked for: who, why, what became of it. Written first, so
    that a process that dies leaves it behind as running."""

    class Verdict(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        REFUSED = "refused", "refused by the guard"
        FAILED = "failed"
        CANCELLED = "cancelled"
        TIMED_OUT = "timed_out", "took too long"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    database = models.ForeignKey(
        Database, models.SET_NULL, null=True, related_name="queries"
    )
    database_name = models.CharField(max_length=63)
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    question = models.TextField(blank=True)
    asked_sql = models.TextField(help_text="As a model or a person wrote it.")
    sent_sql = models.TextField(blank=True, help_text="As the guard wrote it.")
    verdict = models.CharField(max_length=16, choices=Verdict, default=Verdict.RUNNING)
    rule = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)
    rows = models.PositiveIntegerField(default=0)
    truncated = models.BooleanField(default=False)
    took_ms = models.FloatField(default=0)
    shown_in = models.CharField(
        max_length=200, blank=True, help_text="Such as turn:12, page, api."
    )
    cancel_asked_at = models.DateTimeField(null=True, editable=False)
    # Touched twice a second by who runs it: a run that is not has lost its process.
    alive_at = models.DateTimeField(null=True, editable=False)
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "database_queries"
        verbose_name_plural = "database queries"
        ordering: ClassVar[tuple[str, ...]] = ("-started_at",)
        constraints = (
            models.CheckConstraint(
                condition=Q(
                    verdict__in=(
                        "running",
                        "done",
                        "refused",
                        "failed",
                        "cancelled",
                        "timed_out",
                    )
                ),
                name="database_queries_verdict",
            ),
        )
        indexes = (
            models.Index(
                fields=("tenant", "project", "-started_at"),
                name="database_queries_recent",
            ),
            models.Index(
                fields=("database", "verdict"),
                condition=Q(verdict="running"),
                name="database_queries_running",
            ),
        )

    def __str__(self) -> str:
        return f"{self.database_name}: {self.get_verdict_display()}"
