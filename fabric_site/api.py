"""Addresses of the REST API, under `/api/v1/`."""

from __future__ import annotations

from csp.decorators import csp_update
from django.urls import include, path, re_path
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

import connections.api.schema  # noqa: F401 - the token scheme registers itself
from connections.api.database_exposures import ExposuresView
from connections.api.databases import DatabaseViewSet
from connections.api.problems import unknown_address
from connections.api.views import ProjectViewSet
from graph.api.reviews import ReportView, ReviewItemViewSet, TrashViewSet
from graph.api.views import EdgeViewSet, NodeViewSet, PathsView, StatisticsView
from memory.api.databases import (
    DatabaseAskView,
    DatabaseQueryView,
    RunViewSet,
    SavedQueryViewSet,
)
from memory.api.gk import EnvironmentsView, MemoryGraphView
from memory.api.observations import ContextView, ObservationViewSet, SyncView
from memory.api.views import ChatView, ConversationViewSet, StopView
from retrieval.api.views import SearchView

router = SimpleRouter(use_regex_path=False)
router.register("projects", ProjectViewSet)
router.register("connections/databases", DatabaseViewSet)
router.register("graph/nodes", NodeViewSet)
router.register("graph/edges", EdgeViewSet)
router.register("connections/queries", RunViewSet)
router.register("connections/saved-queries", SavedQueryViewSet)
router.register("memory/conversations", ConversationViewSet)
router.register("memory/observations", ObservationViewSet)
router.register("review/items", ReviewItemViewSet)
router.register("review/trash", TrashViewSet)

schema = SpectacularAPIView.as_view()
# The page styles itself by style elements; the policy allows none elsewhere.
docs = csp_update({"style-src": ["'unsafe-inline'"]})(
    SpectacularSwaggerSplitView.as_view(url_name="schema")
)

urlpatterns = [
    *router.urls,
    path("graph/paths/", PathsView.as_view(), name="paths"),
    path("graph/statistics/", StatisticsView.as_view(), name="statistics"),
    path("review/report/", ReportView.as_view(), name="review-report"),
    path("connections/databases/", include("connections.api.database_schema")),
    path(
        "connections/databases/<uuid:pk>/exposures/",
        ExposuresView.as_view(),
        name="database-exposures",
    ),
    path("search/", SearchView.as_view(), name="search"),
    path("memory/context/", ContextView.as_view(), name="memory-context"),
    path("memory/sync/", SyncView.as_view(), name="memory-sync"),
    path(
        "connections/databases/<uuid:pk>/query/",
        DatabaseQueryView.as_view(),
        name="database-query",
    ),
    path(
        "connections/databases/<uuid:pk>/ask/",
        DatabaseAskView.as_view(),
        name="database-ask",
    ),
    path("chat/", ChatView.as_view(), name="api-chat"),
    path("chat/turns/<int:turn>/stop/", StopView.as_view(), name="api-chat-stop"),
    # Published without a slash at the end; both are answered.
    path("memory/graph", MemoryGraphView.as_view(), name="memory-graph"),
    path("memory/graph/", MemoryGraphView.as_view(schema=None)),
    path("memory/environments", EnvironmentsView.as_view(), name="environments"),
    path("memory/environments/", EnvironmentsView.as_view(schema=None)),
    path("schema/", schema, name="schema"),
    path("docs/", docs, name="api-docs"),
    re_path("", csrf_exempt(unknown_address)),
]
