"""Chat models over a real socket: what is asked, what is taken, what is refused."""

from __future__ import annotations

import pytest

from connections.providers import anthropic_chat, openai_chat  # noqa: F401 - register
from connections.providers.base import ProviderError
from connections.providers.chat import (
    BadAnswer,
    ModelRefused,
    ModelUnavailable,
    Usage,
    chat_models,
)
from tests.connections.model_server import BUSY, ModelServer, settings_for

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["n"],
    "properties": {"n": {"type": "integer"}},
}
BOTH = ["anthropic", "openai"]

pytestmark = pytest.mark.parametrize("name", BOTH)


@pytest.fixture
def server():
    with ModelServer() as server:
        server.reply = lambda user: '{"n": 3}'
        yield server


@pytest.fixture
def model(server, settings, name):
    settings.FABRIC = settings.FABRIC | settings_for(server, name)
    return chat_models[name]("some-model")


def ask(model):
    return model.structured("Be short.", "How many?", SCHEMA, max_tokens=50)


def test_an_answer_comes_with_its_cost(model, server, name):
    answer = ask(model)
    assert (answer.parsed, answer.usage) == ({"n": 3}, Usage(11, 7))
    (asked,) = server.asked
    assert asked["model"] == "some-model"
    assert "sk-test" in asked["auth"]
    assert asked["messages"][-1] == {"role": "user", "content": "How many?"}
    if name == "anthropic":
        assert asked["path"] == "/v1/messages"
        assert (asked["system"], asked["max_tokens"]) == ("Be short.", 50)
        shape = asked["output_config"]["format"]
        assert (shape["type"], shape["schema"]) == ("json_schema", SCHEMA)
    else:
        assert asked["path"] == "/v1/chat/completions"
        assert asked["messages"][0] == {"role": "system", "content": "Be short."}
        shape = asked["response_format"]["json_schema"]
        assert (shape["strict"], shape["schema"]) == (True, SCHEMA)


def test_without_a_model_id_a_small_one_is_asked(server, settings, name):
    settings.FABRIC = settings.FABRIC | settings_for(server, name)
    ask(chat_models[name](""))
    assert server.asked[0]["model"] in ("claude-haiku-5-5", "gpt-5.4-mini")


@pytest.mark.parametrize("fault", [(429, BUSY), (529, BUSY), (500, BUSY), (0, None)])
def test_a_fault_that_passes_is_waited_out(model, server, fault):
    server.faults = [fault, fault]
    assert ask(model).parsed == {"n": 3}
    assert len(server.asked) == 3


@pytest.mark.parametrize("fault", [(429, BUSY), (529, BUSY), (0, None)])
def test_a_fault_that_stays_leaves_it_unavailable(model, server, fault):
    server.faults = [fault] * 9
    with pytest.raises(ModelUnavailable, match="some-model"):
        ask(model)
    assert len(server.asked) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_request_that_is_refused_is_not_made_again(model, server, status):
    server.faults = [(status, BUSY)] * 2
    with pytest.raises(ModelRefused):
        ask(model)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "said", ["three", "[3]", '{"n": "three"}', '{"m": 3}', "", '{"n": 3'], ids=repr
)
def test_an_answer_of_another_shape_is_bad(model, server, said):
    server.reply = lambda user: said
    with pytest.raises(BadAnswer):
        ask(model)


@pytest.mark.parametrize("body", [b"<html>a proxy</html>", b"{}", b"[]"])
def test_what_is_no_message_at_all_is_bad(model, server, body):
    server.faults = [(200, body)] * 9
    with pytest.raises(ProviderError):
        ask(model)


def test_an_answer_that_was_cut_short_is_bad(model, server, name):
    server.stopped = {"anthropic": "max_tokens", "openai": "length"}[name]
    with pytest.raises(BadAnswer, match="stopped before the end"):
        ask(model)


def test_without_a_key_it_says_which_to_set(settings, name):
    settings.FABRIC = settings.FABRIC | {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}
    with pytest.raises(ModelRefused, match=f"{name.upper()}_API_KEY"):
        chat_models[name]("")
