"""Which model answers for a project, and that its cost is counted and bounded."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from connections.models import ModelCredential, ModelUsage
from connections.providers.chat import (
    BadAnswer,
    Delta,
    Message,
    ModelRefused,
    ModelUnavailable,
)
from connections.providers.choice import model_for
from connections.secrets import Secret
from connections.usage import BudgetSpent, spent
from tests.connections.chat_server import (
    BUSY,
    ChatServer,
    broken_after,
    settings_for,
)
from tests.factories import make_project

pytestmark = pytest.mark.django_db

SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {}}}
TEXT = "It ships on Friday, after the tests."
QUESTION = Message("user", "When does it ship?")
NONE = dict.fromkeys(
    (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "CHAT_MODEL",
        "SMALL_MODEL",
    ),
    "",
)


@pytest.fixture
def server():
    with ChatServer() as server:
        server.reply = lambda messages, tools: TEXT
        yield server


@pytest.fixture(autouse=True)
def _no_keys(settings):
    settings.FABRIC = settings.FABRIC | NONE


@pytest.fixture
def credential(project, server):
    return make(project.tenant, None, server)


def make(tenant, project, server, **fields):
    fields = {"provider": "anthropic", "base_url": server.url, **fields}
    return ModelCredential.objects.create(
        tenant=tenant, project=project, **{"key": Secret("sk-tenant"), **fields}
    )


def ask(model):
    return "".join(
        piece.text
        for piece in model.stream("Be short.", [QUESTION], max_tokens=50)
        if isinstance(piece, Delta)
    )


def counted():
    return list(
        ModelUsage.objects.order_by("pk").values_list(
            "purpose",
            "requests",
            "failed",
            "tokens_read",
            "tokens_written",
            "estimated",
        )
    )


class TestWhoAnswers:
    def test_without_any_key_nobody(self, project):
        assert model_for(project) is None

    def test_the_projects_own_key_before_its_tenants(self, project, server, credential):
        beside = make_project("acme/beside")
        make(project.tenant, project, server, key=Secret("sk-own"), chat_model="mine")
        assert ask(model_for(project)) == TEXT
        assert ask(model_for(beside)) == TEXT
        first, second = server.asked
        assert "sk-own" in first["auth"]
        assert "sk-tenant" in second["auth"]
        assert (first["model"], second["model"]) == ("mine", "claude-sonnet-5-5")

    def test_never_another_tenants(self, other_project, credential):
        assert model_for(other_project) is None

    def test_a_disabled_key_opens_nothing(self, project, credential):
        ModelCredential.objects.update(enabled=False)
        assert model_for(project) is None

    def test_the_environments_where_none_is_stored(self, project, server, settings):
        settings.FABRIC = settings.FABRIC | settings_for(server, "anthropic")
        assert ask(model_for(project, purpose="small")) == TEXT
        assert server.asked[0]["model"] == "claude-haiku-5-5"
        settings.FABRIC = settings.FABRIC | {"CHAT_MODEL": "chosen"}
        ask(model_for(project))
        assert server.asked[1]["model"] == "chosen"

    def test_a_server_of_ones_own_needs_no_key(self, project, server, settings):
        url = f"{server.url}/v1"
        settings.FABRIC = settings.FABRIC | {"OPENAI_BASE_URL": url, "CHAT_MODEL": "q"}
        assert ask(model_for(project)) == TEXT
        assert server.asked[0]["model"] == "q"

    def test_a_key_that_does_not_open_says_so(self, project, credential, settings):
        settings.FIELD_ENCRYPTION_KEYS = ("x:" + "eHh4" * 10 + "eHg=",)
        with pytest.raises(ModelRefused, match="FIELD_ENCRYPTION_KEYS no longer holds"):
            model_for(project)

    def test_one_key_is_enabled_a_scope(self, project, server, credential):
        with pytest.raises(IntegrityError), transaction.atomic():
            make(project.tenant, None, server)

    def test_a_key_for_a_project_of_another_tenant_is_refused(
        self, project, other_project, server
    ):
        make(project.tenant, other_project, server)
        with pytest.raises(IntegrityError), transaction.atomic():
            connection.check_constraints()
        ModelCredential.objects.all().delete()


class TestCosts:
    def test_of_a_day_are_added_up(self, project, credential):
        for _ in range(3):
            ask(model_for(project))
        ask(model_for(project, purpose="small"))
        assert counted() == [("chat", 3, 0, 33, 21, 0), ("small", 1, 0, 11, 7, 0)]
        row = ModelUsage.objects.first()
        assert (row.tenant, row.project) == (project.tenant, project)
        assert (row.day, row.provider) == (timezone.localdate(), "anthropic")

    def test_of_a_structured_answer_are_counted(self, project, server, credential):
        server.reply = lambda messages, tools: '{"n": 1}'
        answer = model_for(project).structured("s", "u", SCHEMA, max_tokens=9)
        assert answer.parsed == {"n": 1}
        assert counted() == [("chat", 1, 0, 11, 7, 0)]

    def test_of_a_bad_answer_are_counted(self, project, server, credential):
        with pytest.raises(BadAnswer):
            model_for(project).structured("s", "u", SCHEMA, max_tokens=9)
        assert counted() == [("chat", 1, 1, 11, 7, 0)]

    def test_of_a_request_that_nobody_took_are_none(
        self, project, server, credential, settings
    ):
        settings.FABRIC = settings.FABRIC | {"MODEL_RETRIES": 0}
        server.faults = [(529, BUSY), (529, BUSY)]
        with pytest.raises(ModelUnavailable):
            ask(model_for(project))
        with pytest.raises(ModelUnavailable):
            model_for(project).structured("s", "u", SCHEMA, max_tokens=9)
        assert counted() == [("chat", 2, 2, 0, 0, 0)]

    def test_of_a_broken_stream_are_what_is_known_and_an_estimate(
        self, project, server, credential
    ):
        server.faults = [broken_after(6)]
        with pytest.raises(ModelUnavailable):
            ask(model_for(project))
        ((_, requests, failed, read, written, estimated),) = counted()
        assert (requests, failed, read) == (1, 1, 11)
        assert written == -(-len("It ships on ") // 4)
        assert estimated == read + written

    def test_of_a_stream_that_was_closed_are_counted_once(
        self, project, server, credential
    ):
        server.pace = 0.02
        pieces = model_for(project).stream("", [QUESTION], max_tokens=9)
        next(pieces)
        pieces.close()
        pieces.close()
        assert server.left.wait(1)
        assert list(pieces) == []
        ((_, requests, failed, read, _, estimated),) = counted()
        assert (requests, failed, read, estimated > 11) == (1, 0, 11, True)

    def test_of_a_stream_that_was_let_go_are_counted(self, project, server, credential):
        server.pace = 0.02
        pieces = model_for(project).stream("", [QUESTION], max_tokens=9)
        next(pieces)
        del pieces
        assert counted()[0][:4] == ("chat", 1, 0, 11)

    def test_of_a_stream_that_another_thread_closed_are_counted_by_its_reader(
        self, project, server, credential
    ):
        server.pace = 0.05
        pieces = model_for(project).stream("", [QUESTION], max_tokens=9)
        next(pieces)
        threading.Timer(0.12, pieces.close).start()
        list(pieces)
        assert counted()[0][:3] == ("chat", 1, 0)

    def test_that_nobody_asked_for_are_none(self, project, server, credential):
        model_for(project).stream("", [QUESTION], max_tokens=9).close()
        assert (counted(), server.asked) == ([], [])

    def test_are_kept_apart_by_project(
        self, project, other_project, server, credential
    ):
        make(other_project.tenant, None, server)
        ask(model_for(project))
        ask(model_for(other_project))
        today = timezone.localdate()
        assert [spent(p, today) for p in (project, other_project)] == [18, 18]
        assert spent(project, today - timedelta(days=1)) == 0
        assert spent(make_project("acme/none"), today) == 0


class TestBudgets:
    def test_what_is_spent_opens_again_tomorrow(self, project, server, credential):
        project.tokens_a_day = 18
        project.save()
        model = model_for(project)
        ask(model)
        with pytest.raises(BudgetSpent, match="used its 18 tokens of today") as caught:
            model_for(project)
        opens = timezone.localtime(caught.value.opens_at)
        tomorrow = timezone.localdate() + timedelta(days=1)
        assert (opens.date(), opens.hour, opens.minute) == (tomorrow, 0, 0)
        assert str(tomorrow) in str(caught.value)
        # Nor does a model that was chosen before.
        for asked in (
            lambda: ask(model),
            lambda: model.structured("s", "u", SCHEMA, max_tokens=9),
        ):
            with pytest.raises(BudgetSpent):
                asked()
        assert len(server.asked) == 1

    def test_yesterday_does_not_count(self, project, credential):
        project.tokens_a_day = 18
        ask(model_for(project))
        ModelUsage.objects.update(day=timezone.localdate() - timedelta(days=1))
        assert ask(model_for(project)) == TEXT

    def test_the_installations_holds_where_a_project_has_none(
        self, project, credential, settings
    ):
        settings.FABRIC = settings.FABRIC | {"TOKENS_A_DAY": 1}
        ask(model_for(project))
        with pytest.raises(BudgetSpent):
            model_for(project)
        project.tokens_a_day = 0
        assert ask(model_for(project)) == TEXT

    def test_another_projects_is_its_own(self, project, credential):
        beside = make_project("acme/beside")
        project.tokens_a_day = 1
        ask(model_for(project))
        assert ask(model_for(beside)) == TEXT

    def test_the_day_is_that_of_the_site(self, project, credential, settings):
        settings.TIME_ZONE = "Pacific/Kiritimati"
        timezone.get_default_timezone.cache_clear()
        try:
            project.tokens_a_day = 1
            ask(model_for(project))
            with pytest.raises(BudgetSpent) as caught:
                model_for(project)
        finally:
            settings.TIME_ZONE = "UTC"
            timezone.get_default_timezone.cache_clear()
        assert isinstance(caught.value.opens_at, datetime)
        assert caught.value.opens_at.utcoffset() == timedelta(hours=14)
