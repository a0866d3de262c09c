"""Which names of hosts are this computer's own."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool | None:
    """Whether an address never leaves this computer; None of what is no address: a name, or a path."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return None


def is_own(host: str) -> bool:
    """Whether a host is understood on this computer only.

    >>> is_own("127.0.0.1"), is_own("::1"), is_own("app.localhost"), is_own("192.168.0.7"), is_own("")
    (True, True, True, False, False)
    """
    return host == "localhost" or host.endswith(".localhost") or bool(is_loopback(host))
