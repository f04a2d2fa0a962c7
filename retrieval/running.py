"""Arms at work: side by side where that can be, each with a time of its own."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from django.conf import settings
from django.db import (
    DatabaseError,
    InterfaceError,
    OperationalError,
    connections,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper

from retrieval.allowed import elsewhere
from retrieval.arms.base import Ask, Hit, Plan, arms
from retrieval.errors import RetrievalError

logger = logging.getLogger(__name__)

# The connections of the arms that run beside the asker's: settings.DATABASES.
BESIDE = "arms"
TIME_OF_ITS_OWN = (
    "SELECT current_setting('statement_timeout'),"
    " set_config('statement_timeout', %s, true)"
)
TIME_OF_ALL = "SELECT set_config('statement_timeout', %s, false)"

_opened: WeakSet[BaseDatabaseWrapper] = WeakSet()
# What the connections beside were told last.
_told: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


class GraphUnavailable(RetrievalError):
    """The graph cannot be read: there is no answer without it, not a partial one."""

    code = "graph_unavailable"
    status_code = 503

    def __init__(self) -> None:
        super().__init__("graph is required")


@dataclass(slots=True)
class Found:
    """What each arm found, the milliseconds it took, and why an arm was dropped."""

    hits: dict[str, Sequence[Hit]] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Outcome:
    hits: Sequence[Hit]
    took_ms: float
    fault: str = ""


def run_arms(ask: Ask, plans: Mapping[str, Plan]) -> Found:
    """Run the arms of `plans`; one that fails or exceeds its time is dropped.

    Raises `GraphUnavailable` where none could read the graph.
    """
    found = Found()
    first = {name: plan for name, plan in plans.items() if not arms[name].after}
    _take(found, _run(ask, first))
    later = {name: plan for name, plan in plans.items() if arms[name].after}
    for name, plan in later.items():
        before = {arm: found.hits.get(arm, ()) for arm in arms[name].after}
        _take(found, _run(replace(ask, hits=before), {name: plan}))
    if plans and not found.hits:
        raise GraphUnavailable
    return found


def _take(found: Found, outcomes: Mapping[str, _Outcome]) -> None:
    for name, outcome in outcomes.items():
        found.timings[name] = outcome.took_ms
        if outcome.fault:
            found.dropped[name] = outcome.fault
        else:
            found.hits[name] = outcome.hits


def _run(ask: Ask, plans: Mapping[str, Plan]) -> dict[str, _Outcome]:
    """Run arms that need nothing of each other: the first here, the others beside.

    In a transaction all run here, for no other connection sees what it wrote.
    """
    if not plans:
        return {}
    here, *others = plans
    beside: dict[str, Future[_Outcome]] = {}
    if others and not connections[ask.nodes.db].in_atomic_block and _threads():
        beside = {
            name: _pool(os.getpid()).submit(_run_beside, name, ask, plans[name])
            for name in others
        }
    outcomes = {here: _outcome(here, ask, plans[here])}
    for name in others:
        waiting = beside.get(name)
        outcomes[name] = (
            waiting.result() if waiting else _outcome(name, ask, plans[name])
        )
    return outcomes


def _threads() -> int:
    return int(settings.FABRIC["ARM_THREADS"])


@cache
def _pool(_process: int) -> ThreadPoolExecutor:
    # One for each process: threads do not outlive a fork.
    return ThreadPoolExecutor(max_workers=_threads(), thread_name_prefix="arm")


def stop_threads() -> None:
    """End the threads that arms ran in, and their connections."""
    _pool(os.getpid()).shutdown()
    _pool.cache_clear()
    for connection in list(_opened):
        if connection.connection is not None:
            connection.connection.close()


def _run_beside(name: str, ask: Ask, plan: Plan) -> _Outcome:
    there = replace(
        ask,
        nodes=elsewhere(ask.nodes, BESIDE),
        visible=elsewhere(ask.visible, BESIDE),
    )
    connection = connections[BESIDE]
    _opened.add(connection)
    known = connection.connection
    outcome = _outcome(name, there, plan)
    if outcome.fault:
        connection.close_if_unusable_or_obsolete()
        if known is not None and connection.connection is not known:
            # The server was restarted since this thread asked it last.
            return _outcome(name, there, plan)
    return outcome


def _find(name: str, ask: Ask, plan: Plan) -> Sequence[Hit]:
    connection = connections[ask.nodes.db]
    most = f"{settings.FABRIC['ARM_MS']}ms"
    if ask.nodes.db == BESIDE:
        # Nobody else's connection: told once, without a transaction's three trips.
        with connection.cursor() as cursor:
            if _told.get(connection.connection) != most:
                cursor.execute(TIME_OF_ALL, [most])
                _told[connection.connection] = most
        return arms[name].find(ask, plan)
    with transaction.atomic(using=ask.nodes.db), connection.cursor() as cursor:
        cursor.execute(TIME_OF_ITS_OWN, [most])
        before, _ = cursor.fetchone() or ("0", "")
        hits = arms[name].find(ask, plan)
        if connection.savepoint_ids:
            # It would last as long as the asker's transaction, not as long as ours.
            cursor.execute(TIME_OF_ITS_OWN, [before])
        return hits


def _outcome(name: str, ask: Ask, plan: Plan) -> _Outcome:
    started = time.perf_counter()
    hits: Sequence[Hit] = ()
    fault = ""
    try:
        hits = _find(name, ask, plan)
    except (OperationalError, InterfaceError) as error:
        fault = _reason(error)
    except (
        DatabaseError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        logger.exception("The arm %s failed.", name)
        fault = _reason(error)
    return _Outcome(hits, (time.perf_counter() - started) * 1000, fault)


def _reason(error: Exception) -> str:
    if "statement timeout" in str(error):
        return f"took longer than {settings.FABRIC['ARM_MS']} ms"
    return f"failed: {type(error).__name__}"
