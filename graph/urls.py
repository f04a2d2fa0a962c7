"""Addresses of the graph's pages."""

from __future__ import annotations

from django.urls import path

from graph import pages, picture_pages, trail_pages, walk_pages

urlpatterns = [
    path("graph/", picture_pages.graph_page, name="graph"),
    path("nodes/<int:pk>/", pages.node, name="node"),
    path("nodes/<int:pk>/timeline/", walk_pages.timeline, name="timeline"),
    path("nodes/<int:pk>/paths/", walk_pages.paths, name="paths"),
    path(
        "nodes/<int:pk>/provenance/",
        trail_pages.node_provenance,
        name="node_provenance",
    ),
    path(
        "edges/<int:pk>/provenance/",
        trail_pages.edge_provenance,
        name="edge_provenance",
    ),
    path("records/<int:pk>/caused/", trail_pages.record_caused, name="record_caused"),
]
