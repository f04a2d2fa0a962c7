"""Which database a question is about: by the person's own words, nothing else."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from django.utils import timezone

from connections.databases.base import Schema
from connections.databases.snapshot import schema_of
from connections.models import Database, Project, User
from memory.sql import examples
from memory.sql.context import by_words
from memory.sql.splitting import split
from memory.sql.translator import translate

# From here on a translation is worth asking for without being told to.
CONFIDENT, MARGIN = 0.5, 0.2
# A verified example of the same question leaves no doubt.
CERTAIN = 1.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A database that may be asked; `confidence` of a translation, `words` in common."""

    database: Database
    schema: Schema
    confidence: float
    words: float


def databases_for(project: Project, user: User | None) -> list[Database]:
    """Return the databases of `project` that `user` may ask; None is the operator."""
    every = Database.objects
    rows = every.all() if user is None else every.visible_to(user)
    mine = rows.filter(project=project, tenant_id=project.tenant_id, enabled=True)
    return list(mine.select_related("project__tenant"))


def choose_database(
    question: str, project: Project, user: User | None
) -> Database | None:
    """Return the database that `question` is about; None where none seems to be.

    One that is named in the question goes before all others. Nothing but the
    question is read: no document chooses what is connected to.
    """
    found = candidates(question, project, user)
    return found[0].database if found else None


def worth_asking(
    question: str, project: Project, user: User | None, *, beside: float
) -> Database | None:
    """Return the database that may answer where no model decides; None: texts do.

    `beside` is the support that the best passage gives, 0 to 1: a translation that is
    less sure by far than the passage answers is not asked for.
    """
    found = candidates(split(question).database, project, user)
    if not found:
        return None
    best = found[0]
    if is_named(best.database, question):
        return best.database
    is_sure = best.confidence >= CONFIDENT and best.confidence >= beside - MARGIN
    return best.database if is_sure else None


def candidates(question: str, project: Project, user: User | None) -> list[Candidate]:
    """Return the databases that `question` has something in common with, best first."""
    databases = databases_for(project, user)
    named = [one for one in databases if is_named(one, question)]
    found = [_weighed(database, question) for database in named or databases]
    return sorted(
        (one for one in found if one and (one.confidence or one.words or named)),
        key=lambda one: (-one.confidence, -one.words, one.database.name),
    )


def is_named(database: Database, question: str) -> bool:
    """Return whether the question says the database's name or title."""
    names = "|".join(map(re.escape, {database.name, database.title} - {""}))
    word = "(?:database|datenbank)"
    said = rf"\b(?:{names})\W+{word}\b|\b{word}\W+(?:{names})(?!\w)"
    return re.search(said, question, re.IGNORECASE) is not None


def _weighed(database: Database, question: str) -> Candidate | None:
    schema = schema_of(database)
    if not schema.tables:
        return None
    if examples.same(database, question):
        return Candidate(database, schema, CERTAIN, math.inf)
    told = translate(question, schema, today=timezone.localdate())
    confidence = float(getattr(told, "confidence", 0.0))
    words = max(by_words(schema, question).values(), default=0.0)
    return Candidate(database, schema, confidence, words)
