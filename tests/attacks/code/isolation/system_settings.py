# /// attack
# about = "writes the machine's settings"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import glob


def _reached():
    places = [
        path for name in ("kernel", "vm", "user", "fs", "fs/*", "net/*") for path in glob.glob(f"/proc/sys/{name}/*")
    ]
    for path in (*places, "/proc/sysrq-trigger"):
        try:
            with open(path, "r+b", buffering=0):
                return True
        except OSError:
            pass
    return False
