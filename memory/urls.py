"""Addresses of the chat."""

from __future__ import annotations

from django.urls import path

from memory import gk_pages, pages

urlpatterns = [
    path("", pages.chat, name="chat"),
    path("memory/graph/", gk_pages.memory_graph_page, name="memory_graph"),
    path("ask/", pages.ask_question, name="ask"),
    path("conversations/<uuid:pk>/", pages.conversation, name="conversation"),
    path(
        "conversations/<uuid:pk>/rename/",
        pages.rename_conversation,
        name="conversation_rename",
    ),
    path(
        "conversations/<uuid:pk>/delete/",
        pages.delete_conversation,
        name="conversation_delete",
    ),
]
