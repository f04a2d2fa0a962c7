"""Erasing a source or a person for good, in batches, with a report that proves it.

A killed erasure goes on where it was: its row says what was asked, every batch is one
transaction with its counts, and every later step may be made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from typing import TypeAlias

from django.db import IntegrityError, transaction
from django.utils import timezone

from connections.models import Project, Source, User, record_audit
from connections.roles import Act, must
from connections.sources.base import SourceBusy
from graph import erasing_sql
from graph.anonymous_messages import make_anonymous
from graph.copying import execute, fetch
from graph.erased_audiences import forget_audiences
from graph.erased_merges import forget_merges, merged_among
from graph.erased_names import keep_out
from graph.erased_person import forget_person
from graph.erased_records import Doomed, remove_records
from graph.erasers import settle_all
from graph.erasing_plan import ErasingError, Plan, check, subject_of
from graph.erasing_probes import Probes, probes_of_source
from graph.extraction import extract_texts
from graph.identity import refresh_persons
from graph.ingest import only_run_of
from graph.locks import lock_project
from graph.models import Erasure
from graph.residue import analyze, scan, vacuum
from graph.stand_ins import draw_stand_ins

BATCH, LOCK = 1000, 0x6572_6173  # "eras"
# Its own row holds what is looked for until it is finished.
NOT_SCANNED = ("graph_erasures",)

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an erasure did: rows gone by table, how much was read to prove it, and in
    how many rows of which columns something was found; never what."""

    erasure: int
    kind: str
    records: int
    counts: Mapping[str, int]
    tables: int
    columns: int
    rows: int
    vectors: int
    probes: int
    found: Mapping[str, int]

    @property
    def left(self) -> int:
        return sum(self.found.values())


def erase(
    plan: Plan,
    *,
    by: User | None,
    reason: str,
    token: str,
    progress: Progress | None = None,
) -> Report:
    """Erase what `plan` says, and return the proof; `by` is None for an operator.

    Raises `Outdated` where `token` is of another state, and `PermissionDenied` for
    who is no admin of the project.
    """
    erasure = begin(plan, by=by, reason=reason, token=token)
    return carry_on(erasure, progress=progress)


def begin(plan: Plan, *, by: User | None, reason: str, token: str) -> Erasure:
    """Write down what is to be erased, for `carry_on` to do."""
    if by is not None:
        must(by, Act.ERASE, plan.project.pk)
    check(plan, token)
    try:
        with transaction.atomic():
            erasure = Erasure.objects.create(
                tenant_id=plan.project.tenant_id,
                project=plan.project,
                kind=plan.kind,
                subject=subject_of(plan.project, plan.kind, plan.name),
                asked=_asked(plan),
                total=plan.records,
                reason=reason,
                asked_by=by,
            )
            if plan.kind == Erasure.Kind.PERSON:
                keep_out(
                    plan.project,
                    plan.keys,
                    plan.phrases,
                    own=plan.own_names if plan.keep_messages else (),
                    first=plan.first_scrubbed,
                    keeps_messages=plan.keep_messages,
                )
            _record(erasure, "erasure.begun", records=plan.records, reason=reason)
    except IntegrityError as error:
        raise ErasingError(
            "This is being erased already; `manage.py erase resume` goes on with it."
        ) from error
    return erasure


def carry_on(erasure: Erasure, *, progress: Progress | None = None) -> Report:
    """Do what is left of an erasure, and return its report."""
    with _alone(erasure):
        erasure.refresh_from_db()
        if erasure.state == Erasure.State.RUNNING:
            source = Source.objects.filter(pk=erasure.asked.get("source", 0)).first()
            try:
                analyze()
                with only_run_of(source) if source else nullcontext():
                    _remove_all(erasure, progress)
                    _derive_anew(erasure)
                    _forget_source(erasure, source)
                vacuum(erasure.counts)
            except SourceBusy as error:
                raise ErasingError(str(error)) from error
            _prove(erasure)
    return report_of(erasure)


def report_of(erasure: Erasure) -> Report:
    return Report(
        erasure=erasure.pk,
        kind=erasure.kind,
        records=erasure.done,
        counts=erasure.counts,
        **erasure.residue,
    )


def _asked(plan: Plan) -> dict[str, object]:
    if plan.source is not None:
        probes = probes_of_source(plan.source)
        return {
            "source": plan.source.pk,
            "name": plan.name,
            "audiences": [],
            "merged": [],
            "probes": asdict(probes),
        }
    return {
        "keys": list(plan.keys),
        "persons": list(plan.persons),
        "phrases": list(plan.phrases),
        "keep_messages": plan.keep_messages,
        "own": list(plan.own_names),
        "first": list(plan.first_scrubbed),
        "audiences": [],
        "merged": [],
        "probes": asdict(Probes([*plan.keys, *plan.persons, *plan.phrases], [])),
    }


@contextmanager
def _alone(erasure: Erasure) -> Iterator[None]:
    """Hold the erasure by a session lock, which the server drops if we are killed."""
    if not fetch("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, erasure.pk])[0][0]:
        raise ErasingError(f"Erasure {erasure.pk} is being carried out; wait for it.")
    try:
        yield
    finally:
        fetch("SELECT pg_advisory_unlock(%s, %s)", [LOCK, erasure.pk])


def _remove_all(erasure: Erasure, progress: Progress | None) -> None:
    asked = erasure.asked
    if asked.get("keep_messages"):
        # While the edges are there that say what is theirs.
        with transaction.atomic():
            lock_project(erasure.project)
            made = make_anonymous(erasure.project, asked["keys"], asked["own"])
            _count(erasure, made)
    while records := _next(erasure):
        batch = records[:BATCH]
        is_person = erasure.kind == Erasure.Kind.PERSON
        doomed = Doomed(
            source_id=erasure.asked.get("source", 0),
            records=records[BATCH:],
            wait=not is_person,
        )
        with transaction.atomic():
            _note(erasure, batch)
            counts = remove_records(erasure.project, batch, doomed)
            _count(erasure, counts, done=len(batch))
        if progress:
            progress(erasure.done, erasure.total)
    if erasure.kind == Erasure.Kind.PERSON:
        with transaction.atomic():
            _count(erasure, forget_person(erasure.project, erasure.asked))


def _next(erasure: Erasure) -> list[int]:
    """Return what is to go: of a source the next batch, of a person all of it."""
    scope = {"tenant": erasure.tenant_id, "project": erasure.project_id}
    if erasure.kind == Erasure.Kind.PERSON:
        stay = erasure.asked.get("keep_messages")
        whose = erasing_sql.ACCOUNTS if stay else erasing_sql.AUTHORED
        rows = fetch(whose, scope | {"keys": erasure.asked["keys"]})
    else:
        rows = fetch(
            erasing_sql.BATCH_OF_SOURCE,
            scope | {"source": erasure.asked["source"], "most": BATCH},
        )
    return [row[0] for row in rows]


def _note(erasure: Erasure, records: list[int]) -> None:
    """Note whom the records are shown to and what merges they are part of, for the
    steps that come when they are gone."""
    found = fetch(erasing_sql.NAMES_IN_AUDIENCES, {"records": records})
    erasure.asked["audiences"] = sorted(
        {row[0] for row in found} | set(erasure.asked["audiences"])
    )
    merged = merged_among(erasure.project, records)
    erasure.asked["merged"] = sorted({*merged, *erasure.asked["merged"]})


def _count(erasure: Erasure, counts: Mapping[str, int], *, done: int = 0) -> None:
    total = Counter(erasure.counts) + Counter(counts)
    erasure.counts = dict(sorted(total.items()))
    erasure.done += done
    erasure.save(update_fields=("counts", "done", "asked"))


def _derive_anew(erasure: Erasure) -> None:
    """Bring up to date what is derived from the whole project, without what went."""
    project: Project = erasure.project
    refresh_persons(project)
    draw_stand_ins(project)
    extract_texts(project)
    scope = {"tenant": project.tenant_id, "project": project.pk}
    with transaction.atomic():
        lock_project(project)
        counts = forget_merges(project, erasure.asked["merged"])
        counts["graph_nodes"] += execute(erasing_sql.FORGET_BARE_NODES, scope)
        counts["graph_checks"] += execute(erasing_sql.FORGET_EXAMPLES, scope)
        _count(erasure, counts)
    settle_all(project)


def _forget_source(erasure: Erasure, source: Source | None) -> None:
    """Delete the source itself, its runs and their errors, and who listened to it."""
    with transaction.atomic():
        scope = {"tenant": erasure.tenant_id, "project": erasure.project_id}
        counts: Counter[str] = Counter()
        if erasure.kind == Erasure.Kind.SOURCE:
            counts["audit_details"] = execute(
                erasing_sql.DETAILS_OF_TARGETS,
                scope | {"targets": [erasure.asked["name"]]},
            )
        if source is not None:
            _, gone = source.delete()
            counts.update({_table(name): number for name, number in gone.items()})
        counts["audiences"] = forget_audiences(
            erasure.project, erasure.asked["audiences"], erasure.asked.get("name", "")
        )
        _count(erasure, counts)


def _table(label: str) -> str:
    return label.replace(".", "_").lower()


def _prove(erasure: Erasure) -> None:
    """Read the whole database for what should be gone, and close the erasure."""
    probes = Probes(**erasure.asked["probes"])
    scanned = scan(
        probes.texts,
        vectors=probes.vectors,
        project=erasure.project,
        skip=NOT_SCANNED,
    )
    with transaction.atomic():
        erasure.residue = asdict(scanned) | {"probes": probes.count}
        erasure.asked, erasure.state = {}, Erasure.State.FINISHED
        erasure.finished_at = timezone.now()
        erasure.save()
        _record(erasure, "erasure.finished", left=scanned.left, rows=scanned.rows)


def _record(erasure: Erasure, verb: str, **detail: str | int) -> None:
    record_audit(
        verb,
        target=f"erasure:{erasure.pk}",
        project=erasure.project,
        actor=erasure.asked_by,
        kind=erasure.kind,
        **detail,  # type: ignore[arg-type] # words of the detail only
    )
