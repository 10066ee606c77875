# /// attack
# about = "an object whose finaliser, run while the process ends, writes an answer of its own to every open descriptor"
# module = "worked_example"
# deserves = 0
# log = "os"
# ///
import json
import os


class _Last:
    def __del__(self, os=os, text=json.dumps({"0": [{"value": {"kind": "none"}, "changed": []}]}).encode()):
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b'\n{"place": 0, "answers": ' + text + b"}\n")
            except OSError:
                pass


_last = _Last()
