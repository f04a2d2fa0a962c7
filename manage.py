#!/usr/bin/env python
"""Django's command line for Fabric."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line

from connections.embedded import EmbeddedError
from fabric_site.first_use import prepare_database
from fabric_site.start import StartError, claim


def main() -> None:
    """Run a command; what keeps the site from starting is one sentence and exit 1."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fabric_site.settings")
    try:
        if sys.argv[1:2] == ["up"] and not {"-h", "--help"} & set(sys.argv):
            claim()  # before the settings start the database
        prepare_database(sys.argv[1:])
        execute_from_command_line(sys.argv)
    except (EmbeddedError, StartError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
