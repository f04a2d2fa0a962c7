from __future__ import annotations

import json

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command

from connections.audit import seal_all, seal_of
from connections.models import Audit, AuditDetail, Role, Source
from connections.records import EdgeDraft, NodeDraft, Record
from graph import erasing
from graph.erasing import begin, carry_on, erase
from graph.erasing_plan import ErasingError, Outdated, plan_person, plan_source
from graph.models import ErasedName, Erasure, Identity, Node, PendingEdge
from graph.models import Record as StoredRecord
from graph.residue import scan
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_member,
    make_project,
    make_source,
    take_in,
)
from tests.graph.corpora import ANN, EVE, draft_mail
from tests.graph.snapshots import differences, snapshot
from tests.graph.test_erased_records import read

pytestmark = pytest.mark.django_db


def erased(plan, by=None):
    return erase(plan, by=by, reason="asked for", token=plan.token)


@pytest.mark.parametrize("name", ["chat", "mail", "box"])
def test_everything_else_stays_as_if_the_source_had_never_been(name):
    kept, never = make_project("acme/one"), make_project("acme/two")
    read(kept)
    read(never, without=name)
    report = erased(plan_source(make_source(kept, name)))
    assert differences(snapshot(kept), snapshot(never)) == []
    assert (report.left, report.found) == (0, {})
    assert report.tables >= 70
    assert report.rows >= 200
    assert not Source.objects.filter(project=kept, name=name).exists()


def test_a_plan_counts_what_would_go_and_what_others_keep(project):
    read(project)
    plan = plan_source(make_source(project, "box"))
    before = StoredRecord.objects.filter(source__name="box").count()
    assert plan.records == plan.counts["graph_records"] == before == 3
    assert plan.counts["graph_nodes"] >= 1
    assert plan.counts["graph_nodes kept"] >= 3
    assert plan.counts["graph_edges kept"] >= 1


def test_a_killed_erasure_goes_on_where_it_was(project, monkeypatch):
    never = make_project("acme/two")
    read(project)
    read(never, without="mail")
    plan = plan_source(make_source(project, "mail"))
    erasure = begin(plan, by=None, reason="", token=plan.token)
    monkeypatch.setattr(erasing, "BATCH", 2)
    real, calls = erasing.remove_records, []

    def dying(*args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(erasing, "remove_records", dying)
    with pytest.raises(KeyboardInterrupt):
        carry_on(erasure)
    erasure.refresh_from_db()
    assert (erasure.state, erasure.done) == ("running", 4)
    report = carry_on(Erasure.objects.get(pk=erasure.pk))
    assert (report.records, report.left) == (plan.records, 0)
    assert differences(snapshot(project), snapshot(never)) == []


def test_only_an_admin_of_the_project_erases(project, other_project):
    read(project)
    plan = plan_source(make_source(project, "mail"))
    strangers = make_member(other_project, "boss@strangers.test", Role.ADMIN)
    for role in (Role.VIEWER, Role.EDITOR, Role.REVIEWER):
        user = make_member(project, f"{role}@acme.test", role)
        with pytest.raises(PermissionDenied):
            erased(plan, by=user)
    with pytest.raises(PermissionDenied):
        erased(plan, by=strangers)
    assert Erasure.objects.count() == 0
    admin = make_member(project, "admin@acme.test", Role.ADMIN)
    assert erased(plan, by=admin).left == 0


def test_a_token_of_another_state_erases_nothing(project):
    read(project)
    plan = plan_source(make_source(project, "mail"))
    take_in(project, draft_mail("new", 9, ANN), source=make_source(project, "mail"))
    with pytest.raises(Outdated):
        erase(
            plan_source(make_source(project, "mail")),
            by=None,
            reason="",
            token=plan.token,
        )
    with pytest.raises(Outdated):
        erase(plan, by=None, reason="", token="made up")
    assert Erasure.objects.count() == 0


def test_another_tenants_graph_is_untouched(project, other_project):
    read(project)
    read(other_project)
    before = snapshot(other_project)
    erased(plan_source(make_source(project, "chat")))
    assert differences(snapshot(other_project), before) == []


# --- persons --------------------------------------------------------------------------


def meeting():
    """Draft a meeting in which two speak, of whom one is Ann."""
    key = "fireflies:m1"
    words = {"0": "Ann wants the blue one.", "1": "The red one is cheaper."}
    people = {"0": f"person:{ANN}", "1": f"person:{EVE}"}
    sentences = tuple(
        NodeDraft(key=f"{key}:{n}", node_type="sentence", content=text)
        for n, text in words.items()
    )
    return Record(
        key=key,
        kind="meeting",
        body="\n".join(words.values()),
        nodes=(NodeDraft(key=key, node_type="meeting", title="Colours"), *sentences),
        edges=tuple(
            EdgeDraft(source=f"{key}:{n}", relation="sent_by", target=who)
            for n, who in people.items()
        ),
    )


def tell(project):
    take_in(
        project,
        draft_channel(),
        draft_account("U1", "Ann Lee", ANN),
        draft_account("U2", "Bob Ray"),
        draft_message("1.000001", "My own words"),
        draft_message("2.000001", f"Ask Ann Lee, ann lee's or {ANN}.", user="U2"),
        draft_message("3.000001", "The annual leek soup", user="U2"),
        draft_mail("a", 0, ANN, (EVE,), names=((ANN, "Ann Lee"), (EVE, "Eve Day"))),
        draft_mail("b", 1, EVE, (ANN,), names=((ANN, "Ann Lee"),)),
        meeting(),
    )


def test_what_a_person_wrote_goes_and_their_name_is_taken_out_of_the_rest(project):
    tell(project)
    plan = plan_person(project, ANN.upper())
    assert plan.keys == [f"person:{ANN}", "slack-user:U1"]
    assert plan.phrases == ["Ann Lee", ANN]
    report = erased(plan)
    assert (report.left, report.found) == (0, {})
    keys = set(
        StoredRecord.objects.filter(project=project).values_list("key", flat=True)
    )
    assert keys == {
        "slack:C1",
        "slack-user:U2",
        "slack:C1:2.000001",
        "slack:C1:3.000001",
        "email:b",
        "fireflies:m1",
    }
    body = {r.key: r.body for r in StoredRecord.objects.filter(project=project)}
    assert body["slack:C1:2.000001"] == "Ask [erased], [erased]'s or [erased]."
    assert body["slack:C1:3.000001"] == "The annual leek soup"
    assert body["fireflies:m1"] == "[erased]\nThe red one is cheaper."
    said = Node.objects.get(project=project, key="fireflies:m1:1")
    proof = said.evidence.get(kind="said")
    assert body["fireflies:m1"][proof.start : proof.end] == said.content
    assert not Identity.objects.filter(key__in=plan.keys).exists()
    assert not Node.objects.filter(key__startswith="identity:person:ann").exists()
    assert not PendingEdge.objects.filter(project=project).exists()
    assert scan(["ann lee", ANN, "My own words"], project=project).found == {}


def test_only_hashes_are_left_of_a_person_and_reading_again_brings_nobody_back(project):
    tell(project)
    erased(plan_person(project, ANN))
    assert ErasedName.objects.filter(project=project).count() == 4
    assert Erasure.objects.get().asked == {}
    tell(project)
    assert scan(["ann lee", ANN, "My own words"], project=project).found == {}
    stored = snapshot(project)
    tell(project)
    assert differences(snapshot(project), stored) == []


def test_a_name_that_two_people_bear_is_left_where_others_wrote_it(project):
    take_in(
        project,
        draft_account("U1", "Ann Lee", ANN),
        draft_account("U4", "Ann Lee", "other@acme.test"),
        draft_account("U2", "Bob Ray"),
        draft_message("2.000001", "Ask Ann Lee.", user="U2"),
    )
    plan = plan_person(project, ANN)
    assert (plan.phrases, plan.ambiguous) == ([ANN], 1)
    erased(plan)
    assert StoredRecord.objects.get(key="slack:C1:2.000001").body == "Ask Ann Lee."
    assert Identity.objects.filter(key="slack-user:U4").exists()


def test_somebody_unknown_is_an_error_that_says_what_to_give(project):
    with pytest.raises(ErasingError, match="Give an address"):
        plan_person(project, "nobody@acme.test")


# --- audit ----------------------------------------------------------------------------


def test_the_audit_loses_its_text_and_keeps_its_chain(project):
    tell(project)
    erased(plan_person(project, ANN))
    seal_all()
    chain = Audit.objects.filter(tenant=project.tenant).order_by("position")
    before = "0" * 64
    for row in chain:
        assert row.seal == seal_of(before, row)
        before = row.seal
    verbs = list(chain.values_list("verb", flat=True))
    assert verbs[-2:] == ["erasure.begun", "erasure.finished"]
    details = "".join(str(d.detail) for d in AuditDetail.objects.all())
    assert ANN not in details
    assert ANN not in "".join(chain.values_list("target", flat=True))


# --- the command ----------------------------------------------------------------------


def test_the_command_only_looks_with_dry_run_and_erases_with_yes(project, capsys):
    read(project)
    common = ("--project", project.path, "--json")
    call_command("erase", "source", "box", "--dry-run", *common)
    looked = json.loads(capsys.readouterr().out)
    assert (looked["records"], Erasure.objects.count()) == (3, 0)
    with pytest.raises(CommandError, match="--yes"):
        call_command("erase", "source", "box", *common)
    call_command("erase", "source", "box", "--yes", "--no-progress", *common)
    done = json.loads(capsys.readouterr().out)
    assert (done["records"], done["found"]) == (3, {})
    with pytest.raises(CommandError, match="it has: chat, mail"):
        call_command("erase", "source", "box", "--yes", *common)
