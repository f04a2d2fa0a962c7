from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection

from connections.models import Audit, Project, SyncRun, Tenant, record_audit
from graph.models import IdentityDecision, Tombstone
from graph.removal import TABLES, remove_project
from memory.ask import ask
from retrieval.frequencies import count_lexemes
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_member,
    make_project,
    take_in,
)
from tests.graph.corpora import ANN

pytestmark = pytest.mark.django_db


def fill(project):
    take_in(
        project,
        draft_account("U1", "Ann Lee", ANN),
        draft_channel(),
        draft_message("2.000001", "The pump failed", thread_ts="1.000001"),
    )
    scope = {"tenant_id": project.tenant_id, "project": project}
    Tombstone.objects.create(**scope, key="x", content_hash="0")
    IdentityDecision.objects.create(
        **scope, verb="merge", first_key="a", second_key="b"
    )
    record_audit("x.done", project=project)
    count_lexemes(project, always=True)


def rows_of(project):
    found = {}
    for model in apps.get_models():
        names = {f.name for f in model._meta.concrete_fields}
        if "project" in names and model is not Audit and not model._meta.proxy:
            count = model._base_manager.filter(project_id=project.pk).count()
            if count:
                found[model._meta.label] = count
    return found


def test_a_project_goes_with_every_row_and_its_audit_stays(project):
    other = make_project("acme/other")
    for one in (project, other):
        fill(one)
    before, theirs = rows_of(project), rows_of(other)
    assert len(before) >= 12
    pk = project.pk
    remove_project(project)
    gone = Project(pk=pk)
    assert rows_of(gone) == {}
    assert rows_of(other) == theirs
    assert Audit.objects.filter(project_id=pk, verb="x.done").exists()
    assert Tenant.objects.filter(slug="acme").exists()


def test_a_project_goes_with_the_conversations_in_it(project):
    fill(project)
    answer = ask(project, "Why did the pump fail?", user=make_member(project))
    assert answer.citations
    pk = project.pk
    remove_project(project)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    assert rows_of(Project(pk=pk)) == {}
    assert not SyncRun.objects.exists()


def test_every_table_of_the_graph_is_emptied_by_name():
    of_graph = {
        m._meta.db_table
        for m in apps.get_app_config("graph").get_models()
        if not m._meta.proxy and "project" in {f.name for f in m._meta.concrete_fields}
    }
    assert set(TABLES) == of_graph
