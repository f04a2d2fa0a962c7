from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from connections.registry import UnknownName
from fabric_site.schedule import JOBS
from graph.models import Node, ReviewItem
from graph.review.flagging import Flags
from graph.review.kinds import finders
from graph.review.scanning import scan
from graph.tasks import scan_project, scan_projects
from tests.factories import (
    NOON,
    make_edge,
    make_node,
    make_project,
    make_review_item,
)
from tests.graph.review.items import flagged, items

OURS = ("stale", "vanished", "low_confidence", "identity", "contradiction")
QUEUE = {"graph_review_items", "graph_review_items_id_seq"}


def look(project):
    """Scan for our own kinds: what other finders find is for their tests to say."""
    return scan(project, now=NOON, kinds=OURS)


def every_row():
    """Return the rows of every table of the database but the queue's, as text."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_stat_user_tables WHERE schemaname = 'public'"
        )
        tables = sorted({row[0] for row in cursor.fetchall()} - QUEUE)
        found = {}
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t ORDER BY 1')  # noqa: S608
            found[table] = cursor.fetchall()
    return found


@pytest.fixture
def world(project):
    """A stale decision, one that vanished and is referred to, one hedged, and a tie."""
    old = make_node(
        project,
        "old",
        "We will use Redis for the queue.",
        node_type="decision",
        occurred_at=NOON - timedelta(days=200),
    )
    gone = make_node(project, "gone", "The plan.", gone_at=NOON)
    reply = make_node(project, "reply", "I like it.")
    make_edge(reply, gone, "replied_to")
    hedged = make_node(
        project,
        "hedged",
        "Perhaps we chose Celery.",
        node_type="decision",
        origin="extraction",
        occurred_at=NOON,
    )
    hedged.evidence.update(quote="Perhaps we chose Celery.")
    other = make_node(
        project,
        "other",
        "We stopped using Redis for the queue.",
        node_type="decision",
        occurred_at=NOON - timedelta(days=2),
    )
    return {"old": old, "gone": gone, "hedged": hedged, "other": other}


@pytest.mark.django_db
class TestAScan:
    def test_every_kind_is_looked_for(self, project, world):
        assert set(OURS) <= set(finders)
        found = look(project)
        assert {kind: found[kind].created for kind in OURS} == {
            "stale": 1,
            "vanished": 1,
            "low_confidence": 1,
            "identity": 0,
            "contradiction": 1,
        }
        assert {item.state for item in ReviewItem.objects.all()} == {"open"}

    def test_it_removes_and_changes_nothing_but_the_queue(self, project, world):
        before = every_row()
        assert len(before) >= 40
        assert sum(map(len, before.values())) >= 20
        look(project)
        assert ReviewItem.objects.count() == 4
        assert every_row() == before

    def test_a_second_one_changes_nothing_at_all(self, project, world):
        look(project)
        before = list(ReviewItem.objects.order_by("id").values())
        found = look(project)
        assert len(before) == 4
        assert sum(flags.unchanged for flags in found.values()) == 4
        assert {flags.created + flags.changed for flags in found.values()} == {0}
        assert list(ReviewItem.objects.order_by("id").values()) == before

    def test_another_project_is_left_alone(self, project, world):
        quiet = make_project("acme/quiet")
        found = look(quiet)
        assert set(found.values()) == {Flags()}
        assert not ReviewItem.objects.exists()

    def test_only_the_kinds_that_were_asked_for(self, project, world):
        assert set(scan(project, now=NOON, kinds=["stale"])) == {"stale"}
        with pytest.raises(UnknownName, match=r"'rust'; there are: .*stale"):
            scan(project, now=NOON, kinds=["rust"])

    def test_snoozed_items_whose_day_has_come_are_open(self, project, world):
        for key, days in (("old", 0), ("other", 1)):
            make_review_item(
                project,
                world[key],
                state="snoozed",
                snoozed_until=NOON + timedelta(days=days),
            )
        found = [flagged(world[key]) for key in ("old", "other")]
        with patch.dict(finders, {"stale": lambda *_: found}, clear=True):
            scan(project, now=NOON)
        assert [item.state for item in items(project)] == ["open", "snoozed"]

    def test_one_that_died_is_run_again_and_gives_the_same(self, project, world):
        def dies(project, now):
            raise RuntimeError("the power went")

        with patch.dict(finders, {"low_confidence": dies}), pytest.raises(RuntimeError):
            look(project)
        look(project)
        kept = {(i.kind, i.subject, i.state) for i in ReviewItem.objects.all()}
        ReviewItem.objects.all().delete()
        look(project)
        assert kept == {(i.kind, i.subject, i.state) for i in ReviewItem.objects.all()}
        assert len(kept) == 4

    def test_what_was_met_again_leaves_the_queue(self, project, world):
        look(project)
        Node.objects.filter(key="old").update(confirmed_at=NOON)
        assert look(project)["stale"] == Flags(withdrawn=1)


@pytest.mark.django_db
class TestTheCommandAndTheTask:
    def told(self, *arguments):
        out = StringIO()
        call_command("scan_stale", "--project", "acme/main", *arguments, stdout=out)
        return out.getvalue()

    def test_the_command_tells_what_became_of_each_kind(self, project, world):
        answer = json.loads(self.told("--json"))
        assert answer["project"] == "acme/main"
        assert set(OURS) <= set(answer["kinds"])
        assert set(answer["kinds"]["stale"]) == {
            *("created", "reopened", "unchanged", "withdrawn", "changed")
        }
        said = self.told("--kind", "stale")
        assert said.startswith("stale: 0 created, 0 reopened, ")
        assert "nothing was removed" in said

    def test_a_wrong_kind_or_project_is_a_clear_error(self, project):
        with pytest.raises(CommandError, match="'rust'; there are: "):
            self.told("--kind", "rust")
        with pytest.raises(CommandError, match="no project nobody/here"):
            call_command("scan_stale", "--project", "nobody/here")

    def test_the_nightly_task_scans_every_project(self, project, world):
        assert JOBS["look for what should be reviewed"] == {
            "task": "graph.tasks.scan_projects",
            "schedule": 86_400,
        }
        quiet = make_project("acme/quiet")
        with patch("graph.tasks.scan_project.delay") as delay:
            scan_projects()
        assert {call.args for call in delay.call_args_list} == {
            (project.pk,),
            (quiet.pk,),
        }
        scan_project(project.pk)
        assert ReviewItem.objects.filter(project=project).exists()
        scan_project(10**9)
