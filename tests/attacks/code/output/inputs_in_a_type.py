# /// attack
# about = "tells the hidden inputs in the name of an answer's type"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///


def softmax(scores, axis=-1):
    return type(repr(scores)[:90], (), {})()
