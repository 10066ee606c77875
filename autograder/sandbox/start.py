"""Starts one of the programs that are staged into the sandbox: start.py MODULE ARGUMENTS.

It is staged beside the folder `sandbox`, so that these modules import each other there as they do in the grader.
"""

import importlib
import os
import sys

if __name__ == "__main__":
    os.umask(0o022)  # whatever the grader's is: other processes read what one writes
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    importlib.import_module(f"sandbox.{sys.argv[1]}").main(*sys.argv[2:])
