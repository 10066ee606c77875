"""Compiles the Triton kernels for GPUs that are not here; started by test_triton_attention.py in a process of its own.

Arguments: a GPU generation by compute capability (75, 80, 89, 90), fp16 or bf16, causal or full. Prints one line of
JSON: for each configuration that is tried there, the registers of a thread and the bytes of its stack, to which the
compiler moves what does not fit.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from attention import _triton_attention as kernels

FOUR_AXES = ("query", "key", "value", "output", "upstream", "of_query", "of_key", "of_value")
TOOL = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"


def compiled(kernel, capability, width, choice, dtype, is_causal):
    rows, columns, warps, stages = choice
    names, tensors = kernel.fn.arg_names, kernel.fn.arg_names[: kernel.fn.arg_names.index("batch")]
    constants = {"CAUSAL": is_causal, "WIDTH": width, "ROWS": rows, "COLUMNS": columns}
    signature = {name: "i32" for name in names} | dict.fromkeys(constants, "constexpr") | {"scale": "fp32"}
    for name in tensors:
        block = rows if name in ("query", "output", "upstream", "of_query") else columns
        described = capability >= 90 and name in FOUR_AXES
        kind = dtype if name in FOUR_AXES else "fp32"
        signature[name] = f"tensordesc<{kind}[1,1,{block},{width}]>" if described else f"*{kind}"
    signature["strides"] = (("i32",) * 3,) * len(tensors)
    even = {(names.index(name),): [["tt.divisibility", 16]] for name in tensors if signature[name].startswith("*")}
    place = names.index("strides")
    even |= {(place, i, j): [["tt.divisibility", 16]] for i in range(len(tensors)) for j in range(3)}
    source = ASTSource(kernel.fn, signature, {(names.index(name),): value for name, value in constants.items()}, even)
    options = {"num_warps": warps, "num_stages": stages}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def resources(binary):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(binary)
        text = subprocess.run([TOOL, "-res-usage", file.name], capture_output=True, text=True, check=True).stdout
    return {name: int(re.search(rf"{name.upper()}:(\d+)", text)[1]) for name in ("reg", "stack", "shared")}


def main():
    found, (capability, dtype, form) = [], sys.argv[1:]
    for name, choices in kernels.CHOICES.items():
        for width in (64, 128):
            for choice in choices[int(capability) // 10, width]:
                done = compiled(getattr(kernels, name), int(capability), width, choice, dtype, form == "causal")
                found.append({"kernel": name, "width": width, "choice": choice} | resources(done.asm["cubin"]))
                print(found[-1], file=sys.stderr, flush=True)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
