"""The demo company is one consistent story, and is written the same each time."""

from __future__ import annotations

import calendar
import email.policy
import hashlib
import json
import mailbox
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from email.message import EmailMessage
from email.parser import BytesParser
from itertools import combinations
from pathlib import Path

import pytest
import yaml
from icalendar import Calendar, Event

from connections.demo.company import TEXT, ZONE, Company, load_company
from connections.demo.generate import DemoFolderError, write
from connections.demo.items import story_mails, story_posts
from connections.demo.words import likeness, tokens
from connections.records import Failure, Record
from connections.sources.base import Connector, Pull
from connections.sources.files import FolderConnector
from connections.sources.mail import MailConnector
from connections.sources.slack import SlackConnector
from connections.sources.transcripts import TranscriptsConnector

MONTHS = list(calendar.month_name)[1:]
Message = dict[str, object]
PARTS: tuple[tuple[type[Connector], str, int], ...] = (
    (SlackConnector, "slack", 850),
    (MailConnector, "mail.mbox", 260),
    (FolderConnector, "files", 110),
    (TranscriptsConnector, "meetings", 30),
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write(folder)
    return folder


@pytest.fixture(scope="module")
def company() -> Company:
    return load_company()


@pytest.fixture(scope="module")
def messages(demo: Path) -> list[tuple[str, Message]]:
    """Every chat message, with the name of its folder."""
    return [
        (path.parent.name, message)
        for path in sorted((demo / "slack").glob("*/*.json"))
        for message in json.loads(path.read_text(encoding="utf-8"))
    ]


@pytest.fixture(scope="module")
def letters(demo: Path) -> list[EmailMessage]:
    box = mailbox.mbox(demo / "mail.mbox", create=False)
    policy = email.policy.default
    raw = [box.get_bytes(key) for key in box.iterkeys()]
    return [BytesParser(EmailMessage, policy=policy).parsebytes(one) for one in raw]


@pytest.fixture(scope="module")
def transcripts(demo: Path) -> list[dict]:
    return [
        meeting
        for path in sorted((demo / "meetings").glob("*.json"))
        for meeting in json.loads(path.read_text("utf-8"))["data"]["transcripts"]
    ]


def digest(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(
            path.read_bytes()
        ).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_second_run_writes_the_same_bytes_and_replaces_the_first(
    demo: Path, tmp_path: Path
) -> None:
    write(tmp_path)
    (tmp_path / "files/handbook/left-over.md").write_text("gone", encoding="utf-8")
    write(tmp_path)
    assert digest(tmp_path) == digest(demo)


def test_a_folder_with_other_things_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(DemoFolderError, match="is not empty"):
        write(tmp_path)
    assert [p.name for p in tmp_path.rglob("*")] == ["files", "mine.txt"]


def test_there_is_about_as_much_of_each_as_the_readme_says(
    demo: Path,
    messages: list[tuple[str, Message]],
    letters: list[EmailMessage],
    transcripts: list[dict],
) -> None:
    files = [path for path in (demo / "files").rglob("*") if path.is_file()]
    assert 850 <= len(messages) <= 1_000
    assert 260 <= len(letters) <= 340
    assert len(transcripts) + len(list((demo / "meetings").glob("*.vtt"))) == 30
    assert 110 <= len(files) <= 130
    assert all(20 <= len(meeting["sentences"]) <= 60 for meeting in transcripts)


def test_every_id_is_there_once(
    messages: list[tuple[str, Message]],
    letters: list[EmailMessage],
    transcripts: list[dict],
) -> None:
    ids = [f"{folder}/{message['ts']}" for folder, message in messages]
    ids += [str(letter["Message-ID"]) for letter in letters]
    ids += [meeting["id"] for meeting in transcripts]
    assert [key for key, count in Counter(ids).items() if count > 1] == []


def test_every_reply_in_chat_has_its_parent_and_the_parent_counts_it(
    messages: list[tuple[str, Message]],
) -> None:
    by_key = {(folder, str(m["ts"])): m for folder, m in messages}
    listed: Counter[tuple[str, str]] = Counter()
    for folder, message in messages:
        root = message.get("thread_ts")
        if root and root != message["ts"]:
            parent = by_key[folder, str(root)]
            assert str(message["ts"]) in str(parent["replies"])
            assert str(message["ts"]) > str(root)
            listed[folder, str(root)] += 1
    counted = {k: m["reply_count"] for k, m in by_key.items() if "reply_count" in m}
    assert counted == listed


def test_every_answer_by_mail_has_its_parent_earlier_in_the_archive(
    letters: list[EmailMessage],
) -> None:
    seen: set[str] = set()
    answers = 0
    for letter in letters:
        if letter["In-Reply-To"]:
            assert letter["In-Reply-To"] in seen
            assert set(str(letter["References"]).split()) <= seen
            answers += 1
        seen.add(str(letter["Message-ID"]))
    assert answers > 80


def test_the_export_shows_what_real_exports_hold(
    demo: Path, messages: list[tuple[str, Message]]
) -> None:
    subtypes = {message.get("subtype") for _, message in messages}
    assert {"tombstone", "thread_broadcast", "bot_message"} <= subtypes
    plain = [m for _, m in messages if not m.get("subtype")]
    assert 0.6 < sum("blocks" in m for m in plain) / len(plain) < 0.95
    for mark in ("edited", "reactions", "files"):
        assert any(mark in message for message in plain)
    text = "\n".join(str(message["text"]) for message in plain)
    for markup in (r"<@U\w+>", r"<#C\w+\|support>", r"<https://[^|>]+\|", r":\w+:"):
        assert re.search(markup, text)
    named = {c["name"] for c in json.loads((demo / "slack/channels.json").read_text())}
    assert (demo / "slack/winter-party-2025").is_dir()
    assert "winter-party-2025" not in named


def test_the_archive_holds_the_usual_kinds_of_mail(letters: list[EmailMessage]) -> None:
    parts = Counter(part.get_content_type() for m in letters for part in m.walk())
    assert parts["text/calendar"] == 2
    assert parts["text/csv"] >= 3
    assert parts["text/html"] >= 5
    assert any("wordprocessingml" in kind for kind in parts)
    assert any(letter["Auto-Submitted"] for letter in letters)
    assert any(letter["List-Unsubscribe"] for letter in letters)
    bodies = [letter.get_body(("plain", "html")) for letter in letters]
    texts = [body.get_content() for body in bodies if body]
    assert sum("\n-- \n" in text for text in texts) > 200
    assert sum("wrote:\n\n> " in text for text in texts) > 60


def test_an_invitation_can_be_read_as_a_calendar(letters: list[EmailMessage]) -> None:
    invitation = next(
        m for m in letters if "Norrlys" in m["Subject"] and m.is_multipart()
    )
    part = next(p for p in invitation.walk() if p.get_content_type() == "text/calendar")
    event = Calendar.from_ical(part.get_content()).walk("VEVENT")[0]
    assert isinstance(event, Event)
    assert event["UID"] == "norrlys-cutover-rehearsal@tarnwick.example"
    assert event.start == datetime(2026, 8, 6, 10, tzinfo=ZONE)
    assert len(event.attendees) == 4


def slack_users(demo: Path) -> dict[str, str]:
    users = json.loads((demo / "slack/users.json").read_text("utf-8"))
    return {u["profile"]["email"]: u["real_name"] for u in users if not u["is_bot"]}


def mail_people(letters: list[EmailMessage]) -> Iterator[tuple[str, str]]:
    for letter in letters:
        for header in ("From", "To", "Cc"):
            if letter[header]:
                for found in letter[header].addresses:
                    yield found.addr_spec, found.display_name


def test_people_have_one_name_and_address_in_all_sources(
    demo: Path, letters: list[EmailMessage], transcripts: list[dict]
) -> None:
    chat = slack_users(demo)
    known = {**chat, "hana.kowalik@tarnwick.example": "Hana Kowalik"}
    attended = {
        (a["email"], a["displayName"])
        for meeting in transcripts
        for a in meeting["meeting_attendees"]
    }
    for address, name in [*mail_people(letters), *attended]:
        if address in known:
            assert known[address] == name
    wrote = {address for address, _ in mail_people(letters)}
    assert set(chat) <= wrote
    assert len(chat) == 24
    assert len({address for address, _ in attended} & set(chat)) >= 20


def test_two_colleagues_share_a_first_name(demo: Path) -> None:
    first = Counter(name.split()[0] for name in slack_users(demo).values())
    assert [name for name, count in first.items() if count > 1] == ["Anna"]


def test_one_colleague_changes_her_address(letters: list[EmailMessage]) -> None:
    sent = [(m["From"].addresses[0].addr_spec, m["Date"].datetime) for m in letters]
    by_hana = [
        (who, at.date() < date(2026, 6, 8)) for who, at in sent if "hana." in who
    ]
    assert set(by_hana) == {
        ("hana.kowalik@tarnwick.example", True),
        ("hana.lindqvist@tarnwick.example", False),
    }


def test_some_speakers_are_known_by_their_full_name_only(
    transcripts: list[dict],
) -> None:
    spoke = {s["speaker_name"] for m in transcripts for s in m["sentences"]}
    invited = {a["displayName"] for m in transcripts for a in m["meeting_attendees"]}
    assert {"Petra Zelenkova", "Wren Castellane"} <= spoke - invited


def test_things_happen_in_working_hours_of_the_year(
    messages: list[tuple[str, Message]],
    letters: list[EmailMessage],
    transcripts: list[dict],
) -> None:
    moments = [datetime.fromtimestamp(float(str(m["ts"])), ZONE) for _, m in messages]
    moments += [letter["Date"].datetime.astimezone(ZONE) for letter in letters]
    moments += [datetime.fromtimestamp(m["date"] / 1000, ZONE) for m in transcripts]
    odd = [m for m in moments if m.weekday() > 4 or not 7 <= m.hour < 18]
    assert odd == []
    assert min(moments).date() == date(2025, 11, 20)
    assert max(moments).date() == date(2026, 11, 20)


def test_no_two_items_are_near_copies_apart_from_cross_posts(
    messages: list[tuple[str, Message]], letters: list[EmailMessage]
) -> None:
    texts = [str(m["text"]) for _, m in messages if m.get("subtype") != "tombstone"]
    for letter in letters:
        body = letter.get_body(("plain", "html"))
        assert body is not None
        texts.append(body.get_content())
    sets = sorted(
        {(tokens(text), n) for n, text in enumerate(texts)}, key=lambda s: len(s[0])
    )
    alike = [
        (texts[n], texts[m])
        for (one, n), (two, m) in combinations(sets, 2)
        if len(one) > 0.85 * len(two) and likeness(one, two) > 0.85
    ]
    assert len(alike) == 2, alike


def test_every_domain_is_reserved_for_examples(demo: Path) -> None:
    found: set[str] = set()
    for path in demo.rglob("*"):
        if path.suffix in (".json", ".mbox", ".md", ".csv", ".sql", ".vtt", ".html"):
            text = path.read_text(encoding="utf-8").replace("=\n", "")
            found |= set(re.findall(r"(?<=@)[\w-]+(?:\.[\w-]+)+", text))
            found |= set(re.findall(r"https?://([\w.-]+)", text))
            found |= set(
                re.findall(r"\b(?:[\w-]+\.)+(?:com|net|org|io|ie|eu|co)\b", text)
            )
    real = {name for name in found if not name.endswith((".example", ".test"))}
    assert real == set()
    assert len(found) > 30


def dates_named(text: str) -> Iterator[tuple[str, int, int]]:
    pattern = r"(Monday|Tuesday|Wednesday|Thursday|Friday),? (\d{1,2}) (\w+)"
    for weekday, day, month in re.findall(pattern, text):
        if month in MONTHS:
            yield weekday, int(day), MONTHS.index(month) + 1


def nearest(day: date, month: int, number: int) -> date:
    years = (day.year - 1, day.year, day.year + 1)
    return min((date(y, month, number) for y in years), key=lambda d: abs(d - day))


def test_weekdays_named_in_the_story_are_those_of_the_calendar() -> None:
    said = [
        (post.at, post.text) for root in story_posts() for post in (root, *root.replies)
    ]
    said += [(mail.at, mail.body) for mail in story_mails()]
    late = datetime(2026, 8, 1, tzinfo=ZONE)
    said += [(late, path.read_text("utf-8")) for path in TEXT.rglob("files/**/*.md")]
    checked = 0
    for at, text in said:
        for weekday, day, month in dates_named(text):
            near = nearest(at.date(), month, day)
            assert near.strftime("%A") == weekday, (text, near)
            checked += 1
    assert checked > 30


@pytest.mark.parametrize(("connector", "place", "least"), PARTS)
def test_a_connector_reads_its_part_without_failure_or_warning(
    demo: Path, connector: type[Connector], place: str, least: int
) -> None:
    found = list(connector().pull(Pull(demo / place, place)))
    assert [item for item in found if isinstance(item, Failure)] == []
    records = [item for item in found if isinstance(item, Record)]
    assert [record.key for record in records if record.warnings] == []
    assert sum(record.counted for record in records) >= least


def test_the_keys_that_answer_the_sample_questions_are_there(demo: Path) -> None:
    keys = set()
    for kind, place, _ in PARTS:
        for record in kind().pull(Pull(demo / place, place)):
            assert isinstance(record, Record)
            keys |= {node.key for node in record.nodes}
    questions = yaml.safe_load((TEXT / "questions.yaml").read_text(encoding="utf-8"))
    assert len(questions) == 8
    assert {key for question in questions for key in question["answers"]} <= keys


def test_nothing_that_was_made_from_parts_shows_the_seams(demo: Path) -> None:
    for path in demo.rglob("*"):
        if path.suffix in (".json", ".md", ".sql", ".mbox"):
            text = path.read_text(encoding="utf-8").replace("=\n", "")
            seams = re.findall(r"(?i)\b(?:the the|a the|a an|an the|the an?) \w+", text)
            assert seams == [], path
            assert not re.search(r"\{[a-z_]+\d?\}", text), path


def tickets(script: str) -> Iterator[tuple[int, float]]:
    """Yield (customer id, hours before loading) for each ticket."""
    _, _, rows = script.partition("INSERT INTO public.support_tickets")
    pattern = (
        r"^    \(\d+, (\d+), '(?:[^']|'')*'.*?, now\(\) - interval '([\d.]+) hours'"
    )
    for customer, hours in re.findall(pattern, rows, re.MULTILINE):
        yield int(customer), float(hours)


def test_the_last_seven_days_have_ten_clear_top_customers_of_whom_chat_speaks(
    demo: Path, company: Company, messages: list[tuple[str, Message]]
) -> None:
    found = list(tickets((demo / "fabric_demo.sql").read_text(encoding="utf-8")))
    assert len(found) == 400
    assert not [hours for _, hours in found if 6.5 * 24 < hours < 8.5 * 24]
    recent = {customer for customer, hours in found if hours <= 168}
    ranked = sorted(
        (c for c in company.customers.values() if c.id in recent),
        key=lambda c: -c.revenue,
    )
    assert len({c.revenue for c in company.customers.values()}) == 50
    assert len(ranked) > 10
    assert [c.name for c in ranked[:2]] == ["Brackwater Pharma", "Penhallow Dairies"]
    week = datetime(2026, 11, 13, tzinfo=ZONE).timestamp()
    support = [m for folder, m in messages if folder == "support"]
    november = [str(m["text"]) for m in support if float(str(m["ts"])) > week]
    told = [c for c in ranked[:10] if any(c.name in text for text in november)]
    assert len(told) >= 6
