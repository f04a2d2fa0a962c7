"""A project goes out and comes back as it was, and nothing of another goes along."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.hashers import make_password

from connections.models import Audience, Audit, Database, Project, User
from graph.exporting.export import Options, export_graph
from graph.exporting.parts import concrete, left_out_models, ordered_parts, parts
from graph.exporting.restore import import_graph
from graph.models import Edge, Node, ReviewItem, Trashed
from memory.models import Conversation, Observation, ReferencedPair, Turn
from retrieval.models import Community
from tests.factories import NOON, make_node, make_project, make_token, make_user
from tests.graph.exporting.whole import CANARIES, make_whole

# Of other makers: accounts of the framework, sessions, schedules, results of tasks.
OTHERS_APPS = {
    "admin",
    "auth",
    "axes",
    "contenttypes",
    "sessions",
    "django_celery_beat",
    "django_celery_results",
    "sites",
}
# Derived, and made by others at the same time as this was.
