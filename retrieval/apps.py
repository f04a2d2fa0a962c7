from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    name = "retrieval"
    verbose_name = "Retrieval"

    def ready(self) -> None:
        from graph.ingest import after_runs
        from retrieval import (  # noqa: F401 - each registers itself
            erasing,
            exporting,
            rerank_model,
            rerank_onnx,
            trails,
        )
        from retrieval.arms import (  # noqa: F401 - each registers itself
            community,
            filename,
            graph,
            keyword,
            tags,
            vector,
            walk,
        )
        from retrieval.communities.refresh import note_growth
        from retrieval.frequencies import count_lexemes

        after_runs.add("count lexemes", count_lexemes)
        after_runs.add("note growth for communities", note_growth)
