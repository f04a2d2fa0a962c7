from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied
from django.urls import reverse

from connections.models import Audit, Role
from graph.models import StaleThreshold
from graph.staleness import thresholds_of
from graph.thresholds import ThresholdRefused, reset_threshold, set_threshold
from tests.connections.api.callers import session_client, token_client
from tests.factories import make_member

pytestmark = pytest.mark.django_db
URL = "/api/v1/review/thresholds/"
PAGE = "admin:graph_stalethreshold_changelist"


@pytest.fixture
def admin(project):
    user = make_member(project, "boss@acme.test", Role.ADMIN)
    user.is_staff = user.is_superuser = True
    user.save()
    return user


def verbs():
    return list(Audit.objects.order_by("id").values_list("verb", "target"))


class TestTheFunctions:
    def test_one_is_set_changed_and_reset_each_with_its_audit(self, project, admin):
        assert set_threshold(project, "decision", 10, by=admin)
        assert not set_threshold(project, "decision", 10, by=admin)
        assert set_threshold(project, "decision", None, by=admin)
        assert thresholds_of(project)["decision"] is None
        assert reset_threshold(project, "decision", by=admin)
        assert not reset_threshold(project, "decision", by=admin)
        assert thresholds_of(project)["decision"] == 90
        assert verbs() == [
            ("threshold.set", "decision"),
            ("threshold.set", "decision"),
            ("threshold.reset", "decision"),
        ]

    @pytest.mark.parametrize(
        ("name", "days"), [("rust", 5), ("decision", 0), ("decision", 99_999)]
    )
    def test_what_cannot_be_set_is_a_clear_error(self, project, admin, name, days):
        with pytest.raises(ThresholdRefused, match=r"there are: |from 1 to 36,500"):
            set_threshold(project, name, days, by=admin)
        assert not StaleThreshold.objects.exists()
        assert verbs() == []

    @pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.REVIEWER])
    def test_only_an_admin_of_the_project_may(self, project, role, stranger):
        for user in (make_member(project, "x@acme.test", role), stranger):
            with pytest.raises(PermissionDenied, match="be an admin of the project"):
                set_threshold(project, "decision", 5, by=user)
            with pytest.raises(PermissionDenied):
                reset_threshold(project, "decision", by=user)


class TestREST:
    def body(self, **fields):
        return {"project": "acme/main", "type": "decision", "days": 7, **fields}

    def test_a_member_reads_and_an_admin_writes(self, project, admin, member):
        listed = token_client(member, project).get(URL).json()["thresholds"]
        by_type = {one["type"]: one for one in listed}
        assert listed[0]["type"] == "default"
        assert (by_type["decision"]["days"], by_type["agent"]["days"]) == (90, None)
        client = session_client(admin)
        put = client.put(URL, self.body(), format="json")
        assert (put.status_code, put.json()["days"], put.json()["is_own"]) == (
            200,
            7,
            True,
        )
        assert (
            client.put(URL, self.body(days=None), format="json").json()["days"] is None
        )
        gone = client.delete(f"{URL}?project=acme/main&type=decision")
        assert (gone.status_code, gone.json()["days"]) == (200, 90)

    def test_others_are_refused(self, project, admin, member, stranger):
        put = {"data": self.body(), "format": "json"}
        assert session_client(member).put(URL, **put).status_code == 403
        assert session_client(stranger).put(URL, **put).status_code == 404
        reading = token_client(admin, project, ("read",))
        assert reading.put(URL, **put).status_code == 403
        bad = {"data": self.body(type="rust"), "format": "json"}
        answer = session_client(admin).put(URL, **bad)
        assert (answer.status_code, answer.json()["code"]) == (
            400,
            "unusable_threshold",
        )
        assert not StaleThreshold.objects.exists()


class TestTheAdmin:
    def test_an_admin_sets_empties_and_resets_by_the_page(self, project, admin, client):
        client.force_login(admin)
        page = client.get(reverse(PAGE)).content.decode()
        assert 'name="days-decision" value="90"' in page
        there = reverse("admin:thresholds_set", args=[project.pk])
        client.post(there, {"days-decision": "7", "days-pattern": ""})
        own = thresholds_of(project)
        assert (own["decision"], own["pattern"]) == (7, None)
        client.post(there, {"reset": "decision", "days-pattern": ""})
        assert thresholds_of(project)["decision"] == 90
        said = client.post(there, {"days-pattern": "soon"}, follow=True)
        assert "is no number of days" in said.content.decode()
        assert thresholds_of(project)["pattern"] is None

    def test_a_superuser_of_another_tenant_sees_and_sets_nothing(
        self, project, stranger, client
    ):
        stranger.is_staff = stranger.is_superuser = True
        stranger.save()
        client.force_login(stranger)
        assert client.get(f"{reverse(PAGE)}?project={project.pk}").status_code == 404
        there = reverse("admin:thresholds_set", args=[project.pk])
        assert client.post(there, {"days-decision": "7"}).status_code == 404
        assert not StaleThreshold.objects.exists()
