"""Runs strangers' code in three tiers: fork server → worker in namespaces of its own → the learner's code.

`bubblewrap.open_sandbox` finds the level of isolation; `worker_pool.open_worker` gives a worker for one submission, and
`usage.Used` is what all its processes have used. Inside run `fork_server`, `worker`, `runner` and `self_test`, which
are staged there with `linux`, the system calls that they need.
"""
