"""Addresses of the pages of databases."""

from __future__ import annotations

from django.urls import path

from memory.sql import pages, run_pages, turn_table_pages

urlpatterns = [
    path("databases/", pages.list_databases, name="databases"),
    path("databases/<uuid:pk>/", pages.show_database, name="database"),
    path("databases/<uuid:pk>/schema/", pages.show_schema, name="database_schema"),
    path("databases/<uuid:pk>/runs/", pages.show_runs, name="database_runs"),
    path("databases/<uuid:pk>/run/", run_pages.run, name="database_run"),
    path("databases/<uuid:pk>/ask/", run_pages.ask, name="database_ask"),
    path("databases/<uuid:pk>/cancel/", run_pages.cancel, name="database_cancel"),
    path("databases/<uuid:pk>/result.csv", run_pages.as_csv, name="database_csv"),
    path("databases/<uuid:pk>/saved/", run_pages.save, name="database_save"),
    path(
        "databases/<uuid:pk>/saved/<uuid:saved>/delete/",
        run_pages.delete,
        name="database_saved_delete",
    ),
    path(
        "turns/<int:pk>/tables/<int:place>/result.csv",
        turn_table_pages.turn_table_csv,
        name="turn_table_csv",
    ),
    path(
        "turns/<int:pk>/tables/<int:place>/verdict/",
        turn_table_pages.turn_table_verdict,
        name="turn_table_verdict",
    ),
]
