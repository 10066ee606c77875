# /// attack
# about = "looks for what the grader's environment holds"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import os


def _reached():
    return "ATTACK_SECRET" in os.environ
