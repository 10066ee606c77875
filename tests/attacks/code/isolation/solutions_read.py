# /// attack
# about = "looks for the reference and the hidden checks on the disk"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import os


def _reached():
    wanted = ("misconceptions", "hidden", "gradebook.db", "submitted", "secret")
    for folder, folders, files in os.walk("/"):
        if folder.startswith(("/proc", "/sys", "/usr", "/dev")) or "site-packages" in folder:
            folders.clear()  # of packages, nbgrader's own examples have such names, and to walk them takes seconds
            continue
        if any(name in wanted for name in (*folders, *files)):
            return True
        if "efficient.py" in files and "/sandbox" not in folder:
            return True
    return False
