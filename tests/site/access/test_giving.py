"""An admin stays, nobody gives more than they have, and the audit keeps no secret."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from rest_framework.test import APIClient

from connections.models import (
    ApiToken,
    Audit,
    AuditDetail,
    Database,
    Membership,
    ModelCredential,
    Project,
    Role,
    User,
)
from tests.factories import make_audience, make_member, make_project, make_user

pytestmark = pytest.mark.django_db
YES = {"confirmed": "yes", "post": "yes"}
CANARY = "zzSecretzz-9"


@pytest.fixture
def boss(project: Project) -> User:
    return staff_of(project, "boss@acme.test", Role.ADMIN)


def staff_of(project: Project, email: str, role: str) -> User:
    user = make_member(project, email, role)
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.refresh_from_db()
    return user


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def post(by: User, name: str, /, *key: object, **data: object) -> Any:
    address = reverse(f"admin:connections_{name}", args=key)
    return signed_in(by).post(address, {**YES, **data})


def admins(project: Project) -> set[str]:
    rows = project.memberships.filter(role=Role.ADMIN, user__is_active=True)
    return set(rows.values_list("user__email", flat=True))


class TestTheLastAdmin:
    def test_keeps_their_role_whoever_takes_it(self, project, boss):
        operator = make_user("op@acme.test", is_superuser=True, is_staff=True)
        mine = Membership.objects.get(user=boss)
        for user in (boss, operator):
            post(user, "membership_change", mine.pk, role=Role.VIEWER)
            post(user, "membership_delete", mine.pk)
            post(
                user, "membership_changelist", action="delete_selected",
                _selected_action=[mine.pk],
            )  # fmt: skip
            assert admins(project) == {"boss@acme.test"}

    def test_of_two_one_stays_when_both_are_deleted_at_once(self, project, boss):
        staff_of(project, "second@acme.test", Role.ADMIN)
        keys = list(project.memberships.values_list("pk", flat=True))
        post(
            boss, "membership_changelist", action="delete_selected",
            _selected_action=keys,
        )  # fmt: skip
        assert len(admins(project)) == 1

    def test_may_go_once_there_is_another(self, project, boss):
        staff_of(project, "second@acme.test", Role.ADMIN)
        mine = Membership.objects.get(user=boss)
        post(boss, "membership_change", mine.pk, role=Role.VIEWER)
        assert admins(project) == {"second@acme.test"}

    def test_is_neither_deactivated_nor_deleted_by_an_operator(self, project, boss):
        operator = make_user("op@acme.test", is_superuser=True, is_staff=True)
        form = {"email": boss.email, "name": "", "is_staff": "on"}
        inline = {f"addresses-{each}_FORMS": 0 for each in ("TOTAL", "INITIAL")}
        inline |= {f"memberships-{each}_FORMS": 0 for each in ("TOTAL", "INITIAL")}
        answer = post(operator, "user_change", boss.pk, **form, **inline)
        post(operator, "user_delete", boss.pk)
        post(
            operator, "user_changelist", action="delete_selected",
            _selected_action=[boss.pk],
        )  # fmt: skip
        assert "no admin left" in answer.content.decode()
        assert admins(project) == {"boss@acme.test"}

    def test_operator_keeps_being_one(self, db):
        operator = make_user("op@acme.test", is_superuser=True, is_staff=True)
        form = {"email": operator.email, "name": "", "is_active": "on"}
        inline = {f"addresses-{each}_FORMS": 0 for each in ("TOTAL", "INITIAL")}
        post(operator, "user_change", operator.pk, **form, **inline, is_staff="on")
        post(operator, "user_delete", operator.pk)
        operator.refresh_from_db()
        assert operator.is_superuser
        assert operator.is_active


class TestNobodyGivesMoreThanTheyHave:
    @pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.REVIEWER])
    def test_only_an_admin_gives_roles(self, project, role):
        user = staff_of(project, "some@acme.test", role)
        other = make_user("other@acme.test")
        mine = Membership.objects.get(user=user)
        post(user, "membership_change", mine.pk, role=Role.ADMIN)
        post(
            user, "membership_add", project=project.pk, user=other.pk, role=Role.VIEWER
        )
        mine.refresh_from_db()
        assert mine.role == role
        assert not other.memberships.exists()

    def test_an_admin_gives_no_role_in_a_project_that_they_do_not_administer(
        self, project, other_project, boss
    ):
        other_project.memberships.create(user=boss, role=Role.REVIEWER)
        for role in Role.values:
            post(
                boss, "membership_add", project=other_project.pk, user=boss.pk,
                role=role,
            )  # fmt: skip
        theirs = other_project.memberships.get(user=boss)
        post(boss, "membership_change", theirs.pk, role=Role.ADMIN)
        theirs.refresh_from_db()
        assert theirs.role == Role.REVIEWER
        assert other_project.memberships.count() == 1

    def test_a_token_acts_for_nobody_who_may_more(self, project, boss):
        """Who sees a closed channel that the admin does not see, may more."""
        insider = make_member(project, "in@acme.test", Role.VIEWER)
        make_audience(project, "slack:P1", [insider])
        plain = make_member(project, "plain@acme.test", Role.VIEWER)
        for user in (insider, plain, boss):
            issue_token(boss, user, project)
        made = set(ApiToken.objects.values_list("user__email", flat=True))
        assert made == {"plain@acme.test", "boss@acme.test"}

    def test_nor_for_the_admin_of_another_project_of_the_tenant(self, project, boss):
        second = make_project("acme/second")
        chief = make_member(second, "chief@acme.test", Role.ADMIN)
        issue_token(boss, chief, project)
        assert not ApiToken.objects.exists()


def issue_token(by: User, user: User, project: Project) -> str:
    """Return what the page says once a token was asked for."""
    later = timezone.now() + timedelta(days=9)
    answer = signed_in(by).post(
        reverse("admin:connections_apitoken_add"),
        {
            "user": user.pk, "tenant": project.tenant_id, "name": "t",
            "scopes": ["read"], "expires_at_0": date_format(later, "Y-m-d"),
            "expires_at_1": "10:00:00",
        },
        follow=True,
    )  # fmt: skip
    return answer.content.decode()


class TestTheAuditKeepsNoSecret:
    def test_of_sign_ins_tokens_connections_and_keys(self, project, boss):
        boss.set_password(CANARY)
        boss.save()
        browser = Client()
        for typed in (f"{CANARY} wrong", CANARY):
            browser.post(reverse("login"), {"username": boss.email, "password": typed})
        page = issue_token(boss, boss, project)
        token = ApiToken.objects.get(user=boss)
        shown = [word for word in page.split() if token.prefix in word]
        self.connect(boss, project)
        self.key(boss, project)
        verbs = set(Audit.objects.values_list("verb", flat=True))
        assert {
            "auth.refused", "auth.signed_in", "user.password_changed",
            "token.issued", "database.created",
            "model_key.created",
        } <= verbs  # fmt: skip
        said = json.dumps(
            [
                *map(str, Audit.objects.values_list("verb", "target")),
                *map(str, AuditDetail.objects.values_list("detail", flat=True)),
            ]
        )
        assert CANARY not in said
        assert shown
        assert token.digest not in said

    def connect(self, boss: User, project: Project) -> None:
        client = APIClient()
        client.force_login(boss)
        body = {
            "project": project.path, "name": "shop", "engine": "postgres",
            "host": "db.test", "port": 5432, "database": "d", "user": "u",
            "password": CANARY,
        }  # fmt: skip
        address = "/api/v1/connections/databases/"
        made = client.post(address, body, format="json")
        assert made.status_code == 201, made.content
        changed = {"password": f"{CANARY} again", "host": "db2.test"}
        address = f"{address}{Database.objects.get().pk}/"
        assert client.patch(address, changed, format="json").status_code == 200

    def key(self, boss: User, project: Project) -> None:
        answer = post(
            boss, "modelcredential_add", tenant=project.tenant_id, project=project.pk,
            provider="anthropic", key=CANARY, chat_model="m", enabled="on",
        )  # fmt: skip
        assert ModelCredential.objects.count() == 1, answer.content.decode()[:3000]
