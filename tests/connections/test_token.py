from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from connections.models import ApiToken
from tests.factories import make_member, make_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def issued(project):
    user = make_member(project)
    return ApiToken.objects.issue(
        user=user, tenant=project.tenant, name="ci", scopes=["read"]
    )


def test_a_token_is_shown_once_and_only_its_digest_is_stored(issued):
    token, text = issued
    stored = ApiToken.objects.values_list().get(pk=token.pk)
    assert text.startswith(f"fab_{token.prefix}_")
    assert len(text.split("_", 2)[2]) >= 43, "256 bits"
    assert not any(text.split("_", 2)[2] in str(value) for value in stored)
    assert text not in str(token)


def test_a_presented_token_is_found_with_its_user(issued, django_assert_num_queries):
    token, text = issued
    with django_assert_num_queries(1):
        found = ApiToken.objects.presented(text)
        assert found.user.email == "ann@acme.test"
    assert found == token


@pytest.mark.parametrize(
    "mistake",
    [
        lambda text: "",
        lambda text: "fab_",
        lambda text: text[:-1],
        lambda text: text + "x",
        lambda text: text.replace("fab_", "fob_"),
        lambda text: text.upper(),
        lambda text: "fab_00000000_" + text.split("_", 2)[2],
        lambda text: text.replace("_", "-"),
        lambda text: "fab_\x00_x",
        lambda text: "fab_é_ü",
    ],
)
def test_what_is_nearly_a_token_is_none(issued, mistake):
    assert ApiToken.objects.presented(mistake(issued[1])) is None


@pytest.mark.parametrize("end", ["expired", "revoked", "inactive"])
def test_a_token_ends(issued, end):
    token, text = issued
    now = timezone.now()
    if end == "expired":
        token.expires_at = now - timedelta(seconds=1)
    elif end == "revoked":
        token.revoked_at = now
    else:
        token.user.is_active = False
        token.user.save()
    token.save()
    assert ApiToken.objects.presented(text) is None


def test_a_token_lasts_ninety_days_unless_told(issued, project, user):
    assert timedelta(89) < issued[0].expires_at - timezone.now() <= timedelta(90)
    text = make_token(user, project.tenant, expires_at=timezone.now() + timedelta(1))
    assert ApiToken.objects.presented(text).expires_at < timezone.now() + timedelta(2)


def test_two_tokens_differ(issued, project, user):
    assert make_token(user, project.tenant) != issued[1]
