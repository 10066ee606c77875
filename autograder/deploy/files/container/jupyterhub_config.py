"""JupyterHub for one class: each learner has an account of the hub's container, made when they first sign in."""

import os
import subprocess
from typing import Any

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # JupyterHub's
c.JupyterHub.bind_url = "http://:8000"
c.JupyterHub.authenticator_class = "shared-password"  # for a trial; then your university's, see JupyterHub's own pages
c.SharedPasswordAuthenticator.user_password = os.environ["HUB_PASSWORD"]
c.Authenticator.allowed_users = set(os.environ["HUB_USERS"].split())
c.Spawner.cmd = ["/srv/learners/bin/jupyterhub-singleuser"]

#: The numbers of learners' accounts. The grader's, 1000 in its own container, owns what is in the exchange, so that a
#: learner of that number could read and change what others hand in.
FIRST, LAST = 20_000, 59_999


def account(spawner: Any) -> None:
    """Make the account of somebody who is allowed in; homes are kept, and so are the numbers of their owners."""
    name = spawner.user.name
    if subprocess.run(["id", name], capture_output=True).returncode:
        home = f"/home/{name}"
        owner = ["--uid", str(os.stat(home).st_uid), "--no-create-home"] if os.path.isdir(home) else ["--create-home"]
        owner += ["--key", f"UID_MIN={FIRST}", "--key", f"UID_MAX={LAST}"]
        subprocess.run(["useradd", *owner, "--home-dir", home, "--shell", "/bin/bash", name], check=True)
        os.chmod(home, 0o700)


c.Spawner.pre_spawn_hook = account
