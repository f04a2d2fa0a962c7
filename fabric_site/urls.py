from django.contrib import admin
from django.urls import include, path

from fabric_site import health

urlpatterns = [
    path("api/v1/", include("fabric_site.api")),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("admin/", admin.site.urls),
]
