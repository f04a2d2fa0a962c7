from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from fabric_site import health, palette

urlpatterns = [
    path("api/v1/", include("fabric_site.api")),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    # Before Unfold's, which has the same name and reads without bound.
    path("admin/search/", admin.site.admin_view(palette.search)),
    path("admin/", admin.site.urls),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", include("graph.urls")),
    path("", include("retrieval.urls")),
    path("", include("memory.urls")),
]
