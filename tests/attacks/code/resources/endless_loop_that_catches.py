# /// attack
# about = "loops for ever and swallows whatever is raised to end it"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "longer than"
# ///
import signal

for _one in range(1, 65):
    try:
        signal.signal(_one, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def softmax(scores, axis=-1):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
