"""The admin of model keys: entered, replaced, tried, and never shown."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from connections.models import Audit, ModelCredential, ModelUsage, Role
from connections.secrets import Secret
from tests.connections.chat_server import ChatServer
from tests.factories import make_member, make_user

pytestmark = pytest.mark.django_db

KEY = "sk-very-secret-text"
LIST = "admin:connections_modelcredential_changelist"
BUTTON = "connections_modelcredential_save_and_test"
ADD = reverse("admin:connections_modelcredential_add")


@pytest.fixture
def server():
    with ChatServer() as server:
        yield server


@pytest.fixture
def clerk(project, client):
    """Staff with every permission, in one project of one tenant."""
    user = make_member(project, "clerk@acme.test", Role.ADMIN)
    user.is_staff = True
    user.save()
    user.user_permissions.set(Permission.objects.all())
    client.force_login(user)
    return user


@pytest.fixture
def credential(project):
    return ModelCredential.objects.create(
        tenant=project.tenant, provider="anthropic", key=Secret(KEY)
    )


def page_of(credential):
    return reverse("admin:connections_modelcredential_change", args=[credential.pk])


def form(project, **fields):
    fields = {"provider": "anthropic", "key": KEY, "enabled": "on", **fields}
    return {"tenant": project.tenant_id, "base_url": "", **fields}


def test_a_key_is_entered_and_never_shown(clerk, client, project):
    answer = client.post(ADD, form(project), follow=True)
    credential = ModelCredential.objects.get()
    assert credential.key.reveal() == KEY
    page = client.get(page_of(credential)).content.decode()
    for said in (answer.content.decode(), page):
        assert KEY not in said
        assert credential.key.ciphertext not in said
    assert 'autocomplete="new-password"' in page
    history = reverse("admin:connections_modelcredential_history", args=[credential.pk])
    assert KEY not in client.get(history).content.decode()
    audit = Audit.objects.get(verb="model_key.created")
    assert KEY not in str(audit.detail.detail)
    assert audit.tenant == project.tenant


def test_a_form_that_is_refused_does_not_give_it_back(clerk, client, project):
    answer = client.post(ADD, form(project, base_url="ftp://x"))
    assert "begins with https://" in answer.content.decode()
    assert KEY not in answer.content.decode()


def test_an_empty_key_keeps_it_and_another_replaces_it(
    clerk, client, project, credential
):
    client.post(page_of(credential), form(project, key="", chat_model="other"))
    again = ModelCredential.objects.get()
    assert (again.key.reveal(), again.chat_model) == (KEY, "other")
    client.post(page_of(credential), form(project, key="sk-new"))
    assert ModelCredential.objects.get().key.reveal() == "sk-new"
    fields = Audit.objects.filter(verb="model_key.changed").order_by("pk")
    assert [a.detail.detail["fields"] for a in fields] == [
        ["chat_model"],
        ["key", "chat_model"],
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"key": ""}, "Enter the provider&#x27;s key"),
        ({"base_url": "http://u:p@x/v1"}, "holds no password"),
        ({"base_url": "x"}, "begins with https://"),
        (
            {"provider": "openai", "base_url": "http://localhost:1/v1"},
            "A server of your own has models of its own",
        ),
    ],
)
def test_what_is_missing_is_said_at_its_field(clerk, client, project, fields, said):
    answer = client.post(ADD, form(project, **fields))
    assert said in answer.content.decode()
    assert not ModelCredential.objects.exists()


def test_a_second_enabled_key_is_refused_in_words(clerk, client, project, credential):
    other = ModelCredential.objects.create(
        tenant=project.tenant, provider="anthropic", enabled=False, key=Secret(KEY)
    )
    for address in (ADD, page_of(other)):
        answer = client.post(address, form(project))
        assert "Another key is enabled there" in answer.content.decode()


def test_keys_and_costs_of_another_tenant_are_not_there(
    clerk, client, project, other_project
):
    other = ModelCredential.objects.create(
        tenant=other_project.tenant, provider="anthropic", chat_model="their-model"
    )
    ModelUsage.objects.create(
        tenant=other_project.tenant,
        project=other_project,
        day="2026-11-21",
        provider="anthropic",
        model="their-model",
        purpose="chat",
    )
    for name in (LIST, "admin:connections_modelusage_changelist"):
        assert "strangers" not in client.get(reverse(name)).content.decode()
    assert client.get(page_of(other)).status_code == 302
    answer = client.post(ADD, form(project, tenant=other_project.tenant_id))
    assert "Select a valid choice" in answer.content.decode()


def test_costs_are_only_read(clerk, client, project):
    usage = ModelUsage.objects.create(
        tenant=project.tenant,
        project=project,
        day="2026-11-21",
        provider="anthropic",
        model="some-model",
        purpose="chat",
        tokens_read=12345,
    )
    name = "admin:connections_modelusage"
    assert "12345" in client.get(reverse(f"{name}_changelist")).content.decode()
    address = reverse(f"{name}_change", args=[usage.pk])
    assert client.post(address, {"tokens_read": 1}).status_code == 403
    assert client.get(reverse(f"{name}_add")).status_code == 403


@pytest.mark.django_db(transaction=True)
class TestTesting:
    """The models are asked once the row is committed."""

    def test_says_that_both_models_answer(self, clerk, client, project, server):
        fields = {"base_url": server.url, "small_model": "tiny", BUTTON: "1"}
        client.post(ADD, form(project, **fields))
        page = client.get(reverse(LIST)).content.decode()
        assert "The chat model answers: claude-sonnet-5-5." in page
        assert "The small model answers: tiny." in page
        assert {KEY in asked["auth"] for asked in server.asked} == {True}

    @pytest.mark.parametrize(
        ("fault", "said"),
        [
            (
                (401, {"error": {"message": f"no: {KEY}"}}),
                "is not accepted (401): no: …",
            ),
            (
                (404, {"error": {"message": "no"}}),
                "There is no model claude-sonnet-5-5",
            ),
            ((400, {"error": {"message": "no"}}), "refuses the request (400): no"),
            ((200, b"<html>"), "gave no message"),
        ],
    )
    def test_says_in_plain_words_what_is_wrong(
        self,
        clerk,
        client,
        project,
        server,
        fault,
        said,
    ):
        server.faults = [fault]
        fields = {"base_url": server.url, BUTTON: "1"}
        client.post(ADD, form(project, **fields))
        page = client.get(reverse(LIST)).content.decode()
        assert "The chat model does not answer." in page
        assert said in page
        assert KEY not in page
        assert "The small model answers" in page


def test_who_may_not_change_keys_does_not_see_them(client, project, credential):
    user = make_user("reader@acme.test", is_staff=True)
    project.memberships.create(user=user)
    client.force_login(user)
    assert client.get(reverse(LIST)).status_code == 403
    assert client.get(page_of(credential)).status_code == 403
