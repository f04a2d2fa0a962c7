from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class GraphConfig(AppConfig):
    name = "graph"
    verbose_name = "Graph"

    def ready(self) -> None:
        from graph.embed import embedders

        name = settings.FABRIC["EMBEDDER"]
        if name not in embedders:
            known = ", ".join(sorted(embedders))
            raise ImproperlyConfigured(
                f"FABRIC_EMBEDDER={name!r} is not one of {known}."
            )
