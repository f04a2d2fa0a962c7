from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"
    verbose_name = "Memory"

    def ready(self) -> None:
        from connections.databases.discovery import after_discovery
        from graph.ingest import after_runs
        from memory import (  # noqa: F401 - each registers itself
            edge_tasks,
            edge_uses,
            erasing,
            exporting,
            figures,
            records,
            repointing,
            review_finders,
            review_kinds,
            trails,
        )
        from memory.fading import due_nodes
        from memory.sql import agent_tool  # noqa: F401 - it registers itself
        from memory.support import check_support
        from memory.tasks import retest_soon
        from retrieval.search import left_out

        review_kinds.register()
        after_runs.add("check what memory rests on", check_support)
        after_discovery.add("test verified examples", retest_soon)
        left_out.add("faded memories", due_nodes)
