"""Addresses of the chat and of the memory page."""

from __future__ import annotations

from django.urls import include, path

from memory import gk_pages, memory_pages, pages, trail_pages, turn_pages

urlpatterns = [
    path("", pages.chat, name="chat"),
    path("memory/graph/", gk_pages.memory_graph_page, name="memory_graph"),
    path("ask/", pages.ask_question, name="ask"),
    path("conversations/", pages.list_conversations, name="conversations"),
    path("conversations/<uuid:pk>/", pages.conversation, name="conversation"),
    path(
        "conversations/<uuid:pk>/rename/",
        pages.rename_conversation,
        name="conversation_rename",
    ),
    path(
        "conversations/<uuid:pk>/pin/",
        pages.pin_conversation,
        name="conversation_pin",
    ),
    path(
        "conversations/<uuid:pk>/delete/",
        pages.delete_conversation,
        name="conversation_delete",
    ),
    path("turns/<int:pk>/", turn_pages.turn, name="turn"),
    path("turns/<int:pk>/answer.md", turn_pages.copy, name="turn_copy"),
    path(
        "turns/<int:pk>/provenance/",
        trail_pages.turn_provenance,
        name="turn_provenance",
    ),
    path("turns/<int:pk>/feedback/", turn_pages.feedback, name="turn_feedback"),
    path("turns/<int:pk>/remembered/", memory_pages.remembered, name="turn_remembered"),
    path("memory/", memory_pages.memory, name="memory"),
    path(
        "memory/<int:pk>/<slug:act>/",
        memory_pages.change,
        name="observation_change",
    ),
    path("", include("memory.sql.urls")),
]
