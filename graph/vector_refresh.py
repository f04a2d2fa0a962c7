"""The vector index made anew where it is fitted to other vectors than there are.

Searches go on: the new index is built beside the present one, takes its name, and the
former is dropped once no process asks by it any more.
"""

from __future__ import annotations

import json
import math
import time

from django.db import connections, transaction

from graph.embed import MODEL_SECONDS, forget_model
from graph.models import EmbeddingModel
from graph.reembed import filling, only_one
from graph.vector_index import INDEX, center_of, index_exists, index_sql

# A center 0.15 from the mean of its vectors gives the index three quarters of the recall
# that one at the mean does, one at 0.2 half of it.
MOST_OFF = 0.1
FRESH, FORMER = f"{INDEX}_fresh", f"{INDEX}_former"
# Every process has looked the model up again by then, and ended what it asked before.
PATIENCE_SECONDS = 3.0 * MODEL_SECONDS


def refresh_index(*, patience: float = PATIENCE_SECONDS) -> bool:
    """Build the index of vectors anew where its center is off; say whether it was.

    Killed at any point it leaves an index that searches use; the next call tidies up.
    Raises `ReembedBusy` where another process changes vectors.
    """
    with only_one():
        if filling() or not index_exists():
            return False
        for left in (FORMER, FRESH):
            _drop(left)
        model = EmbeddingModel.objects.using("owner").get(is_active=True)
        center = center_of(model)
        if not is_off(model.center, center):
            return False
        model.center = center
        with connections["owner"].cursor() as cursor:
            fresh = index_sql(model, name=FRESH)
            cursor.execute(f"CREATE INDEX CONCURRENTLY {fresh}")
        _switch(model)
        time.sleep(patience)
        _drop(FORMER)
    return True


def is_off(center: str, wanted: str) -> bool:
    """Say whether an index about `center` should be one about `wanted`."""
    if not center or not wanted:
        return center != wanted
    return math.dist(json.loads(center), json.loads(wanted)) > MOST_OFF


def _switch(model: EmbeddingModel) -> None:
    """Give the fresh index the name and the row its center, both or neither."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(f"ALTER INDEX {INDEX} RENAME TO {FORMER}")
        cursor.execute(f"ALTER INDEX {FRESH} RENAME TO {INDEX}")
        model.save(using="owner", update_fields=["center"])
    forget_model()


def _drop(name: str) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
