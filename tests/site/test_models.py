"""RULE: one test walks all models and fails on any that breaks a rule of the schema."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection, models

from graph.models import InProject, Scoped

CHECKOUT = Path(__file__).resolve().parents[2]
# From the top down; what stands lower must not name what stands higher.
LAYERS = ("fabric_site", "memory", "retrieval", "graph", "connections")
OURS = [
    m
    for app in LAYERS
    for m in apps.get_app_config(app).get_models()
    if not m._meta.proxy
]
# What is no tenant's: the installation's own, or reached through a row that is.
WITHOUT_PROJECT = {
    "connections.User": "an installation's",
    "connections.Tenant": "the tenant itself",
    "connections.UserAddress": "a user's",
    "connections.Project": "the project itself",
    "connections.Membership": "a project's",
    "connections.ApiToken": "a tenant's",
    "connections.AudienceMember": "an audience's",
    "connections.SavedView": "a user's",
    "connections.SyncRun": "a source's",
    "connections.SyncError": "a run's",
    "connections.AuditDetail": "an audit row's",
    "connections.AuditHead": "a tenant's, by its number",
    "connections.AuditCheck": "a tenant's, by its number",
    "connections.DatabaseTable": "a database's",
    "connections.DatabaseColumn": "a table's",
    "connections.DatabaseKey": "a table's",
    "connections.DatabaseChange": "a database's",
    "graph.EmbeddingModel": "an installation's",
    "memory.Turn": "a conversation's",
    "memory.TurnTable": "a turn's",
    "memory.SavedQuery": "a database's",
    "memory.VerifiedExample": "a database's",
    "memory.Citation": "a turn's",
    "memory.Feedback": "a turn's",
    "memory.Reference": "a conversation's and an observation's",
    "memory.ReferencedPair": "two observations'",
    "retrieval.Lexeme": "a project's, counted",
    "retrieval.LexemeCount": "a project's, counted",
}


def columns(model):
    return {f.name: f for f in model._meta.concrete_fields}


def test_there_are_models_to_walk():
    assert len(OURS) >= 25
    assert {m._meta.label for m in OURS} >= set(WITHOUT_PROJECT)


@pytest.mark.parametrize("model", OURS, ids=lambda m: m._meta.label)
def test_a_table_of_a_tenant_has_tenant_and_project(model):
    names = columns(model)
    if model._meta.label in WITHOUT_PROJECT:
        assert not {"tenant", "project"} <= names.keys() or model._meta.label in (
            "connections.Project",
        )
        return
    assert {"tenant", "project"} <= names.keys()
    if model._meta.label != "connections.Audit":
        assert not names["tenant"].null
        # A key of a model is a tenant's or a project's.
        is_of_either = model._meta.label == "connections.ModelCredential"
        assert names["project"].null == is_of_either


@pytest.mark.parametrize(
    "model", [m for m in OURS if issubclass(m, Scoped)], ids=lambda m: m._meta.label
)
def test_what_is_seen_by_an_audience_always_has_one_also_in_the_database(model):
    assert not columns(model)["audience"].null
    assert hasattr(model.objects.all(), "visible_to")


@pytest.mark.django_db
def test_the_database_agrees_that_scope_is_never_null():
    tables = [m._meta.db_table for m in OURS if issubclass(m, (Scoped, InProject))]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_name = ANY(%s) AND is_nullable = 'YES'"
            " AND column_name IN ('tenant_id', 'project_id', 'audience_id')",
            [tables],
        )
        assert cursor.fetchall() == []
    assert len(tables) >= 9


@pytest.mark.django_db
def test_every_reference_of_a_graph_table_is_a_composite_key_in_its_project():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text, array_agg(a.attname::text ORDER BY a.attnum)"
            "  FROM pg_constraint c JOIN pg_attribute a"
            "    ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)"
            " WHERE c.contype = 'f' GROUP BY c.oid, conrelid"
        )
        found = [(table, set(names)) for table, names in cursor.fetchall()]
    missing = []
    for model in apps.get_app_config("graph").get_models():
        if model._meta.proxy or "project" not in columns(model):
            continue
        for field in model._meta.concrete_fields:
            own = {"tenant", "project"}
            if not field.is_relation or field.name in own:
                continue
            to = field.related_model
            if "project" not in columns(to) or to._meta.label == "connections.Source":
                continue
            wanted = {"tenant_id", "project_id", field.column}
            if (model._meta.db_table, wanted) not in found:
                missing.append(f"{model._meta.label}.{field.name}")
    assert missing == []


def test_a_reference_points_down_or_stays_in_its_layer():
    upward = []
    for model in OURS:
        rank = LAYERS.index(model._meta.app_label)
        for field in model._meta.get_fields():
            if not (field.is_relation and field.concrete and field.related_model):
                continue
            to = field.related_model._meta.app_label
            if to in LAYERS and LAYERS.index(to) < rank:
                upward.append(str(field))
    assert upward == []


def test_no_reference_is_a_string_into_another_app():
    found = []
    kinds = {"ForeignKey", "OneToOneField", "ManyToManyField"}
    paths = [
        p
        for app in LAYERS
        for p in (CHECKOUT / app).rglob("*.py")
        if "migrations" not in p.parts
    ]
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            aim = node.args[0]
            if (
                name in kinds
                and isinstance(aim, ast.Constant)
                and "." in str(aim.value)
            ):
                found.append(f"{path.name}: {aim.value}")
    assert found == []


@pytest.mark.parametrize("model", OURS, ids=lambda m: m._meta.label)
def test_a_row_says_what_it_is(model):
    assert model.__str__ is not models.Model.__str__
    assert model.__doc__
    assert not model.__doc__.startswith(f"{model.__name__}("), (
        "the docstring is Django's"
    )
