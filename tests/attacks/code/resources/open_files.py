# /// attack
# about = "opens files until none can be opened"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
def softmax(scores, axis=-1):
    kept = []
    while True:
        kept.append(open("/dev/null"))
