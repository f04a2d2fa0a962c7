"""Settings of the embedded PostgreSQL, sized to the machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MB = 1 << 20
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where POSIX shared memory lies
MEMORY_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def memory() -> int:
    """Return the bytes of memory there are: the machine's, or the cgroup's limit."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for limit in MEMORY_LIMITS:
        try:
            found.append(int(limit.read_text()))
        except (OSError, ValueError):
            continue
    return min(found)


def shared_memory_type() -> str:
    """Return `posix`, or `mmap` where /dev/shm holds no parallel index build."""
    try:
        roomy = shutil.disk_usage(SHARED_MEMORY).total >= 1024 * MB
    except OSError:
        return "mmap"
    return "posix" if roomy else "mmap"


def settings(port: int) -> dict[str, str | int]:
    """Return the server's settings for this machine."""
    available, cores = memory() // MB, os.cpu_count() or 1
    helpers = max(1, min(4, cores // 2))
    return {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
        "max_connections": 100,
        "shared_buffers": f"{max(64, min(4096, available // 6))}MB",
        # An index of vectors that does not fit is built many times slower.
        "maintenance_work_mem": f"{max(64, min(2048, available // 8))}MB",
        "autovacuum_work_mem": f"{max(64, min(256, available // 32))}MB",
        "work_mem": "32MB",
        "effective_cache_size": f"{max(256, available // 2)}MB",
        "dynamic_shared_memory_type": shared_memory_type(),
        "random_page_cost": "1.1",
        "jit": "off",
        "max_parallel_workers": cores,
        "max_parallel_workers_per_gather": helpers,
        "max_parallel_maintenance_workers": helpers,
        "synchronous_commit": "on",
        # One server, no replica: an index built with its table skips the log.
        "wal_level": "minimal",
        "max_wal_senders": 0,
        "max_wal_size": "4GB",
        "checkpoint_timeout": "15min",
        "shared_preload_libraries": "pg_stat_statements",
        "track_io_timing": "on",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_checkpoints": "off",
        "log_line_prefix": "%m [%p] %a ",
    }


def configuration(port: int) -> str:
    """Return the text of the server's included configuration file."""
    return "".join(f"{name} = '{value}'\n" for name, value in settings(port).items())
