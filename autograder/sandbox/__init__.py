"""Runs code of strangers: bubblewrap, a fork server with torch imported, and a worker process in namespaces of its own.

`bubblewrap.open_sandbox` finds the level of isolation; `worker_pool.opened` lends a worker; `usage` is what it used.
"""
