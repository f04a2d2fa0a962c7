import pytest
from django.test import Client
from tests.factories import *
from tests.site.access.test_giving import staff_of
from connections.models import Role

pytestmark = pytest.mark.django_db


def test_q(project):
    u = staff_of(project, "x@y.test", Role.ADMIN)
    for c in (Client(), Client()):
        for a in ("/admin/login/", "/admin/r/1/1/", "/admin/r/7/abc/"):
            try:
                print(a, c.get(a).status_code)
            except Exception as e:
                import traceback

                traceback.print_exc()
        c.force_login(u)
        c = c
    c = Client()
    c.force_login(u)
    for a in ("/admin/r/1/1/", "/admin/r/7/1/"):
        try:
            print(a, c.get(a).status_code)
        except Exception as e:
            import traceback

            traceback.print_exc()
    assert 0
