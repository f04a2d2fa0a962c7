"""The search page in a browser: typing, chips, unfolding, keys, phone, errors."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from connections.models import Project, User
from graph.embed import embed_backlog
from retrieval.frequencies import count_lexemes
from tests.site.browsing import PHONE, sign_in, too_wide

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

QUESTION = "Who has the key of the north cold store?"


@pytest.fixture
def searching(page: Page, asker: User) -> Page:
    """The search page, opened; the project's words are counted and embedded."""
    project = Project.objects.get()
    count_lexemes(project, always=True)
    embed_backlog(project.pk)
    page.get_by_role("link", name="Search", exact=True).click()
    expect(box(page)).to_be_focused()
    expect(page.get_by_role("button", name="Keys")).to_be_visible()  # scripts run
    return page


def box(page: Page):
    return page.get_by_label("What to search for")


def result(page: Page, n: int = 1):
    return page.locator(f"#result-{n}")


def answer(page: Page):
    return page.locator("[data-result]", has_text="until noon")


def test_results_come_as_one_types_and_the_address_follows(searching: Page) -> None:
    expect(searching.locator("#count")).to_contain_text("most recent")
    box(searching).press_sequentially("yellow forklift", delay=20)
    expect(result(searching)).to_contain_text("out of service")
    expect(result(searching).locator("mark").first).to_have_text(re.compile("yellow"))
    expect(searching).to_have_url(re.compile(r"[?&]q=yellow\+forklift"))
    expect(searching.locator("#effort")).to_contain_text("[Λ+")
    expect(searching.locator("#count")).to_have_attribute("aria-live", "polite")
    expect(box(searching)).to_be_focused()
    searching.reload()
    expect(box(searching)).to_have_value("yellow forklift")
    expect(result(searching)).to_contain_text("out of service")


def test_back_leads_to_the_question_before_not_through_its_letters(
    searching: Page,
) -> None:
    box(searching).press_sequentially("yellow", delay=250)
    expect(searching).to_have_url(re.compile(r"q=yellow&"))
    box(searching).fill("compressor")
    expect(searching).to_have_url(re.compile(r"q=compressor&"))
    searching.go_back()
    expect(box(searching)).to_have_value("yellow")
    expect(result(searching)).to_contain_text("forklift")


def test_an_answer_that_comes_late_does_not_replace_a_newer_one(
    searching: Page,
) -> None:
    held = []
    searching.route("**/search/?*q=yellow*", lambda route: held.append(route))
    box(searching).fill("yellow")
    searching.wait_for_timeout(500)
    assert len(held) == 1
    box(searching).fill("compressor")
    expect(result(searching)).to_contain_text("compressor")
    searching.wait_for_timeout(300)
    expect(result(searching)).to_contain_text("compressor")


def test_a_facet_becomes_a_chip_and_stays_while_one_types(searching: Page) -> None:
    searching.locator("#filters").get_by_role("link", name="Ann Lee").click()
    chip = searching.locator(".chip", has_text="Ann Lee")
    expect(chip).to_be_visible()
    expect(searching.locator(".results > li")).to_have_count(3)
    box(searching).fill("cold store")
    expect(searching.locator("#count")).to_contain_text("3 results")
    expect(searching).to_have_url(re.compile(r"person="))
    chip.get_by_role("link").click()
    expect(searching.locator(".chip.chosen")).to_have_count(0)
    expect(box(searching)).to_have_value("cold store")


def test_why_and_what_lies_around_unfold(searching: Page) -> None:
    box(searching).fill(QUESTION)
    first = answer(searching)
    expect(first).to_contain_text("until noon")
    first.get_by_text("Why this").click()
    expect(first.locator(".arms")).to_contain_text("keyword")
    expect(first.locator(".arms")).to_contain_text("%")
    first.get_by_text("Around it", exact=True).click()
    picture = first.get_by_role("img", name="What lies around")
    expect(picture).to_be_visible()
    listed = first.get_by_role("list", name="What lies around it")
    expect(listed.get_by_role("link", name="Ann Lee")).to_be_visible()
    assert picture.locator("a").count() == listed.locator("li").count()
    listed.get_by_role("link", name="Ann Lee").click()
    expect(searching.get_by_role("heading", name="Why it is here")).to_be_visible()


def test_it_works_by_keyboard_alone(searching: Page) -> None:
    keys = searching.keyboard
    keys.press("/")
    expect(box(searching)).to_have_value("")
    keys.type("cold store")
    expect(searching.locator("#count")).to_contain_text("result")
    expect(result(searching)).to_contain_text("cold store")
    keys.press("Escape")
    expect(box(searching)).not_to_be_focused()
    keys.press("j")
    expect(result(searching)).to_be_focused()
    keys.press("j")
    expect(result(searching, 2)).to_be_focused()
    keys.press("k")
    expect(result(searching)).to_be_focused()
    keys.press("w")
    expect(result(searching).locator(".arms")).to_be_visible()
    keys.press("n")
    expect(result(searching).locator(".picture")).to_be_visible()
    keys.press("?")
    expect(searching.get_by_role("dialog")).to_be_visible()
    keys.press("Escape")
    expect(searching.get_by_role("dialog")).not_to_be_visible()
    keys.press("/")
    expect(box(searching)).to_be_focused()
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(searching.get_by_role("heading", name="Why it is here")).to_be_visible()


def test_what_cannot_be_searched_for_is_said_while_typing(searching: Page) -> None:
    searching.expected += ["400"]  # type: ignore[attr-defined]
    box(searching).fill("x" * 10_001)
    alert = searching.get_by_role("alert")
    expect(alert).to_contain_text("at most 10000")
    box(searching).fill("forklift")
    expect(result(searching)).to_contain_text("yellow forklift")
    expect(alert).to_have_count(0)


def test_an_error_of_the_server_is_said_and_the_results_stay(searching: Page) -> None:
    searching.expected += ["500", "Response Status Error"]  # type: ignore[attr-defined]
    box(searching).fill("forklift")
    expect(result(searching)).to_contain_text("forklift")
    searching.route(
        "**/search/?*", lambda route: route.fulfill(status=500, body="boom")
    )
    box(searching).fill("forklifts")
    expect(searching.locator("#count")).to_contain_text("error 500")
    expect(result(searching)).to_contain_text("forklift")


def test_a_phone_never_scrolls_sideways_and_its_filters_fold_out(
    searching: Page,
) -> None:
    searching.set_viewport_size(PHONE)
    box(searching).fill(QUESTION)
    expect(answer(searching).locator("mark").first).to_be_visible()
    answer(searching).get_by_text("Why this").click()
    answer(searching).get_by_text("Around it", exact=True).click()
    expect(answer(searching).locator(".picture")).to_be_visible()
    assert too_wide(searching) == []
    person = searching.locator("#filters").get_by_role("link", name="Ann Lee")
    expect(person).not_to_be_visible()
    searching.get_by_role("link", name="Filters", exact=True).click()
    expect(person).to_be_visible()
    searching.keyboard.press("Escape")
    expect(person).not_to_be_visible()
    searching.get_by_role("link", name="Filters", exact=True).click()
    person.click()
    expect(searching.locator(".chip.chosen")).to_be_visible()
    assert too_wide(searching) == []


def test_without_javascript_it_searches_filters_and_shows_the_surroundings(
    browser: Browser, live_server, asker: User
) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    plain = context.new_page()
    sign_in(plain)
    plain.get_by_role("link", name="Search", exact=True).click()
    box(plain).fill(QUESTION)
    plain.get_by_role("button", name="Search").click()
    expect(answer(plain)).to_be_visible()
    plain.get_by_label("From").fill("2030-01-01")
    plain.get_by_role("button", name="Apply").click()
    expect(plain.locator("#count")).to_contain_text("Nothing found")
    plain.get_by_role("link", name="without any filter").click()
    answer(plain).get_by_text("Around it", exact=True).click()
    answer(plain).get_by_role("link", name="Show what lies around it").click()
    expect(plain.get_by_role("img", name="What lies around")).to_be_visible()
    context.close()


def test_a_session_that_ended_leads_to_the_login_page_and_back(searching: Page) -> None:
    box(searching).fill("forklift")
    expect(result(searching)).to_contain_text("yellow")
    searching.context.clear_cookies(name="sessionid")
    box(searching).fill("forklift brakes")
    searching.get_by_label("E-mail").fill("robin@acme.test")
    searching.get_by_label("Password").fill("a long password")
    searching.get_by_role("button", name="Sign in").click()
    expect(box(searching)).to_have_value("forklift")
