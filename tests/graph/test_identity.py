from __future__ import annotations

from dataclasses import replace

import pytest

from connections.records import AudienceDraft, EdgeDraft, Identity, NodeDraft, Record
from graph.decisions import merge_persons, split_identity
from graph.identity import refresh_persons
from graph.integrity import find_gaps
from graph.models import Edge, Node
from graph.models import Identity as StoredIdentity
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_member,
    make_source,
    take_in,
)
from tests.graph.corpora import ANN, BOB, draft_mail
from tests.graph.snapshots import differences, snapshot

pytestmark = pytest.mark.django_db
PRIVATE = AudienceDraft("members", "slack:P1", ("member@acme.test",))


def people(project):
    found: dict[str, set[str]] = {}
    for identity in StoredIdentity.objects.filter(project=project).select_related(
        "person"
    ):
        found.setdefault(identity.person.key, set()).add(identity.key)
    return found


def senders(project):
    return {
        e.source.key: (e.target.key, e.weight)
        for e in Edge.objects.of(project)
        .live()
        .filter(relation="sent_by")
        .select_related("source", "target")
    }


def edges(project, relation):
    return {
        (e.source.key, e.target.key)
        for e in Edge.objects.of(project)
        .live()
        .filter(relation=relation)
        .select_related("source", "target")
    }


def take_mail(project, *mails):
    take_in(project, *mails, source=make_source(project, "mail", "mail"))


def test_an_account_and_its_address_are_one_person_with_their_reasons(project):
    take_in(project, draft_account("U1", "Ann Lee", ANN), draft_message())
    take_mail(project, draft_mail("a", 0, ANN))
    person = "identity:person:ann@acme.test"
    assert people(project) == {person: {"slack-user:U1", "person:ann@acme.test"}}
    assert senders(project) == {
        "slack:C1:1.000001": (person, 1.0),
        "email:a": (person, 1.0),
    }
    assert edges(project, "has_email") == {(person, "person:ann@acme.test")}
    assert edges(project, "from_domain") == {(person, "domain:acme.test")}
    why = StoredIdentity.objects.get(key="slack-user:U1").reasons
    assert {(link["with"], link["because"]) for link in why} == {
        ("person:ann@acme.test", "same address ann@acme.test"),
        ("person:ann@acme.test", "same full name ann lee, nobody else's"),
    }
    assert Node.objects.get(key=person).title == "Ann Lee"
    assert find_gaps(project).nodes == ()


def test_edges_move_to_the_merged_person_and_their_weights_add_up(project):
    take_in(
        project,
        draft_account("U1", "Ann Lee"),
        draft_message("1.000001", thread_ts="1.000001"),
    )
    thread = Edge.objects.of(project).get(relation="participant")
    assert (thread.target.key, thread.weight) == ("identity:slack-user:U1", 1.0)
    note = Record(
        key="note:1",
        kind="message",
        body="",
        nodes=(
            NodeDraft(key="note:1", node_type="message"),
            NodeDraft(
                key=f"person:{ANN}",
                node_type="address",
                title=ANN,
                identity=Identity("mail", ANN, ("Ann Lee",)),
            ),
        ),
        edges=(
            EdgeDraft(
                source="slack-thread:C1:1.000001",
                relation="participant",
                target=f"person:{ANN}",
                weight=2.0,
            ),
        ),
    )
    take_in(project, note)
    merged = Edge.objects.of(project).live().get(relation="participant")
    assert merged.target.key == f"identity:person:{ANN}"
    assert (merged.weight, merged.evidence.count()) == (3.0, 2)
    assert len(people(project)) == 1


def test_persons_come_apart_when_their_name_becomes_another_s_and_weights_return(
    project,
):
    take_in(project, draft_account("U1", "Ann Lee"), draft_channel(), draft_message())
    take_mail(project, draft_mail("a", 0, ANN, names=((ANN, "Ann Lee"),)))
    assert len(people(project)) == 1
    take_in(project, draft_account("U2", "Ann Lee"))
    assert people(project) == {
        f"identity:{key}": {key}
        for key in ("slack-user:U1", "slack-user:U2", f"person:{ANN}")
    }
    assert senders(project) == {
        "slack:C1:1.000001": ("identity:slack-user:U1", 1.0),
        "email:a": (f"identity:person:{ANN}", 1.0),
    }
    take_in(project, draft_account("U2", "Ann Other"))
    assert len(people(project)) == 2
    assert senders(project)["slack:C1:1.000001"][0] == f"identity:person:{ANN}"
    gaps = find_gaps(project)
    assert (gaps.nodes, gaps.edges) == ((), ())


def test_what_people_decide_is_kept_over_what_names_say_until_taken_back(project):
    actor = make_member(project)
    take_in(
        project,
        draft_account("U1", "Ann Lee"),
        draft_account("U2", "A. Lee"),
        draft_message("1.000001"),
        draft_message("2.000001", user="U2"),
    )
    before = snapshot(project)
    both = list(Node.objects.of(project).filter(node_type="person").order_by("key"))
    merge_persons(both, actor=actor, reason="same desk")
    assert people(project) == {
        "identity:slack-user:U1": {"slack-user:U1", "slack-user:U2"}
    }
    assert {person for person, _ in senders(project).values()} == {
        "identity:slack-user:U1"
    }
    take_in(project, draft_message("3.000001", user="U2"))
    assert senders(project)["slack:C1:3.000001"][0] == "identity:slack-user:U1"
    second = StoredIdentity.objects.get(key="slack-user:U2")
    assert second.reasons[0]["because"] == "merged by a person"
    split_identity(second, actor=actor)
    assert len(people(project)) == 2
    assert senders(project)["slack:C1:3.000001"][0] == "identity:slack-user:U2"
    after = snapshot(project)
    assert before["persons"] == after["persons"]
    assert set(before["nodes"]) < set(after["nodes"])


def test_a_second_refresh_changes_nothing(project):
    take_in(project, draft_account("U1", "Ann Lee", ANN), draft_message())
    take_mail(project, draft_mail("a", 0, ANN, (BOB,)))
    before = snapshot(project)
    refresh_persons(project)
    assert differences(before, snapshot(project)) == []


def test_an_identity_nobody_speaks_of_any_more_goes_with_its_person(project):
    take_in(project, draft_account("U1", "Ann Lee", "old@acme.test"))
    take_in(project, draft_account("U1", "Ann Lee", "new@acme.test"))
    assert people(project) == {
        "identity:person:new@acme.test": {"person:new@acme.test", "slack-user:U1"}
    }
    assert not Node.objects.of(project).filter(key="person:old@acme.test").exists()


def test_a_domain_without_persons_goes(project):
    take_in(project, draft_account("U1", "Ann Lee", "ann@old.test"))
    take_in(project, draft_account("U1", "Ann Lee", "ann@new.test"))
    domains = Node.objects.of(project).filter(node_type="domain")
    assert [d.key for d in domains] == ["domain:new.test"]


def test_a_name_no_longer_given_is_forgotten(project):
    take_mail(project, draft_mail("a", 0, ANN, names=((ANN, "Ann Lee"),)))
    take_in(project, draft_account("U1", "Ann Lee"))
    assert len(people(project)) == 1
    take_mail(project, replace(draft_mail("a", 0, ANN), version=1))
    assert StoredIdentity.objects.get(key=f"person:{ANN}").names == []
    assert len(people(project)) == 2


def test_the_name_most_records_give_comes_first(project):
    take_mail(
        project,
        draft_mail("a", 0, ANN, names=((ANN, "Ann L"),)),
        draft_mail("b", 1, ANN, names=((ANN, "Ann Lee"),)),
        draft_mail("c", 2, ANN, names=((ANN, "Ann Lee"),)),
    )
    assert StoredIdentity.objects.get(key=f"person:{ANN}").names == ["Ann Lee", "Ann L"]


def test_a_person_known_from_closed_places_alone_is_closed(project, member, outsider):
    closed = replace(draft_mail("a", 0, ANN), audience=PRIVATE)
    take_mail(project, closed)
    keys = {f"identity:person:{ANN}", f"person:{ANN}"}
    seen = Node.objects.of(project).filter(key__in=keys)
    assert seen.visible_to(member).count() == 2
    assert seen.visible_to(outsider).count() == 0
    derived = Edge.objects.of(project).filter(relation__in=("has_email", "from_domain"))
    assert derived.visible_to(outsider).count() == 0
    take_mail(project, draft_mail("b", 1, ANN))
    assert seen.visible_to(outsider).count() == 2
    assert derived.visible_to(outsider).count() == 2
    take_mail(project, replace(draft_mail("b", 1, ANN), audience=PRIVATE))
    assert seen.visible_to(outsider).count() == 0
    assert derived.visible_to(outsider).count() == 0


def test_a_merge_may_name_an_identity_that_is_gone(project):
    actor = make_member(project)
    take_in(
        project,
        draft_account("U1", "Ann Lee", "ann@old.test"),
        draft_account("U2", "Bob Ray"),
    )
    both = list(Node.objects.of(project).filter(node_type="person").order_by("key"))
    merge_persons(both, actor=actor)
    take_in(project, draft_account("U1", "Ann Lee"))
    assert find_gaps(project).nodes == ()
