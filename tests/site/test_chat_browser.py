"""The chat in a browser: streaming, stopping, errors, chips, feedback, palette."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.conf import settings as django_settings
from playwright.sync_api import Page, expect

from graph.models import Node
from memory.models import Feedback, Turn
from tests.site import streaming
from tests.site.browsing import PHONE, too_wide
from tests.site.streaming import Script, Told, source, started, store

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

QUESTION = "Who has the key of the north cold store?"


@pytest.fixture
def script(monkeypatch, settings) -> Iterator[Script]:
    made = Script()
    monkeypatch.setattr(streaming, "SCRIPT", made)
    settings.ROOT_URLCONF = "tests.site.streaming"
    assert django_settings.ROOT_URLCONF == "tests.site.streaming"
    yield made
    made.go_on.set()


@pytest.fixture
def streamed(script: Script, page: Page) -> Page:
    return page


def key() -> Node:
    return Node.objects.get(content__startswith="Hollis Marr has the key")


def forklift() -> Node:
    return Node.objects.get(content__startswith="The yellow forklift")


def ask(page: Page, question: str = QUESTION) -> None:
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


def answering(script: Script) -> None:
    """Answer in steps: status, chips, a call, sources, half of the text, the rest."""

    def told(turn: Turn) -> Iterator[Told]:
        yield started(turn)
        chips = [{"label": "person", "text": "Ann", "how": "guessed", "ignore": "Ann"}]
        yield "filters", {"filters": {}, "chips": chips}
        call = {"name": "search", "arguments": {}, "took_ms": 31.4, "error": ""}
        yield "call", {**call, "result_count": 7}
        yield "sources", {"sources": [source(1, forklift()), source(2, key())]}
        yield "status", {"state": "writing", "text": "Writing the answer"}
        yield "delta", {"text": "Hollis has **the key** [1]. It is "}
        yield "citation", source(1, key(), quote=key().content)
        script.wait()
        yield "delta", {"text": "needed at noon."}
        yield "followups", {"questions": ["What is wrong with the forklift?"]}
        yield store(
            turn,
            "Hollis has **the key** [1]. It is needed at noon.",
            key(),
            parsed={"entity_hints": ["Ann"], "query": "key"},
            calls=[{**call, "result_count": 7, "arguments": {"query": "key"}}],
            also_read=[forklift().pk],
            followups=["What is wrong with the forklift?"],
        )

    script.answering = told


def test_an_answer_is_read_while_it_is_written(streamed: Page, script: Script) -> None:
    answering(script)
    ask(streamed)
    live = streamed.locator(".pending")
    expect(live.locator("[data-answer]")).to_have_text(
        re.compile(r"Hollis has \*\*the key\*\* 1\. It is")
    )
    expect(live).to_contain_text("Writing the answer")
    expect(live.locator(".chips")).to_contain_text("Ann")
    expect(live.locator("[data-calls]")).to_contain_text("search 7 found, 31 ms")
    expect(live.locator("[data-cited]")).to_contain_text("until noon")
    expect(live.locator("[data-read] li")).to_have_count(1)
    heard = streamed.locator("#announcer")
    expect(heard).to_contain_text("Hollis has the key")
    expect(heard).not_to_contain_text("It is")
    script.go_on.set()
    turn = streamed.locator("article.turn[id]")
    expect(turn.locator(".prose strong")).to_have_text("the key")
    expect(live).to_have_count(0)
    expect(heard).to_contain_text("It is needed at noon.")
    expect(turn.locator(".also-read li")).to_have_count(1)
    assert "/conversations/" in streamed.url
    expect(streamed.locator(".history li")).to_have_count(1)
    expect(streamed.get_by_label("Your question")).to_have_value("")
    streamed.reload()
    expect(turn.locator(".prose strong")).to_have_text("the key")
    turn.locator(".also-read summary").click()
    expect(turn.locator(".also-read li")).to_have_count(1)
    next_question = streamed.get_by_role("button", name="What is wrong with the")
    next_question.click()
    expect(streamed.locator("article.turn[id]")).to_have_count(2)
    assert script.asked[1]["question"] == "What is wrong with the forklift?"
    assert script.asked[1]["conversation"] == script_conversation()


def script_conversation() -> str:
    return str(Turn.objects.earliest("pk").conversation_id)


def test_a_number_shows_its_card_beside_it(streamed: Page, script: Script) -> None:
    answering(script)
    script.go_on.set()
    ask(streamed)
    number = streamed.locator("article.turn[id] a.cite").first
    number.focus()
    card = streamed.get_by_role("tooltip")
    expect(card).to_contain_text("until noon")
    streamed.keyboard.press("Escape")
    expect(card).to_have_count(0)
    number.hover()
    expect(card).to_be_visible()


@pytest.mark.parametrize("way", ["key", "button"])
def test_stopping_keeps_what_came(streamed: Page, script: Script, way: str) -> None:
    def told(turn: Turn) -> Iterator[Told]:
        yield started(turn)
        yield "delta", {"text": "Hollis has "}
        script.wait()
        yield store(turn, "Hollis has ", state="stopped")

    script.answering = told
    ask(streamed)
    expect(streamed.locator(".pending [data-answer]")).to_contain_text("Hollis has")
    if way == "key":
        streamed.keyboard.press("Escape")
    else:
        streamed.get_by_role("button", name="Stop").click()
    turn = streamed.locator("article.turn[id]")
    expect(turn).to_contain_text("Stopped by you", timeout=1000)
    expect(turn).to_contain_text("Hollis has")
    assert script.stopped == [Turn.objects.get().pk]
    expect(turn.get_by_role("button", name="Ask again", exact=True)).to_be_visible()


def test_stopping_does_not_wait_for_a_server_that_hangs(
    streamed: Page, script: Script
) -> None:
    streamed.expected += ["Failed to load", "504"]  # type: ignore[attr-defined]

    def told(turn: Turn) -> Iterator[Told]:
        yield "delta", {"text": "Hollis has "}
        script.wait()

    script.answering = told
    ask(streamed)
    expect(streamed.locator(".pending [data-answer]")).to_contain_text("Hollis has")
    streamed.keyboard.press("Escape")
    stopped = streamed.locator(".stopped")
    expect(stopped).to_be_visible(timeout=1000)
    expect(streamed.locator("article.turn")).to_contain_text("Hollis has")
    expect(streamed.get_by_role("button", name="Ask", exact=True)).to_be_enabled()


def test_an_error_is_told_with_what_came_and_tried_again(
    streamed: Page, script: Script
) -> None:
    def failing(turn: Turn) -> Iterator[Told]:
        yield started(turn)
        yield "delta", {"text": "Hollis has "}
        Turn.objects.filter(pk=turn.pk).update(
            state="failed", error="The model is overloaded.", answer="Hollis has "
        )
        told = {"detail": "The model is overloaded.", "can_retry": True}
        yield "error", {**told, "turn": turn.pk, "code": "model_unavailable"}

    script.answering = failing
    ask(streamed)
    alert = streamed.get_by_role("alert")
    expect(alert).to_contain_text("The model is overloaded.")
    expect(streamed.locator(".failed")).to_contain_text("Hollis has")
    again = alert.get_by_role("button", name="Try again")
    expect(again).to_be_focused()
    answering(script)
    script.go_on.set()
    again.click()
    expect(streamed.locator("article.turn[id] .prose")).to_contain_text("at noon")
    expect(alert).to_have_count(0)
    first, second = script.asked
    assert second["question"] == first["question"] == QUESTION
    assert second["conversation"] == str(Turn.objects.first().conversation_id)


def test_a_connection_that_breaks_is_told(streamed: Page, script: Script) -> None:
    def told(turn: Turn) -> Iterator[Told]:
        yield "delta", {"text": "Hollis has "}

    script.answering = told
    ask(streamed)
    expect(streamed.get_by_role("alert")).to_contain_text("connection broke")
    expect(streamed.locator(".failed")).to_contain_text("Hollis has")


def test_a_broken_connection_shows_what_was_stored_meanwhile(
    streamed: Page, script: Script
) -> None:
    def told(turn: Turn) -> Iterator[Told]:
        yield started(turn)
        store(turn, "Hollis has it [1].", key())

    script.answering = told
    ask(streamed)
    expect(streamed.locator("article.turn[id] .prose")).to_contain_text("Hollis has it")
    expect(streamed.get_by_role("alert")).to_have_count(0)


def test_a_turn_that_goes_on_elsewhere_appears_by_itself(
    streamed: Page, script: Script
) -> None:
    answering(script)
    ask(streamed)
    expect(streamed.locator(".pending [data-answer]")).to_contain_text("Hollis")
    turn = Turn.objects.get()
    streamed.goto(f"/conversations/{turn.conversation_id}/")
    expect(streamed.locator("article.turn[id]")).to_contain_text("Still being answered")
    script.go_on.set()
    store(turn, "Hollis has it [1].", key())
    expect(streamed.locator("article.turn[id] .prose")).to_contain_text("Hollis has it")


def test_what_was_read_into_a_question_is_taken_back(
    streamed: Page, script: Script
) -> None:
    answering(script)
    script.go_on.set()
    ask(streamed)
    chip = streamed.locator("article.turn[id] .chip")
    chip.get_by_role("button", name="Ask again without").click()
    expect(streamed.locator("article.turn[id]")).to_have_count(2)
    assert script.asked[1]["ignore"] == ["Ann"]
    assert script.asked[1]["conversation"] == str(Turn.objects.first().conversation_id)


def test_what_could_be_asked_next_is_asked(streamed: Page, script: Script) -> None:
    answering(script)
    script.go_on.set()
    ask(streamed)
    next_question = "What is wrong with the forklift?"
    streamed.get_by_role("button", name=next_question).click()
    expect(streamed.locator("article.turn[id]")).to_have_count(2)
    assert script.asked[1]["question"] == next_question


def test_feedback_is_given_changed_and_taken_back(
    streamed: Page, script: Script
) -> None:
    answering(script)
    script.go_on.set()
    ask(streamed)
    turn = streamed.locator("article.turn[id]")
    turn.get_by_role("button", name="A good answer").click()
    expect(turn.locator(".feedback")).to_contain_text("Marked as good")
    turn.locator(".complain summary").click()
    turn.get_by_label("It is out of date").check()
    turn.get_by_label("In your words").fill("Ann has it now.")
    turn.get_by_role("button", name="Send").click()
    expect(turn.locator(".feedback")).to_contain_text("“Out of date”: sent")
    given = Feedback.objects.get()
    assert (given.verdict, given.note, given.state) == (
        "outdated",
        "Ann has it now.",
        "open",
    )
    turn.locator(".complain summary").click()
    turn.get_by_role("button", name="Take it back").click()
    expect(turn.locator(".feedback")).to_contain_text("Taken back")
    assert not Feedback.objects.exists()


def test_an_answer_is_copied_and_its_question_edited(
    streamed: Page, script: Script
) -> None:
    streamed.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answering(script)
    script.go_on.set()
    ask(streamed)
    turn = streamed.locator("article.turn[id]")
    turn.get_by_role("link", name="Copy").click()
    expect(turn.locator("[data-copy]")).to_have_text("Copied")
    copied = streamed.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"**{QUESTION}**")
    assert "Sources:" in copied
    assert "/nodes/" in copied
    turn.get_by_role("button", name="Edit this question").click()
    box = streamed.get_by_label("Your question")
    expect(box).to_be_focused()
    expect(box).to_have_value(QUESTION)


def test_the_palette_finds_conversations_and_actions(
    streamed: Page, script: Script
) -> None:
    answering(script)
    script.go_on.set()
    ask(streamed)
    expect(streamed.locator("article.turn[id] .prose")).to_be_visible()
    streamed.goto("/")
    streamed.keyboard.press("Control+k")
    palette = streamed.get_by_role("dialog")
    expect(palette.get_by_role("option", name="Memory", exact=True)).to_be_visible()
    streamed.keyboard.type("north cold")
    expect(palette.get_by_role("option")).to_have_count(1)
    streamed.keyboard.press("Enter")
    expect(streamed.locator("article.turn[id] .prose")).to_be_visible()
    streamed.keyboard.press("Control+k")
    streamed.keyboard.type("search")
    streamed.keyboard.press("Enter")
    expect(streamed).to_have_url(re.compile("/search/"))


def test_the_keys_are_listed(page: Page) -> None:
    page.locator("#main").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys on this page")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_conversations_are_searched_and_pinned(streamed: Page, script: Script) -> None:
    answering(script)
    script.go_on.set()
    ask(streamed)
    expect(streamed.locator("article.turn[id] .prose")).to_be_visible()
    find = streamed.get_by_label("Search your conversations")
    expect(find).to_have_count(0)
    streamed.reload()
    find.fill("nothing like it")
    expect(streamed.locator("#history-list")).to_contain_text("No conversation")
    find.fill("cold store")
    expect(streamed.locator("#history-list li")).to_have_count(1)
    streamed.locator("#topbar-title summary").click()
    streamed.get_by_role("button", name="Pin it").click()
    expect(streamed.locator("#history-list h2")).to_have_text("Pinned")


def test_a_phone_never_scrolls_sideways(streamed: Page, script: Script) -> None:
    streamed.set_viewport_size(PHONE)
    answering(script)
    ask(streamed)
    expect(streamed.locator(".pending [data-cited] li")).to_have_count(1)
    assert too_wide(streamed) == []
    script.go_on.set()
    turn = streamed.locator("article.turn[id]")
    expect(turn.locator(".prose")).to_be_visible()
    turn.locator(".complain summary").click()
    turn.locator(".calls summary").click(force=True)
    assert too_wide(streamed) == []
