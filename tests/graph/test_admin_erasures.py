from __future__ import annotations

import re

import pytest
from django.urls import reverse

from connections.models import Role
from graph import tasks
from graph.models import Erasure
from graph.models import Record as StoredRecord
from tests.factories import make_member, make_source
from tests.graph.corpora import ANN
from tests.graph.test_erased_records import read

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin_user(project):
    user = make_member(project, "admin@acme.test", Role.ADMIN)
    user.is_staff = user.is_superuser = True
    user.save()
    return user


def token_in(page):
    return page.context["plan"].token


def test_a_source_goes_once_its_name_was_typed(
    client, project, admin_user, monkeypatch, django_capture_on_commit_callbacks
):
    read(project)
    source = make_source(project, "mail")
    monkeypatch.setattr(tasks.carry_on_erasure, "delay", tasks.carry_on_erasure)
    client.force_login(admin_user)
    address = reverse("admin:graph_erasure_source", args=[source.pk])
    page = client.get(address)
    assert b"cannot be undone" in page.content
    assert Erasure.objects.count() == 0
    answer = {"token": token_in(page), "typed": "nail", "reason": "asked for"}
    refused = client.post(address, answer)
    assert b"That is not its name" in refused.content
    assert Erasure.objects.count() == 0
    with django_capture_on_commit_callbacks(execute=True):
        done = client.post(address, answer | {"typed": "mail"}, follow=True)
    erasure = Erasure.objects.get()
    assert (erasure.state, erasure.reason) == ("finished", "asked for")
    assert (erasure.asked_by, erasure.asked) == (admin_user, {})
    assert not StoredRecord.objects.filter(source__name="mail").exists()
    assert done.status_code == 200
    again = client.get(reverse("admin:graph_erasure_change", args=[erasure.pk]))
    said = again.content.decode()
    assert re.search(r'row">graph_records</th><td>[1-9]', said)
    assert re.search(r"[1-9][\d,]* rows of [1-9]\d* tables .* none is left", said)
    listed = client.get(reverse("admin:graph_erasure_changelist"))
    assert b"Erase a person" in listed.content


def test_a_person_is_asked_for_by_address_and_shown_with_what_goes(
    client, project, admin_user
):
    read(project)
    client.force_login(admin_user)
    address = reverse("admin:graph_erasure_person")
    assert client.get(address).status_code == 200
    nobody = client.post(address, {"project": project.pk, "name": "no@acme.test"})
    assert b"Nobody in acme/main" in nobody.content
    shown = client.post(address, {"project": project.pk, "name": ANN})
    page = shown.content.decode()
    assert f"person:{ANN}" in page
    assert re.search(r"Nodes that nothing else supports: [1-9]", page)
    assert "graph_nodes" not in page
    assert Erasure.objects.count() == 0


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.REVIEWER])
def test_staff_who_are_no_admins_of_the_project_do_not_get_there(
    client, project, other_project, role
):
    read(project)
    user = make_member(project, "staff@acme.test", role)
    user.is_staff = True
    user.save()
    make_member(other_project, "staff@acme.test", Role.ADMIN)
    client.force_login(user)
    source = make_source(project, "mail")
    address = reverse("admin:graph_erasure_source", args=[source.pk])
    assert client.get(address).status_code == 404
    assert client.post(address, {"token": "x", "typed": "mail"}).status_code == 404
    person = reverse("admin:graph_erasure_person")
    asked = client.post(person, {"project": project.pk, "name": ANN})
    assert b"Select a valid choice" in asked.content
    assert Erasure.objects.count() == 0
