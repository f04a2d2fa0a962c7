"""Work in the background: reading sources, giving nodes their vectors."""

from __future__ import annotations

from celery import shared_task

from connections.models import Source
from connections.sources.base import SourceBusy, SourceError
from graph.embed import embed_backlog
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
