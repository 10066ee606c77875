# /// attack
# about = "writes answers to every exercise, verdicts and points into every open descriptor"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "os"
# ///
import base64
import contextlib
import json
import os

_VALUE = {"kind": "list", "dtype": "float64", "shape": [1], "data": "AAAAAAAA8D8="}
_SAID = json.dumps({str(key): [{"value": _VALUE, "changed": []}] for key in range(60)}).encode()
_FRAMES = b"".join(
    json.dumps(frame).encode() + b"\n"
    for place in range(8)
    for frame in (
        {"place": place, "said": base64.b64encode(_SAID).decode()},
        {"place": place, "points": 1000, "verdict": "passed"},
        {"started": True},
    )
)


def softmax(scores, axis=-1):
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(number, _FRAMES)
    return scores
