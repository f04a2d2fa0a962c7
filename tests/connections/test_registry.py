from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from connections.registry import Registry, UnknownName


def test_a_plugin_is_found_by_the_name_it_was_registered_under():
    tools: Registry = Registry("tool")

    @tools.register("saw")
    class Saw:
        pass

    assert tools["saw"] is Saw
    assert tools.add("axe", "an axe") == "an axe"
    assert set(tools) == {"saw", "axe"}


def test_a_name_is_taken_once():
    tools: Registry = Registry("tool")
    tools.add("saw", 1)
    with pytest.raises(ImproperlyConfigured, match="tool 'saw' is already registered"):
        tools.add("saw", 2)
    assert tools["saw"] == 1


def test_an_unknown_name_lists_those_there_are():
    tools: Registry = Registry("tool")
    with pytest.raises(UnknownName, match="no tool 'axe'; there are: none"):
        tools["axe"]
    tools.add("saw", 1)
    tools.add("drill", 1)
    with pytest.raises(UnknownName, match="there are: drill, saw"):
        tools["axe"]
    assert tools.get("axe") is None
    assert "axe" not in tools
