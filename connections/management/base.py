"""What the commands share: the project they work on, and how they report."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import transaction

from connections.models import Project, Role, Tenant, User, record_audit

DEFAULT_PROJECT = "default/main"


class ProjectCommand(BaseCommand):
    """A command on one project: `--project --json --no-progress`."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--project", default=DEFAULT_PROJECT, metavar="TENANT/PROJECT"
        )
        parser.add_argument(
            "--json", action="store_true", help="one JSON object on stdout"
        )
        parser.add_argument("--no-progress", action="store_true")

    def project(self, path: str, *, create: bool = False) -> Project:
        """Return the project, made with `create`; else a clear error."""
        tenant_slug, slash, slug = path.partition("/")
        if not slash or not tenant_slug or not slug:
            raise CommandError(f"--project is TENANT/PROJECT, not {path!r}.")
        try:
            return Project.objects.named(path)
        except Project.DoesNotExist:
            if not create:
                raise CommandError(
                    f"There is no project {path}; add --create to make it."
                ) from None
        return create_project(path)

    def print_json(self, answer: dict[str, Any]) -> None:
        print_json(self.stdout, answer)

    def show_progress(self, text: str, *, end: bool = False) -> None:
        self.stderr.write(f"\r\x1b[K{text}", ending="\n" if end else "")


@transaction.atomic
def create_project(path: str) -> Project:
    """Return the project "tenant/project", made where missing, owned by superusers."""
    tenant_slug, _, slug = path.partition("/")
    tenant, _ = Tenant.objects.get_or_create(
        slug=tenant_slug, defaults={"name": tenant_slug.replace("-", " ").title()}
    )
    project, made = Project.objects.get_or_create(
        tenant=tenant, slug=slug, defaults={"name": slug.replace("-", " ").title()}
    )
    if made:
        record_audit("project.created", target=path, project=project)
        for user in User.objects.filter(is_superuser=True, is_active=True):
            project.memberships.get_or_create(user=user, defaults={"role": Role.ADMIN})
            record_audit(
                "membership.created",
                target=user.email,
                project=project,
                role=Role.ADMIN.value,
            )
    return project


def print_json(stdout: OutputWrapper, answer: dict[str, Any]) -> None:
    stdout.write(json.dumps(answer, ensure_ascii=False, default=str))


def find_tenant(slug: str) -> Tenant:
    """Return the tenant of that slug, or a clear error."""
    tenant = Tenant.objects.filter(slug=slug).first()
    if tenant is None:
        known = ", ".join(
            Tenant.objects.order_by("slug").values_list("slug", flat=True)
        )
        raise CommandError(f"There is no tenant {slug}; there are: {known or 'none'}.")
    return tenant


def find_user(email: str) -> User | None:
    """Return the active user of that address; None for an empty one."""
    if not email:
        return None
    user = User.objects.filter(email__iexact=email, is_active=True).first()
    if user is None:
        raise CommandError(f"There is no active user {email}.")
    return user
