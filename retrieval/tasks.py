"""Work in the background: communities of the graphs that changed."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from connections.models import Project
from retrieval.communities.refresh import (
    RefreshBusy,
    due_projects,
    refresh_communities,
)


@shared_task(ignore_result=True, expires=120)
def refresh_due_communities() -> None:
    """Find the communities of every project whose graph changed enough, each in a
    task of its own."""
    for project_id in due_projects(timezone.now()):
        refresh_project_communities.delay(project_id)


@shared_task(ignore_result=True, expires=600)
def refresh_project_communities(project_id: int) -> None:
    """Find one project's communities; another worker that does so is enough."""
    project = Project.objects.select_related("tenant").filter(pk=project_id).first()
    if project is None or project_id not in due_projects(timezone.now()):
        return
    try:
        refresh_communities(project)
    except RefreshBusy:
        return
