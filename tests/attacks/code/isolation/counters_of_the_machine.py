# /// attack
# about = "reads what the kernel counts for the whole machine: another submission can have counted it up"
# module = "worked_example"
# base = "reference"
# deserves = {}
# log = "os"
# ///
import os

_COUNTERS = "stat vmstat loadavg uptime interrupts softirqs schedstat diskstats zoneinfo buddyinfo cgroups key-users"
_FOLDERS = "pressure sys/fs irq fs"


def _told(path):
    try:
        with open(path, "rb") as file:
            return any(48 <= byte < 58 for byte in file.read())  # a digit
    except OSError:
        return False


def _reached():
    paths = [f"/proc/{name}" for name in _COUNTERS.split()]
    for folder in _FOLDERS.split():
        paths += [os.path.join(place, name) for place, _, names in os.walk(f"/proc/{folder}") for name in names]
    return any(map(_told, paths))
