"""Which hosts a study opens, and which addresses the proxy would never connect to."""

from __future__ import annotations

import pytest

from mldevbench.errors import UserError
from mldevbench.mirror.egress import Refused, Rules, public, read_head
from mldevbench.mirror.network import allows, hosts_of, normal
from mldevbench.model.loop import wait_for


def test_one_way_to_write_it() -> None:
    assert hosts_of("none") == () and normal("none") == "none"
    assert normal("allow=PyPI.org, .pythonhosted.org,pypi.org") == "allow=.pythonhosted.org,pypi.org"


@pytest.mark.parametrize(
    "text", ["mirror", "allow", "allow=", "allow=1.2.3.4", "allow=a b", "allow=http://x.org", "all"]
)
def test_what_is_no_network(text: str) -> None:
    with pytest.raises(UserError):
        hosts_of(text)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("pypi.org", True),
        ("PYPI.org.", True),
        ("files.pypi.org", False),
        ("evil-pypi.org", False),
        ("files.pythonhosted.org", True),
        ("pythonhosted.org", True),
        ("evilpythonhosted.org", False),
        ("", False),
    ],
)
def test_names(name: str, right: bool) -> None:
    assert allows(("pypi.org", ".pythonhosted.org"), name) is right


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
     "::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "ff02::1", "nonsense"],
)  # fmt: skip
def test_addresses_that_are_not_out_in_the_world(address: str) -> None:
    assert not public(address)


def test_an_address_out_in_the_world() -> None:
    assert public("1.1.1.1") and public("2606:4700:4700::1111")


async def _near(host: str, port: int) -> list[str]:
    return ["10.0.0.5"]


async def _world(host: str, port: int) -> list[str]:
    return ["1.1.1.1"]


@pytest.mark.parametrize(
    ("rules", "host", "port", "said"),
    [
        (Rules(("a.org",), resolve=_world), "b.org", 443, "b.org is not allowed"),
        (Rules(("a.org",), resolve=_world), "a.org", 6379, "port 6379 is not allowed"),
        (Rules(("a.org",), resolve=_near), "a.org", 443, "no public address"),
        (Rules(("a.org",), resolve=_world, forbidden=frozenset({"1.1.1.1"})), "a.org", 443, "no public address"),
    ],
)
def test_what_the_rules_refuse(rules: Rules, host: str, port: int, said: str) -> None:
    with pytest.raises(Refused, match=said):
        wait_for(rules.address(host, port))


def test_a_plain_request_goes_to_the_host_that_it_names_and_to_no_other() -> None:
    head = b"GET http://a.org/x?y=1 HTTP/1.1\r\nHost: inner.example\r\nProxy-Authorization: z\r\nAccept: */*\r\n\r\n"
    wanted = read_head(head)
    assert (wanted.host, wanted.port) == ("a.org", 80)
    assert wanted.onward == b"GET /x?y=1 HTTP/1.1\r\nHost: a.org\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    assert read_head(b"CONNECT a.org:443 HTTP/1.1\r\n\r\n").onward is None
    for bad in (
        b"GET /plain HTTP/1.1\r\n\r\n",
        b"GET ftp://a.org/ HTTP/1.1\r\n\r\n",
        b"CONNECT a.org:x HTTP/1.1\r\n\r\n",
    ):
        with pytest.raises(Refused):
            read_head(bad)
