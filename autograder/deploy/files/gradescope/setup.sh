#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends bubblewrap libseccomp2 python3 python3-venv util-linux
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Python 3.11 or newer is needed: choose the base image Ubuntu 24.04 in the autograder's settings" >&2
    exit 1
}
here="$(cd "$(dirname "$0")" && pwd)"
python3 -m venv /opt/attention
/opt/attention/bin/python -m pip install --disable-pip-version-check --no-cache-dir -r "$here/requirements.txt"
chmod -R go-rwx "$here"  # no submission is to read solutions and secret, whatever isolation there is
