# /// attack
# about = "writes answers of its own into every open descriptor, its parents' too"
# module = "worked_example"
# deserves = 0
# ///
import json
import os

_VALUE = {"kind": "list", "dtype": "float64", "shape": [1], "data": "AAAAAAAA8D8="}
_FRAMES = b"".join(
    json.dumps(frame).encode() + b"\n"
    for place in range(8)
    for frame in (
        {"place": place, "answers": {str(key): [{"value": _VALUE, "changed": []}] for key in range(60)}},
        {"place": place, "points": 1000, "verdict": "passed"},
        {"started": True},
    )
)
for _number in range(3, 64):
    try:
        os.write(_number, _FRAMES)
    except OSError:
        pass
for _process in (name for name in os.listdir("/proc") if name.isdigit()):
    for _number in range(64):
        try:
            with open(f"/proc/{_process}/fd/{_number}", "wb", buffering=0) as _file:
                _file.write(_FRAMES)
        except OSError:
            pass
