"""Says on what a figure was measured."""

from __future__ import annotations

import datetime
import importlib.util
import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

GPU = ("driver", "cuda", "cudnn", "capability", "multiprocessors", "clock_mhz", "memory_clock_mhz", "power_w")
GPU += ("power_limit_w", "l2_bytes")
ASKED = {
    "driver": "driver_version",
    "clock_mhz": "clocks.sm",
    "memory_clock_mhz": "clocks.mem",
    "power_w": "power.draw",
}
ASKED |= {"power_limit_w": "power.limit"}


def environment(device: str = "cpu") -> dict[str, Any]:
    """Processor, threads, GPU, Python and torch: what a figure needs beside it to mean something."""
    found = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "device": device,
        "device_name": torch.cuda.get_device_name() if device == "cuda" else _processor(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": torch.get_num_threads(),
        "memory_bytes": _memory(),
        "load": [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "compiler": _first_line("g++", "--version") or _first_line("clang++", "--version"),
        "triton": metadata.version("triton") if importlib.util.find_spec("triton") else None,
    }
    return found | (_gpu() if device == "cuda" else dict.fromkeys(GPU))


def _gpu() -> dict[str, Any]:
    about = torch.cuda.get_device_properties(0)
    found: dict[str, Any] = dict.fromkeys(GPU)
    found |= {"cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
    found |= {"capability": f"{about.major}.{about.minor}", "multiprocessors": about.multi_processor_count}
    found["l2_bytes"] = getattr(about, "L2_cache_size", None)
    fields = ",".join(ASKED.values())
    told = _first_line("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits", "-i", "0")
    for name, text in zip(ASKED, (told or "").split(","), strict=False):
        try:
            found[name] = text.strip() if name == "driver" else float(text)
        except ValueError:  # "[N/A]"
            found[name] = None
    return found


def _first_line(*command: str) -> str | None:
    if not shutil.which(command[0]):
        return None
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    return done.stdout.partition("\n")[0].strip() or None


def _memory() -> int | None:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
