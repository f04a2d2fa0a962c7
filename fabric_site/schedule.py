"""What runs by itself, and every how many seconds."""

from __future__ import annotations

from typing import Any

JOBS: dict[str, dict[str, Any]] = {
    "give waiting nodes their vectors": {
        "task": "graph.tasks.embed_waiting",
        "schedule": 60,
    },
    "fit the index of vectors to them": {
        "task": "graph.tasks.refresh_vector_index",
        "schedule": 86_400,
    },
    "ask a model about new texts": {
        "task": "graph.tasks.ask_about_waiting",
        "schedule": 300,
    },
    "lay out graphs": {"task": "graph.tasks.lay_out_due", "schedule": 900},
    "refresh communities": {
        "task": "retrieval.tasks.refresh_due_communities",
        "schedule": 60,
    },
    "end idle conversations": {
        "task": "memory.tasks.end_idle_conversations",
        "schedule": 60,
    },
    "let faded memories go": {"task": "memory.tasks.let_leave", "schedule": 60},
    "close memories that nothing supports": {
        "task": "memory.tasks.close_unproven",
        "schedule": 3600,
    },
    "delete what left memory": {
        "task": "memory.tasks.delete_faded",
        "schedule": 3600,
    },
    "learn from the use of edges": {
        "task": "memory.count_edge_uses",
        "schedule": 120,
    },
    "forget unused edges": {"task": "memory.forget_edge_uses", "schedule": 86_400},
    "remember turns whose task was lost": {
        "task": "memory.remember_late_turns",
        "schedule": 600,
    },
    "end runs whose process was lost": {
        "task": "connections.tasks.end_lost_runs",
        "schedule": 60,
    },
    "discover the schemas of databases": {
        "task": "connections.tasks.discover_databases",
        "schedule": 86_400,
    },
    "test verified examples again": {
        "task": "memory.tasks.retest_examples",
        "schedule": 86_400,
    },
    "check the graphs": {"task": "graph.tasks.check_graphs", "schedule": 86_400},
    "count what came in today": {
        "task": "graph.tasks.count_all_figures",
        "schedule": 300,
        "args": (False,),
    },
    "count the graphs": {
        "task": "graph.tasks.count_all_figures",
        "schedule": 3600,
        "args": (True,),
    },
    "empty the trash": {"task": "graph.tasks.empty_trash", "schedule": 3600},
    "look for what should be reviewed": {
        "task": "graph.tasks.scan_projects",
        "schedule": 86_400,
    },
    "go on with erasures": {
        "task": "graph.tasks.carry_on_erasures",
        "schedule": 3600,
    },
    "seal the audit": {"task": "connections.tasks.seal_audit", "schedule": 60},
    "verify the audit": {
        "task": "connections.tasks.verify_audit",
        "schedule": 86_400,
    },
    "erase old details of the audit": {
        "task": "connections.tasks.erase_audit_details",
        "schedule": 86_400,
    },
}
