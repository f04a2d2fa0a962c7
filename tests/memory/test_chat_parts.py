"""The parts of a turn: Markdown, chips, copying, feedback, the list of conversations."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from connections.models import Audit, Project, User
from memory.chips import chips_of
from memory.conversations import start_conversation
from memory.copying import as_markdown
from memory.feedback import give_feedback, resolve, take_feedback_back
from memory.history import history
from memory.marked_up import answer_html
from memory.models import Citation, Feedback, Turn
from memory.shown import shown
from tests.factories import make_audience, make_member, make_node

GOOD, EVIL = "https://good.test/a", "https://evil.test/x"


def html(text: str, numbers: tuple[int, ...] = (1, 2)) -> str:
    return answer_html(text, numbers, [GOOD], "turn-5")


@pytest.mark.parametrize(
    "text",
    [
        f"[words]({EVIL})",
        f"![words]({EVIL}/p.png)",
        f"<a href='{EVIL}'>words</a>",
        f"<{EVIL}>",
        f"words [w][x]\n\n[x]: {EVIL}",
        "[words](javascript:alert(1))",
        "<script>words</script>",
        f"[1]: {EVIL}\n\nwords [1]",
    ],
)
def test_no_address_or_markup_of_a_models_own_gets_through(text: str) -> None:
    made = html(text)
    assert f'href="{EVIL}' not in made
    assert "<img" not in made
    assert "<script" not in made
    assert "javascript:" not in made.replace("(javascript:alert(1))", "")


def test_a_link_to_a_cited_source_stays() -> None:
    assert f'<a href="{GOOD}" rel="noopener noreferrer"' in html(f"see [it]({GOOD})")


def test_only_known_numbers_lead_to_cards_and_none_in_code() -> None:
    made = html("a [1][2], b [7], `c [1]`")
    assert made.count('class="cite"') == 2
    assert 'href="#turn-5-source-1"' in made
    assert "[7]" in made
    assert "<code>c [1]</code>" in made


@pytest.fixture
def turn(project: Project, member: User) -> Turn:
    conversation = start_conversation(project, member, "Who has the key?")
    node = make_node(project, "slack:C1:1.0", "Hollis has the key.", title="Key")
    made = Turn.objects.create(
        conversation=conversation,
        question="Who has the *key*?",
        answer="Hollis **has** it [1].",
        grounded=True,
        model="a-model",
    )
    Citation.objects.create(
        turn=made, n=1, node=node, key=node.key, title="Key", quote=node.content
    )
    return made


@pytest.mark.django_db
def test_chips_come_of_what_was_understood(turn: Turn, member: User) -> None:
    turn.parsed = {
        "entity_hints": ["Ann"],
        "filters": {"people": ["Ann"], "types": ["email"], "since": "2026-03-01T00:00"},
    }
    chips = {chip.label: (chip.text, chip.ignore) for chip in chips_of(turn, member)}
    assert chips == {
        "about": ("Ann", ("Ann",)),
        "type": ("email", ("email",)),
        "time": ("from 1 Mar 2026", ("time",)),
    }


@pytest.mark.django_db
def test_a_chip_that_was_taken_back_can_be_given_back(turn: Turn, member: User) -> None:
    turn.parsed = {
        "chips": [
            {"label": "person", "text": "Ann", "how": "guessed", "ignore": "Ann"},
            {"label": "type", "text": "mail", "how": "typed", "ignore": ""},
            {"label": "ignored", "text": "Ben", "how": "ignored", "ignore": "Ben"},
        ]
    }
    ann, mail, ben = chips_of(turn, member)
    assert ann.ignore == ("Ben", "Ann")
    assert mail.ignore is None
    assert (ben.ignore, ben.is_ignored) == ((), True)


@pytest.mark.django_db
def test_a_copy_has_its_sources_and_no_markup_of_theirs(
    turn: Turn, member: User
) -> None:
    text = as_markdown(
        shown(turn, member).answer, lambda node: f"https://f.test/{node}"
    )
    assert text.startswith("**Who has the \\*key\\*?**\n\nHollis **has** it [1].")
    assert "- \\[1\\] [Key](<https://f.test/" in text
    assert "“Hollis has the key.”" in text


@pytest.mark.django_db
def test_feedback_is_one_each_and_a_change_opens_it_again(
    turn: Turn, member: User, outsider: User
) -> None:
    first = give_feedback(turn, member, "wrong", " It is Ann. ")
    assert resolve(first, outsider, "Ann it is.")
    assert not resolve(first, outsider, "again")
    again = give_feedback(turn, member, "outdated")
    assert again.pk == first.pk
    assert (again.state, again.resolved_by) == ("open", None)
    assert give_feedback(turn, member, "good").state == "resolved"
    take_feedback_back(turn, member)
    assert not Feedback.objects.exists()
    verbs = Audit.objects.filter(verb__startswith="feedback").values_list("verb")
    assert sorted(verb for (verb,) in verbs) == [
        *["feedback.given"] * 3,
        "feedback.resolved",
        "feedback.taken_back",
    ]


@pytest.mark.django_db
def test_feedback_on_anothers_answer_is_not_found(
    turn: Turn, outsider: User, stranger: User, client: Client
) -> None:
    for user in (outsider, stranger):
        client.force_login(user)
        for name in ("turn_feedback", "turn_copy", "turn", "turn_remembered"):
            address = reverse(name, args=[turn.pk])
            send = client.post if name == "turn_feedback" else client.get
            assert send(address, {"verdict": "wrong"}).status_code == 404
    assert not Feedback.objects.exists()


@pytest.mark.django_db
def test_something_else_needs_words(turn: Turn, member: User, client: Client) -> None:
    client.force_login(member)
    address = reverse("turn_feedback", args=[turn.pk])
    said = client.post(address, {"verdict": "other"}, headers={"HX-Request": "true"})
    assert "what else is the matter" in said.content.decode()
    assert not Feedback.objects.exists()


@pytest.mark.django_db
def test_conversations_are_found_by_title_and_question_pinned_first(
    turn: Turn, member: User, outsider: User, project: Project
) -> None:
    other = start_conversation(project, member, "Forklift")
    other.is_pinned = True
    other.save()
    days = history(member).days
    assert [day.label for day in days] == ["Pinned", "Today"]
    (found,) = history(member, "the *key").days
    assert found.conversations == [turn.conversation]
    assert history(member, "%").days == []
    assert history(outsider).days == []
    assert history(member, limit=1).is_cut


@pytest.mark.django_db
def test_staff_work_complaints_off_with_a_note(
    turn: Turn, member: User, project: Project, client: Client
) -> None:
    chief = make_member(project, "chief@acme.test")
    chief.is_staff = chief.is_superuser = True
    chief.save()
    given = give_feedback(turn, member, "wrong", "It is Ann.")
    client.force_login(chief)
    listed = client.get(reverse("admin:memory_feedback_changelist"))
    assert "Who has the" in listed.content.decode()
    page = client.get(reverse("admin:memory_feedback_change", args=[given.pk]))
    assert "Hollis <strong>has</strong> it" in page.content.decode()
    address = reverse("admin:memory_feedback_resolve_it", args=[given.pk])
    assert "Resolve this feedback?" in client.get(address).content.decode()
    given.refresh_from_db()
    assert given.state == "open"
    client.post(address, {"confirmed": "yes", "reason": "Ann has it."})
    given.refresh_from_db()
    assert (given.state, given.resolved_by) == ("resolved", chief)


@pytest.mark.django_db
def test_staff_do_not_read_what_is_closed_to_them(
    turn: Turn, member: User, project: Project, client: Client
) -> None:
    chief = make_member(project, "chief@acme.test")
    chief.is_staff = chief.is_superuser = True
    chief.save()
    node = turn.citations.get().node
    node.audience = make_audience(project, "channel:private", [member])
    node.save()
    given = give_feedback(turn, member, "wrong")
    client.force_login(chief)
    page = client.get(reverse("admin:memory_feedback_change", args=[given.pk]))
    text = page.content.decode()
    assert "Withheld" in text
    assert "Hollis" not in text


def test_what_was_read_and_could_be_asked_is_kept_as_far_as_it_is_open(
    project, member, outsider, stranger
):
    closed = make_node(
        project,
        "slack:P1:9.0",
        "Hidden words.",
        title="The hidden plan",
        audience=make_audience(project, "slack:P1", [member]),
    )
    node = make_node(project, "slack:C1:9.0", "Open words.", title="The open plan")
    conversation = start_conversation(project, member, "What?")
    turn = Turn.objects.create(
        conversation=conversation,
        question="What?",
        answer="Words.",
        also_read=[closed.pk, node.pk],
        followups=["What else does “The hidden plan” say?"],
    )
    mine = shown(turn, member)
    assert [read.title for read in mine.also_read] == [
        "The hidden plan",
        "The open plan",
    ]
    assert mine.followups == ("What else does “The hidden plan” say?",)
    theirs = shown(turn, outsider)
    assert [read.title for read in theirs.also_read] == ["The open plan"]
    assert theirs.followups == ()
    assert shown(turn, stranger).also_read == ()
