from __future__ import annotations

import threading
import time

import pytest
from django.conf import settings
from django.db import connection

from benchmarks.streams import crowd
from connections.providers.chat import Delta, Finished
from graph.embed import embed_backlog
from memory.agent import database, run, storing
from memory.models import Turn
from retrieval.frequencies import count_lexemes
from tests.factories import make_member, make_node, make_project, make_token
from tests.memory.agent.models import USAGE, ScriptedModel

STREAMS, FLOOR = 50, 50


@pytest.fixture
def asked(transactional_db):
    project = make_project()
    member = make_member(project)
    make_node(project, "m1", "The pump of line 4 failed because its seal was dry.")
    embed_backlog(project.pk)
    count_lexemes(project, always=True)
    token = make_token(member, project.tenant)
    connection.close()
    return token, project.path


class SlowModel(ScriptedModel):
    """Takes a second for its answer, as models do, and notes how many wait at once."""

    waiting = most = 0
    lock = threading.Lock()

    def stream(self, *args, **kwargs):
        with self.lock:
            SlowModel.waiting += 1
            SlowModel.most = max(self.most, self.waiting)
        time.sleep(3)
        yield Delta("The pump failed because its seal was dry [1].")
        with self.lock:
            SlowModel.waiting -= 1
        yield Finished("end", (), USAGE)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("offline", [True, False])
def test_fifty_streams_at_once_all_end_and_the_pool_stays_bounded(
    asked, monkeypatch, offline
):
    model = None if offline else SlowModel([])
    SlowModel.waiting = SlowModel.most = 0
    monkeypatch.setattr(run, "model_for", lambda project, purpose="chat": model)
    monkeypatch.setattr(storing, "_remember", lambda turn: None)
    monkeypatch.setitem(settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "user", None)
    found = crowd(*asked, ["Why did the pump of line 4 fail?"] * STREAMS)
    assert len(found.streams) >= FLOOR
    assert found.broken == 0, found.streams
    assert Turn.objects.filter(state="done").count() == STREAMS
    pool = settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]
    assert found.sessions <= pool + 8, "arms, and those of the test"
    if not offline:
        assert SlowModel.most > pool, "more wait for the model than the pool has"


@pytest.mark.django_db(transaction=True)
def test_a_connection_is_given_back_whenever_the_database_is_not_asked(asked):
    with database.database():
        Turn.objects.count()
        assert connection.connection is not None
    assert connection.connection is None
