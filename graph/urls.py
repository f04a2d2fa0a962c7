"""Addresses of the graph's pages."""

from __future__ import annotations

from django.urls import path

from graph import pages

urlpatterns = [path("nodes/<int:pk>/", pages.node, name="node")]
