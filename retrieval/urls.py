"""Addresses of the search page."""

from __future__ import annotations

from django.urls import path

from retrieval import pages

urlpatterns = [
    path("search/", pages.search_page, name="search"),
    path(
        "search/neighbourhood/<int:pk>/",
        pages.neighbourhood,
        name="search_neighbourhood",
    ),
]
