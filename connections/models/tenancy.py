"""Who we are: users, tenants, projects, and who may see what."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import (
    AbstractBaseUser,
    AnonymousUser,
    BaseUserManager,
    PermissionsMixin,
)
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from connections import sql
from connections.prepared import fetch_prepared


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email__iexact=username)

    def create_user(
        self, email: str, password: str | None = None, **fields: object
    ) -> User:
        """Return a new user whose own address counts as verified."""
        if not email:
            raise ValueError("A user needs an e-mail address.")
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        user.addresses.create(address=email.lower(), verified_at=timezone.now())
        return user

    def create_superuser(
        self, email: str, password: str | None = None, **fields: object
    ) -> User:
        return self.create_user(
            email, password, is_staff=True, is_superuser=True, **fields
        )


class User(AbstractBaseUser, PermissionsMixin):
    """A person who signs in; the e-mail address is the login."""

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    date_joined = models.DateTimeField(default=timezone.now)

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = (
            models.UniqueConstraint(
                Lower("email"), name="connections_user_email_any_case"
            ),
        )

    def __str__(self) -> str:
        return self.name or self.email

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return (self.name or self.email).split()[0]


class UserAddress(models.Model):
    """An address of a user; only a verified one opens what it was addressed to."""

    user = models.ForeignKey(User, models.CASCADE, related_name="addresses")
    address = models.EmailField(unique=True)
    verified_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "user addresses"

    def __str__(self) -> str:
        return self.address


class Tenant(models.Model):
    """A company; nothing of one tenant is ever seen from another."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    shard = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: User | AnonymousUser) -> ProjectQuerySet:
        """Keep the projects `user` is a member of."""
        if not user.is_active:
            return self.none()
        return self.filter(memberships__user_id=user.pk)

    def named(self, path: str) -> Project:
        """Return the project "tenant/project", or raise `Project.DoesNotExist`."""
        tenant, _, project = path.partition("/")
        return self.select_related("tenant").get(tenant__slug=tenant, slug=project)


class Project(models.Model):
    """A graph of its own within a tenant."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="projects")
    slug = models.SlugField()
    name = models.CharField(max_length=200)
    language = models.CharField(
        max_length=63,
        default="english",
        help_text="Text-search configuration of texts whose language is not known.",
    )
    sample_questions = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text="Shown on an empty chat page; without any, questions from the data.",
    )
    tokens_a_day = models.BigIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Of chat models; empty: the installation's (FABRIC_TOKENS_A_DAY), "
        "0: without a bound.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "slug"), name="connections_project_slug"
            ),
            models.UniqueConstraint(
                fields=("tenant", "id"), name="connections_project_tenant"
            ),
        )

    def __str__(self) -> str:
        return self.path

    @property
    def path(self) -> str:
        return f"{self.tenant.slug}/{self.slug}"


class Role(models.TextChoices):
    VIEWER = "viewer"
    EDITOR = "editor"
    REVIEWER = "reviewer"
    ADMIN = "admin"


class Membership(models.Model):
    """What a user may do in a project; each role includes those before it."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role, default=Role.VIEWER)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("project", "user"), name="connections_membership_once"
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values),
                name="connections_membership_role",
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} · {self.project} · {self.role}"

    def allows(self, role: Role) -> bool:
        """Return whether this membership includes what `role` may do."""
        return Role.values.index(self.role) >= Role.values.index(role)


class AudienceQuerySet(models.QuerySet["Audience"]):
    def ids_of(self, user: User | AnonymousUser) -> list[int]:
        """Return the audiences `user` belongs to, over all projects of theirs."""
        if not user.is_active or user.pk is None:
            return []
        rows = fetch_prepared(sql.AUDIENCES_OF_USER, {"user": user.pk}, using=self.db)
        return [row[0] for row in rows]


class Audience(models.Model):
    """A set of people who may see something.

    `public` is every member of the project. With `combines`, the people are those of
    any or of all of its parts, as they are now.
    """

    class Kind(models.TextChoices):
        PUBLIC = "public"
        MEMBERS = "members"
        PRIVATE = "private"

    class Combines(models.TextChoices):
        NOTHING = ""
        ANY = "any"
        ALL = "all"

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, models.CASCADE, related_name="audiences")
    kind = models.CharField(max_length=16, choices=Kind)
    combines = models.CharField(
        max_length=3, choices=Combines, blank=True, default=Combines.NOTHING
    )
    key = models.CharField(max_length=600, blank=True)
    title = models.CharField(max_length=300, blank=True)
    parts = models.ManyToManyField(
        "self", symmetrical=False, blank=True, db_table="audience_parts"
    )

    objects = AudienceQuerySet.as_manager()

    class Meta:
        db_table = "audiences"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "kind", "key"), name="audiences_key"
            ),
            models.UniqueConstraint(
                fields=("tenant", "project", "id"), name="audiences_scope"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=("public", "members", "private")),
                name="audiences_kind",
            ),
        )

    def __str__(self) -> str:
        return self.title or self.key or "everyone in the project"


class AudienceMember(models.Model):
    """A user, or an address or account that a user may turn out to have."""

    audience = models.ForeignKey(Audience, models.CASCADE, related_name="members")
    user = models.ForeignKey(User, models.CASCADE, null=True, related_name="+")
    member = models.CharField(max_length=600, blank=True)

    class Meta:
        db_table = "audience_members"
        constraints = (
            models.UniqueConstraint(
                fields=("audience", "user", "member"),
                nulls_distinct=False,
                name="audience_members_once",
            ),
            models.CheckConstraint(
                condition=models.Q(user__isnull=False) ^ ~models.Q(member=""),
                name="audience_members_user_or_address",
            ),
        )
        indexes = (models.Index(fields=("member",), name="audience_members_member"),)

    def __str__(self) -> str:
        return str(self.user) if self.user_id else self.member
