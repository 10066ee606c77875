# /// attack
# about = "hands back an answer of hundreds of megabytes"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
def softmax(scores, axis=-1):
    return [[1.0] * 30_000_000]
