"""Content sources: one connector, one file; a new file needs no change elsewhere."""

import pkgutil
from importlib import import_module


def load_connectors() -> None:
    """Import every module of this package, so that its connectors are registered."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
