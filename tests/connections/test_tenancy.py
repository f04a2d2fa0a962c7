from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction

from connections.models import Audience, AudienceMember, Membership, Project, Role, User
from tests.factories import make_audience, make_member, make_project, make_user

pytestmark = pytest.mark.django_db


def test_a_login_is_one_address_in_any_case():
    make_user("Ann@acme.test")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_user("ann@ACME.test")
    assert User.objects.get_by_natural_key("ANN@acme.TEST").email == "Ann@acme.test"
    with pytest.raises(ValueError, match="e-mail"):
        make_user("")


def test_the_own_address_of_a_user_is_verified():
    address = make_user("Ann@acme.test").addresses.get()
    assert address.address == "ann@acme.test"
    assert address.verified_at is not None


def test_an_address_belongs_to_one_user():
    make_user("ann@acme.test")
    bob = make_user("bob@acme.test")
    with pytest.raises(IntegrityError), transaction.atomic():
        bob.addresses.create(address="ann@acme.test")


def test_a_project_is_known_by_its_path(project, member, stranger):
    assert project.path == "acme/main"
    assert Project.objects.named("acme/main") == project
    with pytest.raises(Project.DoesNotExist):
        Project.objects.named("acme/other")
    assert list(Project.objects.visible_to(member)) == [project]
    assert project not in Project.objects.visible_to(stranger)
    assert not Project.objects.visible_to(AnonymousUser())


def test_a_superuser_sees_only_projects_they_belong_to(project):
    root = User.objects.create_superuser("root@acme.test", "a long password")
    assert not Project.objects.visible_to(root)
    assert Audience.objects.ids_of(root) == []


@pytest.mark.parametrize("role", Role)
def test_a_role_allows_what_those_before_it_do(project, user, role):
    membership = Membership(project=project, user=user, role=role)
    order = [Role.VIEWER, Role.EDITOR, Role.REVIEWER, Role.ADMIN]
    allowed = [membership.allows(r) for r in order]
    assert allowed == [order.index(r) <= order.index(role) for r in order]


def test_the_database_refuses_a_role_that_is_none(project, user):
    with pytest.raises(IntegrityError, match="membership_role"), transaction.atomic():
        Membership.objects.create(project=project, user=user, role="owner")


def test_audiences_of_a_user_are_those_of_their_projects_alone(
    project, other_project, member, stranger
):
    mine, theirs = make_audience(project), make_audience(other_project)
    shared = make_audience(other_project, "c", ["member@acme.test"])
    assert Audience.objects.ids_of(member) == [mine.pk]
    assert Audience.objects.ids_of(stranger) == [theirs.pk]
    assert shared.pk not in Audience.objects.ids_of(member)


def test_an_audience_of_nobody_s_parts_holds_nobody(project, member):
    for combines in ("any", "all"):
        Audience.objects.create(
            tenant_id=project.tenant_id,
            project=project,
            kind="members",
            key=combines,
            combines=combines,
        )
    assert Audience.objects.ids_of(member) == []


def test_a_place_in_an_audience_is_a_user_s_or_an_address_s_not_both(project, member):
    audience = make_audience(project, "c")
    for fields in (
        {"user": member, "member": "a@x.test"},
        {"user": None, "member": ""},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            AudienceMember.objects.create(audience=audience, **fields)


def test_the_database_refuses_an_audience_of_another_tenant_s_project(
    project, other_project
):
    with pytest.raises(IntegrityError, match="project_of_tenant"), transaction.atomic():
        Audience.objects.create(
            tenant_id=other_project.tenant_id, project=project, kind="members", key="x"
        )


def test_looking_audiences_up_is_one_query(project, django_assert_num_queries):
    user = make_member(project)
    with django_assert_num_queries(1):
        Audience.objects.ids_of(user)


def test_two_tenants_may_name_their_projects_alike(project):
    assert make_project("strangers/main").slug == project.slug
    with pytest.raises(IntegrityError), transaction.atomic():
        make_project("acme/main")
