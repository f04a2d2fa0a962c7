"""Writes the demo company: chat, mail, meetings, files and a database script."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from connections.demo.company import Company, load_company
from connections.demo.database import database_script
from connections.demo.file_tree import write_files
from connections.demo.items import (
    Mail,
    Meeting,
    Post,
    story_mails,
    story_meetings,
    story_posts,
)
from connections.demo.mail_archive import write_mbox
from connections.demo.meeting_files import write_json, write_vtt
from connections.demo.pages import Pages
from connections.demo.slack_export import write_slack
from connections.demo.small_talk import alerts, chat, mails, meetings
from connections.demo.words import Distinct

SEED = "tarnwick"
SCRIPT = "fabric_demo.sql"
_FOLDERS = ("slack", "meetings", "files")


class DemoFolderError(Exception):
    """A folder that holds something else; the message says what to do."""


def write(folder: Path) -> None:
    """Write the demo company into `folder`, the same bytes each time.

    An earlier demo in `folder` is replaced; a folder that holds anything else raises
    `DemoFolderError`, and nothing is written.
    """
    _clear(folder)
    company = load_company()
    story = (story_posts(), story_mails(), story_meetings("story.yaml"))
    distinct = Distinct(_said(*story))
    posts = [
        *story[0],
        *chat(company, _rng("chat"), distinct),
        *alerts(company, _rng("alerts"), distinct),
    ]
    letters = [*story[1], *mails(company, _rng("mail"), distinct)]
    held = [*story[2], *meetings(company, _rng("meetings"), distinct)]
    write_slack(folder / "slack", company, posts)
    write_mbox(folder / "mail.mbox", company, letters)
    _write_meetings(folder / "meetings", company, held)
    pages = Pages(company, _rng("pages"), distinct).all()
    write_files(folder / "files", company, pages)
    script = database_script(company, _rng("database"))
    (folder / SCRIPT).write_text(script, encoding="utf-8", newline="\n")


def script_text() -> str:
    """Return the script of the demo company's operational database."""
    return database_script(load_company(), _rng("database"))


def _rng(part: str) -> random.Random:
    return random.Random(f"{SEED}/{part}")  # noqa: S311 - chance that must repeat


def _clear(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        return
    if not (folder / SCRIPT).is_file():
        raise DemoFolderError(
            f"{folder} is not empty and holds no demo company; name an empty folder."
        )
    for name in _FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)


def _said(posts: list[Post], letters: list[Mail], held: list[Meeting]) -> list[str]:
    said = [post.text for post in posts]
    said += [reply.text for post in posts for reply in post.replies]
    said += [letter.body for letter in letters]
    return said + [words for meeting in held for _, words in meeting.lines]


def _write_meetings(folder: Path, company: Company, held: list[Meeting]) -> None:
    folder.mkdir()
    for meeting in held:
        write_json(folder, company, meeting)
    for meeting in story_meetings("vtt.yaml"):
        write_vtt(folder, company, meeting)
