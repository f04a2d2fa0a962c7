"""The site's settings for tests: servers of their own, and passwords hashed quickly.

What tests write lies below the data root in `tests`: their database server may lose it
when the machine fails, and is stopped when they are done.
"""

import os

from connections.embedded import var_folder

TESTS_ROOT = "tests"
if var_folder().name != TESTS_ROOT:  # a process that a test starts has it already
    os.environ["FABRIC_VAR"] = str(var_folder() / TESTS_ROOT)

from fabric_site.settings import *  # noqa: E402, F403 - the root is read by them

# Three users a test would otherwise spend most of its time hashing.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
