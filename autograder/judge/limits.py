"""What a submission may use in the sandbox, and how long the grader waits for it."""

EXERCISE_CPU_SECONDS = 30.0  # of one exercise in its own process; the longest trains a model: 11 beside other work
JOINT_CPU_SECONDS = 8.0  # of all exercises in one process, which most submissions need; right ones take half of it
PART_CPU_SECONDS = 90.0  # of all that is shown of a problem set, or of all hidden inputs: then no exercise is tried
WALL_CLOCK_FACTOR = 4.0  # seconds by the clock for each of the processor's: a busy machine costs nobody a point
IDLE_WALL_SECONDS = 10.0  # that an exercise may wait while nothing of it computes; a submission, twice as long
START_WALL_SECONDS = 60.0  # for the sandbox to begin
ADDRESS_SPACE_BYTES = 6 * 2**30  # of one process; torch takes about 2 GiB without touching it
MEMORY_BYTES = 4 * 2**30  # used at once by all of a submission's processes
MEMORY_LOOK_WALL_SECONDS = 0.2  # between two looks at that
PERIOD_WALL_SECONDS = 5.0  # after which no further submission begins where others wait (see periods.py)
PROCESSES = 64  # and threads
OUTPUT_BYTES = 64 * 2**20  # that one worker may say, of all exercises, of which each may say 8 MiB
JOINT_OUTPUT_BYTES = 8 * 2**20  # that one process for all exercises may say
ATTEMPTS = 2  # at an exercise whose process was killed, or ended itself: was it the learner's code or the machine?


def submission_cpu_seconds() -> float:
    """After how many seconds of the processor no further exercise is tried: of what is shown, and of what is hidden."""
    return 2 * PART_CPU_SECONDS


def submission_idle_seconds() -> float:
    """How long a submission may wait, in all, while nothing of it computes."""
    return 2 * IDLE_WALL_SECONDS


def submission_wall_seconds() -> float:
    """How long a submission may keep a worker busy, or waiting, in all."""
    return WALL_CLOCK_FACTOR * PART_CPU_SECONDS
