"""A project goes out and comes back as it was, and nothing of another goes along."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.hashers import make_password

from connections.models import Audience, Audit, Database, Project, User
from graph.exporting.export import Options, export_graph
from graph.exporting.parts import concrete, left_out_models, ordered_parts, parts
from graph.exporting.restore import import_graph
from graph.models import Edge, Node, ReviewItem, Trashed
from memory.models import Conversation, Observation, ReferencedPair, Turn
from retrieval.models import Community
from tests.factories import NOON, make_node, make_project, make_token, make_user
from tests.graph.exporting.whole import CANARIES, make_whole

# Of other makers: accounts of the framework, sessions, schedules, results of tasks.
OTHERS_APPS = {
    "admin",
    "auth",
    "axes",
    "contenttypes",
    "sessions",
    "django_celery_beat",
    "django_celery_results",
    "sites",
}
# Derived, and made by others at the same time as this was.


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def same(one: Path, other: Path) -> int:
    """Assert that two exports are the same; return how many files were compared."""
    mine, theirs = files_of(one), files_of(other)
    assert mine.keys() == theirs.keys()
    for name, content in mine.items():
        assert theirs[name] == content, name
    return len(mine)


@pytest.fixture
def whole(project) -> Project:
    make_whole(project)
    return project


def test_every_model_is_exported_or_left_out_with_its_reason():
    exported = {part.model._meta.label for part in parts.values()}
    ours = [
        m
        for m in apps.get_models()
        if not m._meta.proxy and m._meta.app_label not in OTHERS_APPS
    ]
    assert len(ours) >= 45
    forgotten = [
        m._meta.label
        for m in ours
        if m._meta.label not in exported and m._meta.label not in left_out_models
    ]
    assert forgotten == []
    assert all(left_out_models.values())
    assert not exported & left_out_models.keys()


def test_every_field_that_is_left_out_exists_and_has_a_reason():
    for part in parts.values():
        names = {field.name for field in concrete(part.model)}
        assert part.left_out.keys() <= names, part.name
        assert all(part.left_out.values())


@pytest.mark.django_db
def test_all_of_a_project_comes_back_the_same(whole, other_project, tmp_path):
    make_whole(other_project, "eve@strangers.test")
    exported = export_graph(whole, tmp_path / "one")
    empty = [name for name, count in exported.lines.items() if not count]
    assert empty == []
    assert set(exported.lines) == set(parts)
    copy = make_project("acme/copy")
    restored = import_graph(copy, tmp_path / "one")
    assert restored.lines == exported.lines
    export_graph(copy, tmp_path / "two")
    assert same(tmp_path / "one", tmp_path / "two") >= 80
    text = b"".join(files_of(tmp_path / "one").values()).decode()
    assert "eve@strangers.test" not in text
    assert "ann@acme.test" in text


@pytest.mark.django_db
def test_what_has_ids_inside_points_to_the_same_after_an_import(whole, tmp_path):
    export_graph(whole, tmp_path / "one")
    copy = make_project("acme/copy")
    import_graph(copy, tmp_path / "one")
    node = {n.key: n for n in Node.objects.filter(project=copy)}
    assert Turn.objects.get(
        conversation__project=copy, question="Who has the key?"
    ).also_read == [node["slack:C1:1.0"].pk]
    trash = Trashed.objects.get(project=copy)
    assert trash.chosen == trash.node_id == node["slack:C1:9.0"].pk
    said = Community.objects.get(project=copy).summary
    assert said == [{"node_id": node["slack:C1:1.0"].pk, "text": "Hello."}]
    pair = ReferencedPair.objects.get(one__project=copy)
    assert pair.one_id < pair.other_id
    mine = Observation.objects.get(project=copy, node__content="Ann has it.")
    assert mine.superseded_by.node.content == "Hollis has the key."
    assert mine.conversation == Conversation.objects.get(project=copy)
    assert ReviewItem.objects.get(project=copy).held_by is None
    assert Edge.objects.filter(project=copy, scope=node["slack:C1:3.0"]).count() == 2
    assert Node.objects.filter(project=copy, search_vector=None).count() == 0


@pytest.mark.django_db
def test_audiences_get_the_keys_that_this_installation_would_give(whole, tmp_path):
    from graph.audiences import Audiences

    user = User.objects.get(email="ann@acme.test")
    export_graph(whole, tmp_path / "one")
    copy = make_project("acme/copy")
    import_graph(copy, tmp_path / "one")
    before = Audience.objects.filter(project=copy).count()
    audiences = Audiences(copy)
    closed = Audience.objects.get(project=copy, key="slack:P1")
    own = audiences.private_to(user)
    either = audiences.any_of([closed.pk, own])
    other = Audience.objects.get(project=copy, key="slack:P2")
    audiences.all_of([either, other.pk])
    assert Audience.objects.filter(project=copy).count() == before
    assert before >= 6


@pytest.mark.django_db
def test_no_secret_ever_goes_out(whole, tmp_path):
    user = User.objects.get(email="ann@acme.test")
    user.password = make_password("canary-sign-in-4711")
    user.save()
    token = make_token(user, whole.tenant)
    export_graph(whole, tmp_path / "one", Options(with_vectors=True))
    content = b"".join(files_of(tmp_path / "one").values())
    stored = Database.objects.filter(project=whole).values_list("password", flat=True)
    secrets = [*CANARIES.values(), user.password, token, token.split("_")[1]]
    assert len(secrets) >= 6
    assert len(stored) == 1
    for secret in secrets:
        assert secret.encode() not in content
    assert b"db.test" in content


@pytest.mark.django_db
def test_an_imported_database_is_off_until_it_has_a_password(whole, tmp_path):
    export_graph(whole, tmp_path / "one")
    copy = make_project("acme/copy")
    import_graph(copy, tmp_path / "one")
    database = Database.objects.get(project=copy)
    assert (database.enabled, database.password) == (False, None)


@pytest.mark.django_db
def test_people_without_an_account_keep_what_is_theirs_closed(whole, tmp_path):
    export_graph(whole, tmp_path / "one")
    User.objects.filter(email="ann@acme.test").update(email="old@acme.test")
    Audience.objects.filter(project=whole).update(title="")
    copy = make_project("acme/copy")
    restored = import_graph(copy, tmp_path / "one")
    assert restored.unknown == ("ann@acme.test",)
    ann = User.objects.get(email="ann@acme.test")
    assert not ann.is_active
    assert not ann.has_usable_password()
    assert not ann.is_staff
    talk = Conversation.objects.get(project=copy)
    stranger = make_user("bob@acme.test")
    copy.memberships.create(user=stranger, role="admin")
    copy.memberships.create(user=ann, role="viewer")
    closed = Node.objects.filter(project=copy, key="Slack:C1:1.0")
    for user in (ann, stranger):
        assert not Conversation.objects.visible_to(user).filter(pk=talk.pk).exists()
        assert not closed.visible_to(user).exists()
    User.objects.filter(pk=ann.pk).update(is_active=True)
    ann.refresh_from_db()
    assert Conversation.objects.visible_to(ann).filter(pk=talk.pk).exists()
    assert closed.visible_to(ann).exists()
    assert not closed.visible_to(stranger).exists()
    export_graph(copy, tmp_path / "two")
    assert same(tmp_path / "one", tmp_path / "two") >= 80


@pytest.mark.django_db
def test_a_private_audience_never_becomes_that_of_whoever_has_the_number(
    whole, tmp_path
):
    from graph.audiences import Audiences

    export_graph(whole, tmp_path / "one")
    ann = User.objects.get(email="ann@acme.test")
    line = next(
        json.loads(text)
        for text in (tmp_path / "one/data/audiences.jsonl").read_text().splitlines()
        if '"private"' in text
    )
    assert line["key"] == "user:ann@acme.test"
    User.objects.filter(pk=ann.pk).update(email="moved@acme.test")
    copy = make_project("acme/copy")
    import_graph(copy, tmp_path / "one")
    own = Audiences(copy).private_to(User.objects.get(pk=ann.pk))
    assert not Node.objects.filter(project=copy, audience_id=own).exists()


@pytest.mark.django_db
def test_without_memory_nothing_that_people_said_to_it_goes_out(whole, tmp_path):
    exported = export_graph(whole, tmp_path / "one", Options(with_memory=False))
    content = b"".join(files_of(tmp_path / "one").values()).decode()
    for said in ("Who has the key?", "Hollis has", "It rains.", "memory:", "SELECT 1"):
        assert said not in content
    assert "conversations" not in exported.lines
    assert (
        exported.lines["nodes"]
        == Node.objects.filter(project=whole).exclude(origin="memory").count()
        >= 5
    )
    copy = make_project("acme/copy")
    import_graph(copy, tmp_path / "one")
    export_graph(copy, tmp_path / "two", Options(with_memory=False))
    assert same(tmp_path / "one", tmp_path / "two") >= 60


@pytest.mark.django_db
def test_vectors_go_along_when_asked_for(project, tmp_path):
    from graph.embed import embed_backlog

    make_node(project, "a", "The supplier failed the audit.")
    embed_backlog(project.pk)
    export_graph(project, tmp_path / "one", Options(with_vectors=True))
    copy = make_project("acme/copy")
    restored = import_graph(copy, tmp_path / "one")
    assert restored.vectors == 1
    mine = Node.objects.get(project=project)
    theirs = Node.objects.get(project=copy)
    assert list(theirs.embedding) == list(mine.embedding)
    assert theirs.embedding_model_id == mine.embedding_model_id
    export_graph(copy, tmp_path / "two", Options(with_vectors=True))
    assert same(tmp_path / "one", tmp_path / "two") >= 40


@pytest.mark.django_db
def test_a_memory_made_after_an_import_gets_a_key_of_its_own(whole, tmp_path):
    from tests.memory.memories import kept

    export_graph(whole, tmp_path / "one")
    copy = make_project("acme/copy")
    import_graph(copy, tmp_path / "one")
    user = User.objects.get(email="ann@acme.test")
    made = kept(copy, user, "The ferry leaves at nine.")
    assert Node.objects.filter(project=copy, key=f"memory:{made.node_id}").count() == 1


@pytest.mark.django_db(databases=["default", "owner"], transaction=True)
def test_keys_of_memories_from_elsewhere_are_never_given_out_again(tmp_path):
    project, copy = make_project(), make_project("acme/copy")
    last = Node.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    key = f"memory:{last + 5000}"
    make_node(project, key, "From elsewhere.", origin="memory")
    export_graph(project, tmp_path / "one")
    import_graph(copy, tmp_path / "one")
    assert make_node(copy, "later", "x").pk > last + 5000


@pytest.mark.django_db
def test_export_and_import_are_audited(whole, tmp_path):
    export_graph(whole, tmp_path / "one")
    copy = make_project("acme/copy")
    import_graph(copy, tmp_path / "one")
    out = Audit.objects.get(verb="export.graph", project=whole)
    assert (
        out.detail.detail["lines"]["nodes"]
        == Node.objects.filter(project=whole).count()
    )
    assert Audit.objects.get(verb="import.graph", project=copy)


@pytest.mark.django_db
def test_the_same_twice_and_a_small_change_makes_a_small_difference(project, tmp_path):
    rng = random.Random(4)  # noqa: S311 - the same every time
    for n in range(60):
        make_node(project, f"slack:C1:{n}.0", f"word{rng.random()}", occurred_at=NOON)
    export_graph(project, tmp_path / "one")
    export_graph(project, tmp_path / "two")
    count = same(tmp_path / "one", tmp_path / "two")
    assert count >= 140
    node = Node.objects.get(project=project, key="slack:C1:7.0")
    node.content = "Something else."
    node.save()
    export_graph(project, tmp_path / "two")
    one, two = files_of(tmp_path / "one"), files_of(tmp_path / "two")
    changed = sorted(name for name in one if one[name] != two.get(name))
    assert one.keys() == two.keys()
    assert len(changed) == 4
    assert changed[:2] == ["SHA256SUMS", "data/nodes.jsonl"]
    lines = [
        old != new
        for old, new in zip(
            one["data/nodes.jsonl"].splitlines(),
            two["data/nodes.jsonl"].splitlines(),
            strict=True,
        )
    ]
    assert (sum(lines), len(lines)) == (1, 60)


@pytest.mark.django_db
def test_parts_come_after_those_they_refer_to():
    names = [part.name for part in ordered_parts()]
    assert names.index("nodes") > names.index("records") > names.index("sources")
    assert names.index("evidence") > names.index("edges") > names.index("nodes")
    assert len(names) == len(set(names)) == len(parts)
