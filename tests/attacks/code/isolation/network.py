# /// attack
# about = "reaches for the network: the loopback device, a name, an abstract socket"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import socket


def _reached():
    for family, address in (
        (socket.AF_INET, ("127.0.0.1", 45871)),
        (socket.AF_UNIX, "\0attack-on-the-grader"),
    ):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as one:
                one.settimeout(1)
                one.connect(address)
                return True
        except OSError:
            pass
    try:
        return bool(socket.getaddrinfo("example.org", 80))
    except OSError:
        return False
