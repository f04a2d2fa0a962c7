"""A person goes and what they wrote stays: nobody's, and without their name."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from connections.models import Role, record_audit
from connections.records import EdgeDraft, NodeDraft, Record
from graph import erasing
from graph.embed import embed_backlog
from graph.erasing import erase
from graph.erasing_plan import Outdated, plan_person
from graph.models import Edge, ErasedName, Erasure, Identity, Node
from graph.models import Record as StoredRecord
from graph.residue import scan
from memory.models import Observation
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_member,
    take_in,
)
from tests.graph.corpora import EVE, draft_mail
from tests.graph.snapshots import differences, snapshot
from tests.memory.making import make_observation

pytestmark = pytest.mark.django_db
ZOE, NAME, HANDLE = "zoe.quill@acme.test", "Zoë Quillfeather", "zq"


def message(ts, text, author, *, user):
    """Draft a message whose author stands in its context and metadata, as connectors
    write it."""
    draft = draft_message(ts, text, user=user)
    own = replace(
        draft.nodes[0],
        context=f"{author} · Monday · #general",
        metadata={"author": author, "to": [{"name": NAME}], "ts": ts},
    )
    return replace(draft, nodes=(own, *draft.nodes[1:]))


def meeting():
    key = "fireflies:m9"
    return Record(
        key=key,
        kind="meeting",
        body="The blue one.\nNo, the red one.",
        nodes=(
            NodeDraft(key=key, node_type="meeting", title="Colours", context=NAME),
            NodeDraft(
                key=f"{key}:0",
                node_type="sentence",
                content="The blue one.",
                context=f"{HANDLE} · Monday",
                metadata={"speaker": HANDLE},
            ),
            NodeDraft(key=f"{key}:1", node_type="sentence", content="No, the red one."),
        ),
        edges=(
            EdgeDraft(source=f"{key}:0", relation="sent_by", target=f"person:{ZOE}"),
            EdgeDraft(source=f"{key}:1", relation="sent_by", target=f"person:{EVE}"),
        ),
    )


def tell(project):
    take_in(
        project,
        draft_channel(),
        draft_account("U77", NAME, ZOE),
        draft_account("U2", "Bob Ray"),
        message("1.000001", "We decided to use pgvector.", HANDLE, user="U77"),
        message("2.000001", f"Yours, {NAME} (U77).", "U77", user="U77"),
        message("3.000001", f"Ask {NAME}, or Zoë, or zoë.", "Bob Ray", user="U2"),
        draft_mail("a", 0, ZOE, (EVE,), names=((ZOE, HANDLE), (EVE, "Eve Day"))),
        draft_mail("b", 1, EVE, (ZOE,), names=((ZOE, NAME),)),
        meeting(),
    )


def plan_of(project, **how):
    return plan_person(project, ZOE, **{"keep_messages": True, **how})


def erased(project, **how):
    plan = plan_of(project, **how)
    return erase(plan, by=None, reason="asked for", token=plan.token)


def node(project, key):
    return Node.objects.get(project=project, key=key)


def test_messages_stay_with_their_words_and_lose_their_author(project):
    tell(project)
    plan = plan_of(project)
    assert (plan.records, plan.kept) == (1, 3)
    assert HANDLE in plan.own_names
    report = erased(project)
    assert (report.left, report.found, report.records) == (0, {}, 1)
    assert report.tables >= 70
    keys = set(
        StoredRecord.objects.filter(project=project).values_list("key", flat=True)
    )
    assert keys == {
        "slack:C1",
        "slack-user:U2",
        "slack:C1:1.000001",
        "slack:C1:2.000001",
        "slack:C1:3.000001",
        "email:a",
        "email:b",
        "fireflies:m9",
    }
    first, second = (node(project, f"slack:C1:{n}.000001") for n in (1, 2))
    assert first.content == "We decided to use pgvector."
    assert first.context == "[erased] · Monday · #general"
    assert first.metadata["author"] == "[erased]"
    assert second.content == "Yours, [erased] ([erased])."
    said = node(project, "fireflies:m9:0")
    assert (said.content, said.metadata["speaker"]) == ("The blue one.", "[erased]")
    assert StoredRecord.objects.get(key="fireflies:m9").body.startswith("The blue")
    assert not Edge.objects.filter(source=first, relation="sent_by").exists()
    posted = Edge.objects.get(source=first, relation="posted_in")
    assert posted.valid_to is None
    assert not Identity.objects.filter(key__in=plan.keys).exists()
    # What was read out of the message still is, and by it.
    assert node(project, "pgvector").evidence.filter(record=first.record).exists()


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_no_table_or_column_holds_the_name_and_the_vectors_are_made_anew(
    project, capsys
):
    tell(project)
    embed_backlog(project.pk)
    member = make_member(project, "m@acme.test")
    told = make_observation(
        project, member, f"{NAME} decided on pgvector.", origin="turn"
    )
    Edge.objects.create(
        tenant_id=project.tenant_id, project=project, audience=told.node.audience,
        source=told.node, target=node(project, "slack:C1:1.000001"),
        relation="supported_by", origin="memory",
    )  # fmt: skip
    record_audit("question.asked", target="x", project=project, question=NAME)
    probes = [NAME, ZOE, "slack-user:U77", "quillfeather"]
    before = scan(probes, project=project)
    assert len(before.found) >= 15, sorted(before.found)
    vector = str(node(project, "slack:C1:2.000001").embedding)
    report = erased(project)
    after = scan(probes, vectors=[vector], project=project)
    with capsys.disabled():
        print(  # noqa: T201 - the count is the point
            f"\nanonymous: {len(before.found)} columns and {before.left} rows held it; "
            f"{after.left} of {after.rows} rows, {after.columns} columns, "
            f"{after.tables} tables hold it now"
        )
    assert (after.found, report.left) == ({}, 0)
    assert after.tables >= 75
    embed_backlog(project.pk)
    again = node(project, "slack:C1:2.000001")
    assert again.embedding is not None
    assert str(again.embedding) != vector
    left = Observation.objects.filter(project=project).first()
    assert left is None or left.node.content == "[erased] decided on pgvector."


def test_later_runs_read_messages_without_the_author_and_nothing_twice(project):
    tell(project)
    erased(project)
    tell(project)
    new = message("9.000001", f"A new one of {HANDLE}.", HANDLE, user="U77")
    take_in(project, new)
    assert scan([NAME, ZOE, "slack-user:U77"], project=project).found == {}
    late = node(project, "slack:C1:9.000001")
    assert late.content == "A new one of [erased]."
    assert late.context == "[erased] · Monday · #general"
    assert late.metadata == {
        "author": "[erased]",
        "to": [{"name": "[erased]"}],
        "ts": "9.000001",
    }
    stored = snapshot(project)
    tell(project)
    assert differences(snapshot(project), stored) == []
    # Theirs alone is the short name: others may use the word.
    take_in(project, message("8.000001", f"The {HANDLE} pump.", "Bob Ray", user="U2"))
    assert node(project, "slack:C1:8.000001").content == "The zq pump."


def test_a_name_that_another_bears_goes_from_their_own_messages_alone(project):
    tell(project)
    take_in(project, draft_account("U4", NAME, "other@acme.test"))
    assert plan_of(project).ambiguous == 1
    erased(project)
    assert node(project, "slack:C1:2.000001").content == "Yours, [erased] ([erased])."
    assert NAME in node(project, "slack:C1:3.000001").content
    assert Identity.objects.filter(key="slack-user:U4", names=[NAME]).exists()


def test_the_account_itself_does_not_come_back(project):
    tell(project)
    erased(project)
    take_in(project, draft_account("U77", NAME, ZOE))
    assert not Identity.objects.filter(key="slack-user:U77").exists()
    kept = ErasedName.objects.filter(project=project, words=0)
    assert set(kept.values_list("anonymous", flat=True)) == {True}


def test_killed_in_between_it_goes_on_and_leaves_no_author(project, monkeypatch):
    tell(project)
    plan = plan_of(project)
    erasure = erasing.begin(plan, by=None, reason="", token=plan.token)

    def dying(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(erasing, "forget_person", dying)
        with pytest.raises(KeyboardInterrupt):
            erasing.carry_on(erasure)
    # What is theirs was made nameless before anything that says so went.
    assert not Identity.objects.filter(key="slack-user:U77").exists()
    assert node(project, "slack:C1:1.000001").context.startswith("[erased]")
    report = erasing.carry_on(Erasure.objects.get(pk=erasure.pk))
    assert report.left == 0
    assert node(project, "slack:C1:1.000001").context.startswith("[erased]")


# --- first names ----------------------------------------------------------------------


def test_a_plan_counts_the_bare_first_name_and_says_whether_it_is_anothers(project):
    tell(project)
    (first,) = plan_of(project).first_names
    assert (first.name, first.records, first.is_alone) == ("Zoë", 1, True)
    assert plan_of(project).first_scrubbed == []
    assert plan_of(project, scrub_first=True).first_scrubbed == ["Zoë"]
    take_in(project, draft_account("U5", "Zoë Other"))
    (first,) = plan_of(project).first_names
    assert (first.records, first.is_alone) == (2, False)
    assert plan_of(project, scrub_first=True).first_scrubbed == []


@pytest.mark.parametrize("keeps", [True, False])
def test_a_first_name_goes_where_that_was_asked_for_as_it_is_written(project, keeps):
    tell(project)
    erased(project, keep_messages=keeps, scrub_first=True)
    words = "Ask [erased], or [erased], or zoë."
    assert node(project, "slack:C1:3.000001").content == words
    said = message("7.000001", "Zoë came, zoë went.", "Bob Ray", user="U2")
    take_in(project, said)
    assert node(project, "slack:C1:7.000001").content == "[erased] came, zoë went."


# --- where it is asked for ------------------------------------------------------------


def test_a_token_of_one_way_does_not_confirm_the_other(project):
    tell(project)
    token = plan_person(project, ZOE).token
    for how in ({}, {"keep_messages": False, "scrub_first": True}):
        with pytest.raises(Outdated):
            erase(plan_of(project, **how), by=None, reason="", token=token)
    assert Erasure.objects.count() == 0


def test_the_command_says_what_stays_and_refuses_it_of_a_source(project, capsys):
    tell(project)
    common = ("--project", project.path, "--json", "--keep-messages", "--first-names")
    call_command("erase", "person", ZOE, "--dry-run", *common)
    looked = json.loads(capsys.readouterr().out)
    assert (looked["records"], looked["messages_kept"]) == (1, 3)
    assert looked["first_names"] == [{"name": "Zoë", "records": 1, "is_alone": True}]
    assert looked["first_names_erased"] == ["Zoë"]
    call_command("erase", "person", ZOE, "--yes", "--no-progress", *common)
    assert json.loads(capsys.readouterr().out)["found"] == {}
    assert node(project, "slack:C1:1.000001").context.startswith("[erased]")
    with pytest.raises(CommandError, match="Only a person"):
        call_command("erase", "source", "slack-export", "--dry-run", *common)


def test_the_form_carries_what_was_chosen_to_the_confirmation(client, project):
    tell(project)
    user = make_member(project, "admin@acme.test", Role.ADMIN)
    user.is_staff = True
    user.save()
    client.force_login(user)
    asked = {
        "project": project.pk,
        "name": ZOE,
        "keep_messages": "on",
        "scrub_first": "on",
    }
    page = client.post(reverse("admin:graph_erasure_person"), asked)
    text = page.content.decode()
    assert "3 records that they wrote stay, without their author" in text
    assert "“Zoë” alone stands in 1 records of others: it becomes" in text
    for name in ("keep_messages", "scrub_first"):
        assert f'name="{name}" value="on"' in text
    done = {**asked, "token": page.context["plan"].token, "typed": ZOE}
    assert client.post(reverse("admin:graph_erasure_person"), done).status_code == 302
    assert Erasure.objects.get().asked["keep_messages"] is True
