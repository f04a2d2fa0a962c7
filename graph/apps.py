from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class GraphConfig(AppConfig):
    name = "graph"
    verbose_name = "Graph"

    def ready(self) -> None:
        from django.db.models.signals import pre_delete

        from connections.models import Database
        from graph.databases import on_deletion
        from graph.embed import embedders
        from graph.figures import of_graph  # noqa: F401 - it registers itself
        from graph.ingest import after_runs
        from graph.review import (  # noqa: F401 - each registers itself
            find_duplicates,
            find_identity,
            find_low_confidence,
            find_stale,
            find_vanished,
            own_kinds,
            reliances,
        )
        from graph.review.find_orphans import queue_new_orphans

        own_kinds.register()
        after_runs.add("queue orphans", queue_new_orphans)
        # Its nodes cannot go by a cascade: no foreign key leads from connections here.
        pre_delete.connect(on_deletion, sender=Database)

        name = settings.FABRIC["EMBEDDER"]
        if name not in embedders:
            known = ", ".join(sorted(embedders))
            raise ImproperlyConfigured(
                f"FABRIC_EMBEDDER={name!r} is not one of {known}."
            )
