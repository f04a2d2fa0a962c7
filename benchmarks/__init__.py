"""Benchmarks: each measures one thing beside a baseline and prints one table."""

from __future__ import annotations

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fabric_site.settings")
# LanceDB warns at every search that names its columns.
os.environ.setdefault("LANCEDB_LOG", "error")
django.setup()
