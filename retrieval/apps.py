from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    name = "retrieval"
    verbose_name = "Retrieval"

    def ready(self) -> None:
        from graph.ingest import after_runs
        from retrieval.arms import graph, keyword, vector, walk  # noqa: F401 - register
        from retrieval import rerank_onnx  # noqa: F401 - registers itself
        from retrieval.frequencies import count_lexemes

        after_runs.add("count lexemes", count_lexemes)
