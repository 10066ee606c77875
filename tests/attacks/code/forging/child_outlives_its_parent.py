# /// attack
# about = "leaves a child in a session of its own, which answers for the exercises to come"
# module = "worked_example"
# deserves = 0
# ///
import os
import time

_FRAME = b'{"place": 1, "answers": {"0": [{"value": {"kind": "number", "type": "int", "value": "1"}}]}}\n'

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            for _process in (name for name in os.listdir("/proc") if name.isdigit()):
                for _number in range(3, 20):
                    try:
                        with open(f"/proc/{_process}/fd/{_number}", "wb", buffering=0) as _file:
                            _file.write(_FRAME)
                    except OSError:
                        pass
            time.sleep(0.01)
    os._exit(0)
