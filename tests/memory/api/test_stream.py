from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from memory.agent import events
from memory.api.stream import sent, sse


@given(st.text())
def test_an_event_is_one_line_of_data_whatever_it_holds(text):
    name, data, *rest = sse("delta", {"text": text}).decode().split("\n")
    assert (name, rest) == ("event: delta", ["", ""])
    assert json.loads(data.removeprefix("data: ")) == {"text": text}


def test_an_event_is_sent_under_its_name():
    assert sent(events.ping()) == b"event: ping\ndata: {}\n\n"
