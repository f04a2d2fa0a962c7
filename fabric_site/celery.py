"""The Celery application: `celery -A fabric_site worker`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fabric_site.settings")

app = Celery("fabric")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# memory.remembering: a task beside what it does.
app.autodiscover_tasks(related_name="remembering")
