"""Work in the background: reading sources and texts, giving nodes their vectors."""

from __future__ import annotations

import time

from celery import Task, shared_task
from django.utils import timezone

from connections.models import Project, Source
from connections.providers.base import ProviderError
from connections.providers.chat import ModelUnavailable
from connections.sources.base import SourceBusy, SourceError
from graph.asking import ask_about
from graph.checking import check_graph
from graph.embed import embed_backlog
from graph.erasing import carry_on
from graph.erasing_plan import ErasingError
from graph.extraction_settings import asked_model
from graph.figures.keeping import count_figures
from graph.ingest import ingest
from graph.layouts import is_due, lay_out
from graph.models import DailyFigure, EmbeddingModel, Erasure
from graph.reembed import (
    OutOfTime,
    ReembedBusy,
    ReembedCancelled,
    ReembedError,
    Wanted,
)
from graph.reembed import reembed as change_model
from graph.review.pruning import purge_due
from graph.review.scanning import scan
from graph.vector_refresh import refresh_index

# A part of a long filling; the next is a task of its own, so that a worker that is
# killed or restarted loses little.
REEMBED_SLICE_SECONDS = 1200
# Building an index of millions of vectors is one statement.
REEMBED_LIMIT_SECONDS = 6 * 3600
# A day is long, and tomorrow's scan goes on where this one was ended.
SCAN_LIMIT_SECONDS = 3600
ERASING_LIMIT_SECONDS = 6 * 3600


@shared_task(ignore_result=True)
def read_source(source_id: int) -> None:
    """Read a source once; its run says what came of it, also when it failed."""
    source = (
        Source.objects.select_related("project__tenant").filter(pk=source_id).first()
    )
    if source is None:
        return
    try:
        ingest(source)
    except SourceBusy:
        return
    except SourceError:
        # The run's row has the reason; trying again would not change it.
        pass
    embed_backlog(source.project_id)
    of_graph = DailyFigure.objects.filter(project_id=source.project_id, name="nodes")
    if not of_graph.exists():  # else within the hour
        count_figures_of.delay(source.project_id, True)


@shared_task(ignore_result=True, expires=60)
def embed_waiting() -> None:
    """Give every node without one its vector."""
    embed_backlog()


@shared_task(
    bind=True,
    ignore_result=True,
    max_retries=20,
    time_limit=REEMBED_LIMIT_SECONDS,
    soft_time_limit=REEMBED_LIMIT_SECONDS - 60,
)
def reembed(self: Task, model_id: int) -> None:
    """Fill the vectors of a model and make it the active one, a part at a time.

    The model's row shows how far it is, and why it stopped. What passes (a provider
    that is down, a table in use) is tried again, ever more seldom.
    """
    model = EmbeddingModel.objects.filter(pk=model_id).first()
    if model is None or model.is_active:
        return
    try:
        change_model(Wanted.of(model), until=time.monotonic() + REEMBED_SLICE_SECONDS)
    except (ReembedBusy, ReembedCancelled):
        return
    except OutOfTime:
        reembed.delay(model_id)
    except (ProviderError, ReembedError) as error:
        EmbeddingModel.objects.filter(pk=model_id).update(error=str(error))
        wait = min(30 * 2**self.request.retries, 3600)
        raise self.retry(exc=error, countdown=wait) from error


@shared_task(
    ignore_result=True,
    expires=3600,
    time_limit=REEMBED_LIMIT_SECONDS,
    soft_time_limit=REEMBED_LIMIT_SECONDS - 60,
)
def refresh_vector_index() -> None:
    """Fit the index of vectors to those there are; tomorrow, where it is busy."""
    try:
        refresh_index()
    except ReembedBusy:
        return


@shared_task(
    ignore_result=True,
    expires=300,
    autoretry_for=(ModelUnavailable,),
    retry_backoff=True,
    max_retries=3,
)
def ask_about_texts(project_id: int) -> None:
    """Ask the configured model what the texts of a project say, where it was not."""
    project = Project.objects.select_related("tenant").filter(pk=project_id).first()
    if project is not None and asked_model():
        ask_about(project)


@shared_task(ignore_result=True, expires=300)
def ask_about_waiting() -> None:
    """Ask about the texts of every project; without a model there is nothing to do."""
    if asked_model():
        for project_id in Project.objects.order_by("pk").values_list("pk", flat=True):
            ask_about_texts.delay(project_id)


@shared_task(ignore_result=True, expires=3600)
def check_graphs() -> None:
    """Check and mend every project's graph, each in a task of its own."""
    for project_id in Project.objects.order_by("pk").values_list("pk", flat=True):
        check_one_graph.delay(project_id)


@shared_task(ignore_result=True, expires=6 * 3600)
def check_one_graph(project_id: int) -> None:
    """Check and mend one project's graph; the dashboard shows what is left."""
    project = Project.objects.select_related("tenant").filter(pk=project_id).first()
    if project is not None:
        check_graph(project, repair=True)


@shared_task(ignore_result=True, expires=3600)
def count_figures_of(project_id: int, reads_all: bool) -> None:
    """Count the figures of one project: those that read the whole graph, or the rest."""
    project = Project.objects.filter(pk=project_id).first()
    if project is not None:
        count_figures(project, reads_all=reads_all)


@shared_task(ignore_result=True, expires=300)
def count_all_figures(reads_all: bool) -> None:
    """Count the figures of every project, a task each."""
    for project_id in Project.objects.order_by("pk").values_list("pk", flat=True):
        count_figures_of.delay(project_id, reads_all)


@shared_task(ignore_result=True, expires=3600)
def empty_trash() -> None:
    """Delete for good what lay in the trash for 30 days."""
    purge_due()


@shared_task(ignore_result=True, expires=3600)
def scan_projects() -> None:
    """Look through every project for what should be reviewed, each in a task."""
    for project_id in Project.objects.order_by("pk").values_list("pk", flat=True):
        scan_project.delay(project_id)


@shared_task(
    ignore_result=True,
    time_limit=SCAN_LIMIT_SECONDS,
    soft_time_limit=SCAN_LIMIT_SECONDS - 60,
)
def scan_project(project_id: int) -> None:
    """Put into the queue of a project what should be reviewed; remove nothing."""
    project = Project.objects.select_related("tenant").filter(pk=project_id).first()
    if project is not None:
        scan(project, now=timezone.now())


@shared_task(
    ignore_result=True,
    time_limit=ERASING_LIMIT_SECONDS,
    soft_time_limit=ERASING_LIMIT_SECONDS - 60,
)
def carry_on_erasure(erasure_id: int) -> None:
    """Do what is left of an erasure; nothing where another process is at it."""
    erasure = (
        Erasure.objects.select_related("project__tenant").filter(pk=erasure_id).first()
    )
    if erasure is None:
        return
    try:
        carry_on(erasure)
    except ErasingError:
        # The hourly task comes back to it.
        return


@shared_task(ignore_result=True, expires=3600)
def carry_on_erasures() -> None:
    """Go on with every erasure that was left half done."""
    waiting = Erasure.objects.filter(state=Erasure.State.RUNNING)
    for erasure_id in waiting.order_by("pk").values_list("pk", flat=True):
        carry_on_erasure.delay(erasure_id)


@shared_task(ignore_result=True, expires=3600)
def lay_out_graph(project_id: int) -> None:
    """Find the places of a project's nodes, for its pictures."""
    project = Project.objects.select_related("tenant").filter(pk=project_id).first()
    if project is not None:
        lay_out(project)


@shared_task(ignore_result=True, expires=600)
def lay_out_due() -> None:
    """Have the graphs laid out that grew or shrank by a tenth since they were."""
    now = timezone.now()
    for project in Project.objects.select_related("tenant").order_by("pk"):
        if is_due(project, now):
            lay_out_graph.delay(project.pk)
