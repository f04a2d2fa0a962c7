"""Work in the background: reading sources and texts, giving nodes their vectors."""

from __future__ import annotations

from celery import shared_task

from connections.models import Project, Source
from connections.providers.chat import ModelUnavailable
from connections.sources.base import SourceBusy, SourceError
from graph.asking import ask_about
from graph.embed import embed_backlog
from graph.extraction_settings import asked_model
from graph.ingest import ingest


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


@shared_task(ignore_result=True, expires=60)
def embed_waiting() -> None:
    """Give every node without one its vector."""
    embed_backlog()


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
