# /// attack
# about = "looks at the grader's processes: command lines, environments, memory"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import os


def _reached():
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if b"pytest" in file.read():
                        return True
                with open(f"/proc/{name}/environ", "rb") as file:
                    if b"ATTACK_SECRET" in file.read():
                        return True
                with open(f"/proc/{name}/mem", "rb"):
                    return True
            except OSError:
                pass
    return False
