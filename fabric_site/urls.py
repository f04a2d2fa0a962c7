from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path

from fabric_site import health, palette


def no_row_by_type(request: HttpRequest, rest: str) -> HttpResponse:
    """Answer that there is nothing: Django's own page looks any row up by type and
    key, whoever asks, and fails on a key that is no UUID; no row of ours uses it."""
    raise Http404("There is no such page.")


urlpatterns = [
    path("api/v1/", include("fabric_site.api")),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    # Before Unfold's, which has the same name and reads without bound.
    path("admin/search/", admin.site.admin_view(palette.search)),
    path("admin/r/<path:rest>", admin.site.admin_view(no_row_by_type)),
    path("admin/", admin.site.urls),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", include("graph.urls")),
    path("", include("retrieval.urls")),
    path("", include("memory.urls")),
]
