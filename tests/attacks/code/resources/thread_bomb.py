# /// attack
# about = "starts threads until none can be started any more, and each waits for ever"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
import threading


def softmax(scores, axis=-1):
    while True:
        threading.Thread(target=threading.Event().wait).start()
