"""Settings of the site, from the environment; `.env.example` lists every variable."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy

from connections import embedded
from fabric_site import environment as env
from fabric_site import options, schedule
from fabric_site.colours import ADMIN_COLOURS
from fabric_site.databases import databases, demo_database

BASE_DIR = Path(__file__).resolve().parent.parent

_secrets = embedded.ensure_secrets()
SECRET_KEY = env.text("SECRET_KEY", _secrets["SECRET_KEY"])
FIELD_ENCRYPTION_KEYS = env.words(
    "FIELD_ENCRYPTION_KEYS", tuple(_secrets["FIELD_ENCRYPTION_KEYS"].split(","))
)
DEBUG = env.flag("FABRIC_DEBUG", False)
ALLOWED_HOSTS = list(
    env.words("FABRIC_ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
)
CSRF_TRUSTED_ORIGINS = list(env.words("FABRIC_TRUSTED_ORIGINS"))
_HTTPS = env.flag("FABRIC_HTTPS", False)

# --- databases -----------------------------------------------------------------------

DATABASES = databases()
DATABASE_ROUTERS = ["connections.routers.OwnerIsDefault"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- applications --------------------------------------------------------------------

INSTALLED_APPS = [
    "memory",
    "retrieval",
    "graph",
    "connections",
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "django_htmx",
    "django_celery_beat",
    "django_celery_results",
    "axes",
    "csp",
    "fabric_site",
]
AUTH_USER_MODEL = "connections.User"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "fabric_site.content_policy.AdminContentPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "connections.signing_in.SignIn",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
ROOT_URLCONF = "fabric_site.urls"
WSGI_APPLICATION = None
ASGI_APPLICATION = "fabric_site.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "chat"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en-gb"
FORMAT_MODULE_PATH = "fabric_site.formats"
TIME_ZONE = env.text(
    "FABRIC_TIME_ZONE",
    "UTC",
    fits=env.is_time_zone,
    expected="a time zone such as Europe/Berlin",
)
USE_TZ = True
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = embedded.var_folder() / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- security ------------------------------------------------------------------------

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = _HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if _HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        # The admin's pages need more: fabric_site.content_policy.
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "frame-ancestors": ["'none'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
    },
}

# --- jobs ----------------------------------------------------------------------------

CELERY_BROKER_URL = env.text("CELERY_BROKER_URL") or embedded.valkey_url()
CELERY_RESULT_BACKEND = "django-db"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 3600
CELERY_TASK_SOFT_TIME_LIMIT = 3540
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Above the longest task; kombu sweeps what a killed worker held back.
    "visibility_timeout": CELERY_TASK_TIME_LIMIT + 60,
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
    # Who sends a task does not wait for a broker that is away.
    "max_retries": 2,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.2,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULE = schedule.JOBS
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"

# --- API -----------------------------------------------------------------------------

_RATE = env.text(
    "FABRIC_API_RATE",
    "600/min",
    fits=re.compile(r"\d+/(s|min|hour|day)").fullmatch,
    expected="a number of calls a time, such as 600/min (s, min, hour, day)",
)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "connections.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["connections.api.permissions.IsMemberWithScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "connections.api.pagination.ByKey",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": _RATE},
    "EXCEPTION_HANDLER": "connections.api.problems.handle",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Fabric",
    "VERSION": "1",
    "DESCRIPTION": "A company's knowledge graph, searched and answered with sources.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "connections.api.schema.add_problems",
    ],
}
UNFOLD = {
    "SITE_TITLE": "Fabric",
    "SITE_HEADER": "Fabric",
    "SITE_SUBHEADER": "Company knowledge",
    "SITE_SYMBOL": "hub",
    "SITE_URL": reverse_lazy("chat"),
    "SITE_FAVICONS": [{"rel": "icon", "href": f"/{STATIC_URL}favicon.svg"}],
    "SHOW_HISTORY": True,
    "ENVIRONMENT": None,
    "DASHBOARD_CALLBACK": "fabric_site.dashboard.dashboard",
    "SIDEBAR": {
        "navigation": "fabric_site.admin_site.navigation",
        "show_search": True,
        "command_search": True,
    },
    "STYLES": [lambda request: static("admin.css")],
    "SCRIPTS": [lambda request: static("admin.js")],
    "COLORS": {"primary": ADMIN_COLOURS},
}

# --- Fabric's own --------------------------------------------------------------------

FABRIC: dict[str, Any] = {
    **options.limits(),
    **options.governance(),
    **options.embedding(),
    **options.extraction(),
    **options.models(),
    **options.ranking(),
    **options.memory(),
    **options.agent(),
    **options.databases(demo_database()),
}
_LEVEL = env.text(
    "FABRIC_LOG_LEVEL",
    "WARNING",
    fits=logging.getLevelNamesMapping().__contains__,
    expected="a log level such as WARNING",
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": _LEVEL},
}
