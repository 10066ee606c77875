# /// attack
# about = "writes the machine's settings"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import glob


def _reached():
    for path in (*glob.glob("/proc/sys/kernel/*"), *glob.glob("/proc/sys/vm/*"), "/proc/sysrq-trigger"):
        try:
            with open(path, "r+b", buffering=0):
                return True
        except OSError:
            pass
    return False
