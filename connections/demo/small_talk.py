"""Everyday chat, mail and meetings between the story lines, made from parts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from connections.demo.company import (
    TEXT,
    Company,
    Customer,
    at_local,
    listed,
    read_mapping,
    read_rows,
    short_hash,
)
from connections.demo.items import Mail, Meeting, Post
from connections.demo.words import Clock, Distinct, Words, spans

_LONGEST_MEETING_BLOCKS = 7


def chat(company: Company, rng: random.Random, distinct: Distinct) -> list[Post]:
    """Return everyday threads, as many a channel as `people.yaml` asks for."""
    clock = Clock(company, rng)
    posts: list[Post] = []
    for name, scenes in _scenes("slack").items():
        for number in range(company.channels[name].fill):
            scene = scenes[number % len(scenes)]
            key = f"{name}/{number % len(scenes)}"
            posts += _thread(company, rng, distinct, clock, name, key, scene)
    return posts


def _scenes(folder: str) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for path in sorted((TEXT / folder).glob("scenes*.yaml")):
        found.update(read_mapping(f"{folder}/{path.name}"))
    return found


def _thread(
    company: Company,
    rng: random.Random,
    distinct: Distinct,
    clock: Clock,
    channel: str,
    key: str,
    scene: dict,
) -> Iterator[Post]:
    at = clock.moment(spans(scene.get("when")))
    words = Words(company, rng, at)
    author = rng.choice(scene["by"])
    text = distinct.say(key, rng, scene["root"], words)
    if not text:
        return
    replies, moment, last = [], at, author
    for position, (who, templates) in enumerate(scene.get("replies", [])):
        moment = clock.later(moment)
        speaker = _speaker(company, rng, channel, who, author, last)
        answer = distinct.say(f"{key}/{position}", rng, templates, words)
        if answer:
            edited = rng.random() < 0.04
            replies.append(Post(channel, moment, speaker, answer, edited=edited))
            last = speaker
    yield Post(channel, at, author, text, tuple(replies), _reactions(company, rng))


def _speaker(
    company: Company,
    rng: random.Random,
    channel: str,
    who: object,
    author: str,
    last: str,
) -> str:
    if who == "root":
        return author
    if who == "other":
        return next(m for m in company.channels[channel].members if m != author)
    choices = [handle for handle in listed(who) if handle not in (author, last)]
    return rng.choice(choices or listed(who))


def _reactions(company: Company, rng: random.Random) -> dict[str, list[str]]:
    if rng.random() > 0.3:
        return {}
    emoji = rng.choice(
        ["+1", "eyes", "heart", "joy", "pray", "snowflake", "raised_hands"]
    )
    people = [p.handle for p in company.people.values() if p.in_slack]
    return {emoji: rng.sample(people, rng.randint(1, 4))}


def alerts(company: Company, rng: random.Random, distinct: Distinct) -> list[Post]:
    """Return what the monitoring bot posted into #incidents."""
    clock = Clock(company, rng)
    posts = []
    for _ in range(26):
        at = clock.moment()
        words = Words(company, rng, at)
        text = distinct.say("alert", rng, company.words["alert"], words)
        if text:
            posts.append(Post("incidents", at, "pagerwren", text))
    return posts


def mails(company: Company, rng: random.Random, distinct: Distinct) -> list[Mail]:
    """Return everyday mail threads of the kinds in `text/mail/scenes.yaml`."""
    clock = Clock(company, rng)
    scenes = read_rows("mail/scenes.yaml")
    found: list[Mail] = []
    for number, scene in enumerate(scenes):
        for use in range(scene["uses"]):
            key = f"mail/{number}"
            at = clock.moment(spans(scene.get("when")))
            words = Words(company, rng, at)
            found += _mail_thread(company, rng, distinct, clock, scene, key, use, words)
    return found


def _mail_thread(
    company: Company,
    rng: random.Random,
    distinct: Distinct,
    clock: Clock,
    scene: dict,
    key: str,
    use: int,
    words: Words,
) -> Iterator[Mail]:
    cast = _Cast(company, rng, words)
    subject = words.say(rng.choice(scene["subject"]))
    at, parent, previous = words.at, "", ""
    for position, (sender, to, templates) in enumerate(scene["mails"]):
        body = distinct.say(f"{key}/{position}", rng, templates, words)
        if not body:
            return
        author = cast.one(sender, previous)
        yield Mail(
            id=f"{at:%Y%m%d}.{short_hash(f'{key}/{use}/{position}', 8).lower()}",
            at=at,
            sender=author,
            to=tuple(name for one in to for name in [cast.one(one, previous)]),
            subject=f"Re: {subject}" if parent else subject,
            body=body,
            parent=parent,
            html=rng.random() < 0.08,
        )
        parent = f"{at:%Y%m%d}.{short_hash(f'{key}/{use}/{position}', 8).lower()}"
        previous = author
        at = clock.next_working(at)


class _Cast:
    """Who plays which part in one mail thread."""

    def __init__(self, company: Company, rng: random.Random, words: Words) -> None:
        self._rng = rng
        self._words = words
        self._parts: dict[str, str] = {}
        self._helper = rng.choice(["annao", "eoin"])
        with_contact = [c for c in company.customers.values() if c.contact]
        self._staff = [p.handle for p in company.people.values() if p.in_slack]
        if words.customer not in with_contact and rng.random() < 0.5:
            self._recast(rng.choice(with_contact))

    def _recast(self, customer: Customer) -> None:
        self._words.customer = customer
        self._words.update(
            customer=customer.name, town=customer.town, first=customer.first_name
        )

    def one(self, part: object, previous: str) -> str:
        """Return the handle, customer or address that plays `part`."""
        if isinstance(part, list):
            part = self._rng.choice(part)
        name = str(part)
        if name == "root":
            return self._parts.get("first", previous)
        if name == "reply":
            return self._helper
        if name not in self._parts:
            self._parts[name] = self._draw(name)
        self._parts.setdefault("first", self._parts[name])
        return self._parts[name]

    def _draw(self, name: str) -> str:
        if name == "customer":
            return self._words.customer.name
        if name == "supplier":
            firm = self._words["supplier"]
            return f"{firm} Orders <orders@{firm.split()[0].lower()}.example>"
        if name == "applicant":
            local = self._words["initials"].lower().replace(". ", "").replace(".", "")
            code = self._words["ticket"].lower()
            return f"{self._words['initials']} <{local}.{code}@applicants.example>"
        if name in ("any", "any2", "any3"):
            taken = set(self._parts.values())
            return self._rng.choice([h for h in self._staff if h not in taken])
        return name


def meetings(company: Company, rng: random.Random, distinct: Distinct) -> list[Meeting]:
    """Return the regular meetings of `text/meetings/fill.yaml`."""
    plan = read_mapping("meetings/fill.yaml")
    return [
        _regular(company, rng, distinct, series, plan["blocks"][series["slug"]], when)
        for series in plan["series"]
        for when in series["dates"]
    ]


def _regular(
    company: Company,
    rng: random.Random,
    distinct: Distinct,
    series: dict,
    blocks: Sequence[Sequence[Sequence[str]]],
    when: str,
) -> Meeting:
    at = at_local(when)
    host = series["organizer"]
    said = [(host, Words(company, rng, at).say(rng.choice(company.words["opening"])))]
    topics = []
    for number in rng.sample(range(len(blocks)), len(blocks))[:_LONGEST_MEETING_BLOCKS]:
        words = Words(company, rng, at)
        said += _turns(blocks[number], words, distinct)
        topics.append(_topic(words))
    closing = Words(company, rng, at).say(rng.choice(company.words["closing"]))
    said.append((host, closing))
    return Meeting(
        slug=f"{series['slug']}-{at:%Y%m%d}",
        title=series["title"],
        at=at,
        organizer=host,
        attendees=tuple(series["attendees"]),
        lines=tuple(said),
        overview=f"{series['title']} of {at.day} {at:%B}: {'; '.join(topics)}.",
        keywords=tuple(series["keywords"]),
        actions=_promises(said),
    )


def _turns(
    block: Sequence[Sequence[str]], words: Words, distinct: Distinct
) -> list[tuple[str, str]]:
    """Return the turns of `block`; one that was said word for word is left out."""
    said = [(who, words.say(text), "{" in text) for who, text in block]
    return [
        (who, text)
        for who, text, has_slots in said
        if not has_slots or distinct.is_new(text)
    ]


def _topic(words: Words) -> str:
    slots = ("symptom", "feature", "wish", "service", "metric", "talk", "prospect")
    named = next((words[slot] for slot in slots if dict.get(words, slot)), "")
    return named or words.customer.name


def _promises(said: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    marks = (
        "I take ",
        "I do, by ",
        "I put it ",
        "I tell them",
        "I wrote ",
        "I would give",
    )
    found: dict[str, list[str]] = {}
    for who, text in said:
        if any(mark in text for mark in marks):
            found.setdefault(who, []).append(text.split(". ")[0].rstrip("."))
    return found
