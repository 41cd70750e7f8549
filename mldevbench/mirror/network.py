"""What of the outer network a study opens to its agents: nothing, or named hosts."""

from __future__ import annotations

import re

from mldevbench.errors import UserError

NONE = "none"
NAME = re.compile(r"\.?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


def hosts_of(network: str) -> tuple[str, ...]:
    """Return the hosts that `allow=HOST,…` names; a leading dot means every host below that name."""
    if network == NONE:
        return ()
    word, equals, rest = network.partition("=")
    hosts = tuple(name.strip().lower() for name in rest.split(",") if name.strip())
    if word != "allow" or not equals or not hosts:
        raise UserError(f"network {network!r}: write none, or allow=HOST,… such as allow=pypi.org,.pythonhosted.org")
    for host in hosts:
        if not NAME.fullmatch(host) or host.rpartition(".")[2].isdigit():
            raise UserError(f"network {network!r}: {host!r} is no host name; addresses can't be allowed")
    return hosts


def normal(network: str) -> str:
    """Return the one way to write it, so that equal studies are equal."""
    hosts = hosts_of(network)
    return f"allow={','.join(sorted(set(hosts)))}" if hosts else NONE


def allows(hosts: tuple[str, ...], name: str) -> bool:
    asked = name.lower().rstrip(".")
    return any(asked == host.lstrip(".") or (host.startswith(".") and asked.endswith(host)) for host in hosts)
