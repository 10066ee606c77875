# /// attack
# about = "tells the hidden inputs in the text and the name of an error"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///


def softmax(scores, axis=-1):
    raise type(f"E{scores!r}"[:90], (Exception,), {})(repr(scores))
