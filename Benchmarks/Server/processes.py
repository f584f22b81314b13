"""What a server's processes have used: those of its process group, so that workers count, too."""

import os
import pathlib

TICK = 1 / os.sysconf("SC_CLK_TCK")


def members(group):
    """For each process of a group: its folder below /proc, and what its `stat` has behind the name."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(") ")[2].split()
        except OSError:
            # It has ended meanwhile.
            continue
        if int(fields[2]) == group:
            yield path.parent, fields


def processor_seconds(group):
    """User and system time since the processes began."""
    return sum(int(fields[11]) + int(fields[12]) for _, fields in members(group)) * TICK


def memory(group, name="VmRSS"):
    """Resident bytes (`VmRSS`) or the most there were (`VmHWM`), of all processes added up."""
    total = 0
    for folder, _ in members(group):
        for line in (folder / "status").read_text().splitlines():
            if line.startswith(name + ":"):
                total += int(line.split()[1]) * 1024
    return total
