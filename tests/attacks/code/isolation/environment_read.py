# /// attack
# about = "looks for what the grader's environment holds"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import os


def _reached():
    return any(name in os.environ for name in ("ATTACK_SECRET", "USER", "LOGNAME", "SSH_CONNECTION", "SHELL"))
