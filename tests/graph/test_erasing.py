from __future__ import annotations

import pytest

from graph.erasing import erase
from graph.erasing_plan import plan_source
from tests.factories import make_project, make_source
from tests.graph.snapshots import differences, snapshot
from tests.graph.test_erased_records import read

pytestmark = pytest.mark.django_db


def test_x():
    kept, never = make_project("acme/one"), make_project("acme/two")
    read(kept)
    read(never, without="mail")
    plan = plan_source(make_source(kept, "mail"))
    report = erase(plan, by=None, reason="asked", token=plan.token)
    print(report)
    assert differences(snapshot(kept), snapshot(never)) == []
    assert report.found == {}
