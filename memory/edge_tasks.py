"""Work in the background: edges learn from the answers that they led to."""

from __future__ import annotations

from celery import shared_task

from memory.edge_uses import count_waiting, forget_unused


@shared_task(name="memory.count_edge_uses", ignore_result=True, expires=120)
def count_edge_uses() -> None:
    """Count the edges that led to what the latest turns cited."""
    count_waiting()


@shared_task(name="memory.forget_edge_uses", ignore_result=True, expires=3600)
def forget_edge_uses() -> None:
    """Delete the counts that have faded away."""
    forget_unused()
