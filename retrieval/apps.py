from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    name = "retrieval"
    verbose_name = "Retrieval"

    def ready(self) -> None:
        from graph.ingest import after_runs
        from retrieval.arms import community, filename, tags  # noqa: F401 - register
        from retrieval.communities.refresh import note_growth
        from retrieval.frequencies import count_lexemes

        after_runs.add("count lexemes", count_lexemes)
        after_runs.add("note growth for communities", note_growth)
