"""Vectors of another model: filled beside the present ones, then switched.

The new columns are filled node by node, resumably, then indexed, caught up with what
was written meanwhile, and take the place of the old ones by renaming, in one
transaction that waits only briefly for its lock and comes again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from django.conf import settings
from django.db import OperationalError, connections, transaction
from django.utils import timezone
from psycopg import errors

from connections.models import record_audit
from connections.providers.base import Embedder, ProviderError, embedders
from graph import reembed_sql as sql
from graph.embed import (
    LOAD_LOCK,
    embed_backlog,
    embedder_of,
    forget_model,
    note_refusals,
)
from graph.models import EmbeddingModel, Node
from graph.node_vectors import Made, Waiting
from graph.vector_index import (
    check_size,
    column_type,
    fit,
    index_exists,
    index_sql,
    node_count,
)

BATCH = 512
ONE_AT_A_TIME = 0x6661_6277  # "fabw"
# Once all is filled, how long to come again for a table that somebody always reads.
PATIENCE_SECONDS = 3600.0
PAUSE_SECONDS = (0.2, 5.0)
CANCEL_SECONDS, KILLED_SECONDS = 120.0, 5.0
CANCELLED = "It was cancelled; what was filled is dropped."

Progress: TypeAlias = Callable[[str], None]


class ReembedError(Exception):
    """A change of models that cannot go on; the message says what to do."""


class ReembedBusy(ReembedError):
    """Another process is filling vectors at this moment."""


class ReembedCancelled(ReembedError):
    """Somebody dropped what is being filled."""


class OutOfTime(Exception):
    """The time given is over; what was filled stays."""


class _Occupied(Exception):
    """The table is in use; it is tried again."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What vectors to change to; empty and zero leave it to the provider."""

    provider: str
    name: str = ""
    dimensions: int = 0
    storage: str = "vector"
    index: str = "hnsw"
    indexed_dimensions: int = 0
    m: int = 16
    ef_construction: int = 200
    lists: int = 0
    probes: int = 0

    @classmethod
    def configured(cls, provider: str = "", **given: Any) -> Wanted:
        """Return what the settings say, unless `given` says otherwise.

        FABRIC_EMBEDDING_MODEL and _DIMENSIONS are of FABRIC_EMBEDDER's provider.
        """
        options = settings.FABRIC
        chosen = provider or options["EMBEDDER"]
        is_own = chosen == options["EMBEDDER"]
        values = {
            "name": options["EMBEDDING_MODEL"] if is_own else "",
            "dimensions": options["EMBEDDING_DIMENSIONS"] if is_own else 0,
            "storage": options["EMBEDDING_STORAGE"],
            "index": options["EMBEDDING_INDEX"],
            "indexed_dimensions": options["EMBEDDING_INDEXED"],
            "m": options["EMBEDDING_M"],
            "ef_construction": options["EMBEDDING_EF_CONSTRUCTION"],
            "lists": options["EMBEDDING_LISTS"],
            "probes": options["EMBEDDING_PROBES"],
        }
        return cls(chosen, **values | {k: v for k, v in given.items() if v})

    @classmethod
    def of(cls, model: EmbeddingModel) -> Wanted:
        """Return what leads to the row `model` again."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: getattr(model, name) for name in names})


def reembed(
    wanted: str | Wanted,
    *,
    progress: Progress | None = None,
    until: float | None = None,
) -> EmbeddingModel:
    """Give all nodes vectors as `wanted` says, and make their model the active one.

    Killed and run again it goes on where it stopped; search keeps the old vectors
    until the switch. Raises `ProviderError`, `ReembedError`, and `OutOfTime` once
    `time.monotonic()` passes `until`.
    """
    if isinstance(wanted, str):
        wanted = Wanted.configured(wanted)
    model = choose_model(wanted)
    if model.is_active:
        return model
    with only_one():
        _begin(model)
        record_audit("embedding.change_begun", target=str(model))
        try:
            _Change(model, progress or (lambda _: None), until).run()
        except ProviderError as error:
            EmbeddingModel.objects.filter(pk=model.pk).update(error=str(error))
            raise
    forget_model()
    record_audit("embedding.changed", target=str(model))
    embed_backlog()
    model.refresh_from_db()
    return model


def adopt_configured() -> EmbeddingModel | None:
    """Begin a new installation with the embedder that the settings name.

    Returns its model where that changed. Where vectors are, `reembed` changes them.
    """
    if Node.objects.filter(embedding__isnull=False).exists():
        return None
    wanted = Wanted.configured()
    return None if choose_model(wanted).is_active else reembed(wanted)


def choose_model(wanted: Wanted) -> EmbeddingModel:
    """Return the row of what is wanted, made where missing.

    Raises `ProviderError` where its provider cannot serve it.
    """
    embedder = embedders[wanted.provider](wanted.name, wanted.dimensions)
    parameters = {
        "m": wanted.m,
        "ef_construction": wanted.ef_construction,
        "lists": wanted.lists,
        "probes": wanted.probes,
    }
    kind = {
        "name": embedder.name,
        "dimensions": embedder.dimensions,
        "storage": wanted.storage,
        "index": wanted.index,
        "indexed_dimensions": _indexed(wanted, embedder),
    }
    check_size(EmbeddingModel(**kind))
    model, _ = EmbeddingModel.objects.get_or_create(
        **kind, defaults={"provider": wanted.provider, **parameters}
    )
    if model.is_active:
        # How it was built stays; how much of it a search reads may change.
        EmbeddingModel.objects.filter(pk=model.pk).update(probes=wanted.probes)
    elif model.filling_since is None:
        EmbeddingModel.objects.filter(pk=model.pk).update(
            provider=wanted.provider, **parameters
        )
    model.refresh_from_db()
    return model


def _indexed(wanted: Wanted, embedder: Embedder) -> int:
    """Return how many dimensions the index holds; 0 where that is all of them."""
    some = wanted.indexed_dimensions or embedder.leading
    return some if some < embedder.dimensions else 0


def filling() -> EmbeddingModel | None:
    """Return the model whose vectors are being filled, if there is one."""
    return EmbeddingModel.objects.filter(filling_since__isnull=False).first()


def cancel() -> EmbeddingModel | None:
    """Drop the half-filled vectors and return their model; None where there are none.

    A process that fills them stops at its next batch.
    """
    model = filling()
    if model is None:
        return None
    still = EmbeddingModel.objects.filter(pk=model.pk, filling_since__isnull=False)
    with transaction.atomic():
        if not still.update(filling_since=None):
            return None
        record_audit("embedding.change_cancelled", target=str(model))
    with only_one(patience=CANCEL_SECONDS):
        _until_free(lambda cursor: _run(cursor, sql.DROP_COLUMNS))
    model.refresh_from_db()
    return model


@contextmanager
def only_one(patience: float = KILLED_SECONDS) -> Iterator[None]:
    """Hold a session lock, which the server drops soon after we are killed.

    Raises `ReembedBusy` where another process holds it longer than `patience` seconds.
    """
    deadline = time.monotonic() + patience
    with connections["owner"].cursor() as cursor:
        # Else it goes on building an index for a process that is gone.
        cursor.execute("SET client_connection_check_interval = '1s'")
        while not _holds(cursor, "SELECT pg_try_advisory_lock(%s)", ONE_AT_A_TIME):
            if time.monotonic() >= deadline:
                raise ReembedBusy(
                    "Another process is filling vectors; see `manage.py reembed "
                    "--status`, or stop it with `--cancel`."
                )
            time.sleep(PAUSE_SECONDS[0])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ONE_AT_A_TIME])


def _holds(cursor: Any, statement: str, lock: int) -> bool:
    cursor.execute(statement, [lock])
    return bool(cursor.fetchone()[0])


def _begin(model: EmbeddingModel) -> None:
    """Add the columns, and note in the same transaction whose they are."""
    current = filling()
    if current is not None and current.pk != model.pk:
        raise ReembedError(
            f"Vectors of {current} are half made: {current.progress}. Finish that with "
            f"`manage.py reembed {current.provider}`, or drop it with `--cancel`."
        )
    if current is None:
        total = node_count()
        _until_free(lambda cursor: _add_columns(cursor, model, total))
    model.refresh_from_db()


def _add_columns(cursor: Any, model: EmbeddingModel, total: int) -> None:
    # What a cancel left that was killed before it could drop them.
    _run(cursor, sql.DROP_COLUMNS)
    _run(cursor, [line.format(type=column_type(model)) for line in sql.ADD_COLUMNS])
    EmbeddingModel.objects.using("owner").filter(pk=model.pk).update(
        filling_since=timezone.now(), filled=0, filled_to=0, total=total, error=""
    )


def _run(cursor: Any, statements: Any) -> None:
    for statement in statements:
        cursor.execute(statement)


def _alone(work: Callable[[Any], None]) -> None:
    """Do `work` in one transaction that has the tables alone; raise `_Occupied`."""
    try:
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            if not _holds(cursor, "SELECT pg_try_advisory_xact_lock(%s)", LOAD_LOCK):
                raise _Occupied("a first load of an empty installation")
            _run(cursor, sql.LOCK_BRIEFLY)
            work(cursor)
    except OperationalError as error:
        cause = error.__cause__
        if isinstance(cause, errors.LockNotAvailable | errors.DeadlockDetected):
            raise _Occupied("somebody reads or writes nodes") from error
        raise


def _until_free(
    work: Callable[[Any], None], *, before: Callable[[], None] = lambda: None
) -> None:
    """Do `work` alone as soon as that is possible, `before` it each time."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    pause, longest = PAUSE_SECONDS
    while True:
        before()
        try:
            return _alone(work)
        except _Occupied as error:
            if time.monotonic() >= deadline:
                raise ReembedError(
                    f"The table of nodes was never free for a moment: {error}. What is "
                    "filled stays; run it again when that has ended."
                ) from error
        time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - not a secret
        pause = min(pause * 1.5, longest)


class _Change:
    """The filling of one model's vectors, and the switch to them."""

    def __init__(
        self, model: EmbeddingModel, progress: Progress, until: float | None
    ) -> None:
        self.model = model
        self.progress = progress
        self.until = until
        self.embedder: Embedder = embedder_of(model)
        active = EmbeddingModel.objects.filter(is_active=True).first()
        is_same = active is not None and model.is_comparable_with(active)
        self.same = active.pk if active is not None and is_same else None

    def run(self) -> None:
        while self._fill_some(after=self.model.filled_to) == BATCH:
            pass
        self._index()
        self.progress("switching")
        _until_free(self._switch, before=self._catch_up)

    def _fill_some(self, *, after: int) -> int:
        """Fill the next nodes behind `after`; return how many there were.

        What is filled and how far it came is one transaction: nothing is asked twice
        but the batch that a kill interrupts.
        """
        self._check_time()
        with connections["owner"].cursor() as cursor:
            values = {"after": after, "same": self.same, "limit": BATCH}
            cursor.execute(sql.NEXT_ROWS, values)
            rows = [Waiting(*row) for row in cursor.fetchall()]
        if rows:
            made = Made.of(rows, self.embedder)
            self._write(made, rows[-1].node_id)
        return len(rows)

    def _write(self, made: Made, last: int) -> None:
        values = made.values(self.model.pk)
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute(sql.ADVANCE, [len(made.ids), last, self.model.pk])
            if not cursor.rowcount:
                raise ReembedCancelled(CANCELLED)
            cursor.execute(sql.FILL, values)
            note_refusals(cursor.execute, made, values)
        self.model.refresh_from_db()
        self.progress(self.model.progress)

    def _check_time(self) -> None:
        if self.until is not None and time.monotonic() >= self.until:
            raise OutOfTime(self.model.progress)

    def _index(self) -> None:
        """Build what searches and the queue need, while both columns are in use."""
        if not index_exists(sql.NEXT_INDEX):
            fit(self.model, column="embedding_next")
        vectors = index_sql(self.model, name=sql.NEXT_INDEX, column="embedding_next")
        with connections["owner"].cursor() as cursor:
            for name, statement in (
                (sql.NEXT_QUEUE, sql.CREATE_QUEUE),
                (sql.NEXT_INDEX, f"CREATE INDEX CONCURRENTLY {vectors}"),
            ):
                if not index_exists(name):
                    self.progress(f"building {name}")
                    # What a killed build left is there, but of no use.
                    cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
                    cursor.execute(statement)
            cursor.execute(sql.VALIDATE)
            # The columns take their statistics along when they are renamed.
            cursor.execute("ANALYZE graph_nodes")

    def _catch_up(self) -> None:
        """Fill what was written or changed meanwhile, down to the last few."""
        while self._fill_some(after=0) == BATCH:
            pass

    def _switch(self, cursor: Any) -> None:
        cursor.execute(sql.ADVANCE, [0, 0, self.model.pk])
        if not cursor.rowcount:
            raise ReembedCancelled(CANCELLED)
        _run(cursor, sql.SWITCH)
        for statement in sql.ACTIVATE:
            cursor.execute(statement, {"model": self.model.pk})
