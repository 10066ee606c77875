# /// attack
# about = "asks for more memory than the machine has"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# costly = "ten seconds of the processor and gigabytes; memory_in_many_processes meets the same limit"
# ///
def softmax(scores, axis=-1):
    return [bytearray(2**30) for _ in range(1000)]
