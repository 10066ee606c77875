# /// attack
# about = "takes the compiler minutes and gigabytes: a constant to be folded"
# module = "worked_example"
# deserves = 0
# ///
TOO_LARGE = ((((1 << 2**20) << 2**20) << 2**20) ** 64) ** 64
