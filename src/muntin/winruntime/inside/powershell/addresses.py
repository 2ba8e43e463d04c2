"""IPAddress, IPEndPoint and Dns."""

from __future__ import annotations

import socket
from typing import Any

from . import values as v
from .errors import NetError


class IPAddress(v.NetObject):
    """System.Net.IPAddress; equal by value, so that it serves as a key."""

    net_name = "System.Net.IPAddress"

    def __init__(self, text: str) -> None:
        """``text`` is valid; an IPv6 one may have a scope."""
        self._text = text
        self.IPAddressToString = text
        self.AddressFamily = "InterNetworkV6" if ":" in text else "InterNetwork"

    def ToString(self) -> str:
        """The address."""
        return self._text

    def GetAddressBytes(self) -> bytearray:
        family = socket.AF_INET6 if ":" in self._text else socket.AF_INET
        return bytearray(socket.inet_pton(family, self._text.split("%")[0]))

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IPAddress) and other._text == self._text

    def equals(self, other: Any) -> bool:
        """Also of a text."""
        return v.to_text(other).lower() == self._text.lower()


def to_address(value: Any) -> IPAddress:
    """[ipaddress]value.

    Raises:
        NetError: FormatException.
    """
    if isinstance(value, IPAddress):
        return value
    text = v.to_text(value)
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            packed = socket.inet_pton(family, text.split("%")[0])
        except OSError:
            continue
        scope = text.partition("%")[2]
        return IPAddress(socket.inet_ntop(family, packed) + (f"%{scope}" if scope else ""))
    raise NetError("System.FormatException", "An invalid IP address was specified.")


class Addresses:
    """Statics of IPAddress."""

    Any = IPAddress("0.0.0.0")
    Loopback = IPAddress("127.0.0.1")
    IPv6Any = IPAddress("::")
    IPv6Loopback = IPAddress("::1")
    Broadcast = IPAddress("255.255.255.255")

    @staticmethod
    def Parse(text: object) -> IPAddress:
        """The address a text means."""
        return to_address(text)


class IPEndPoint(v.NetObject):
    """System.Net.IPEndPoint."""

    net_name = "System.Net.IPEndPoint"

    def __init__(self, address: Any, port: Any) -> None:
        """An address and a port."""
        self.Address = to_address(address)
        self.Port = v.to_int(port)
        self.AddressFamily = self.Address.AddressFamily

    def ToString(self) -> str:
        """``address:port``."""
        host = self.Address.ToString()
        return f"[{host}]:{self.Port}" if ":" in host else f"{host}:{self.Port}"


def lookup(name: str) -> list[IPAddress]:
    """The addresses of a host name.

    Raises:
        NetError: SocketException, the host is not known.
    """
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as err:
        raise NetError(
            "System.Net.Sockets.SocketException", "No such host is known", ErrorCode=11001
        ) from err
    return [IPAddress(text) for text in dict.fromkeys(str(row[4][0]) for row in found)]


class HostEntry(v.NetObject):
    """System.Net.IPHostEntry."""

    net_name = "System.Net.IPHostEntry"

    def __init__(self, name: str, addresses: list[IPAddress]) -> None:
        """A name and its addresses."""
        self.HostName = name
        self.AddressList: list[Any] = list(addresses)
        self.Aliases: list[Any] = []
        self.shown = ("HostName", "Aliases", "AddressList")


class Dns:
    """System.Net.Dns."""

    @staticmethod
    def GetHostName() -> str:
        """This host."""
        return socket.gethostname()

    @staticmethod
    def GetHostAddresses(name: Any) -> list[Any]:
        """Addresses alone."""
        return list(lookup(v.to_text(name)))

    @staticmethod
    def GetHostEntry(name: Any) -> HostEntry:
        """Name and addresses."""
        text = v.to_text(name)
        return HostEntry(text or socket.gethostname(), lookup(text))

    GetHostByName = Resolve = GetHostEntry


class ServicePoints:
    """System.Net.ServicePointManager: what scripts set here is how things are already."""

    SecurityProtocol = "Tls12"

    @staticmethod
    def set_SecurityProtocol(_value: Any) -> None:
        """TLS 1.2 and later in any case."""

    @staticmethod
    def set_Expect100Continue(_value: Any) -> None:
        """Never sent."""
