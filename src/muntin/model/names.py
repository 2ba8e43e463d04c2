"""What upstream accepts as a name, a label, a key, a port or an address.

Each function gives the messages upstream gives, in its order; an empty list means "valid".
Source: apimachinery pkg/util/validation and pkg/api/validation v1.34; RFC 1035, RFC 1123.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_HEADER = "[-A-Za-z0-9]+"

LABEL_MAX_LENGTH = 63
SUBDOMAIN_MAX_LENGTH = 253
_PORT_NAME_MAX_LENGTH = 15  # RFC 6335 section 5.1


def too_long(limit: int, unit: str = "characters") -> str:
    """Upstream's words for a text of more than ``limit`` characters."""
    return f"must be no more than {limit} {unit}"


def _regex_message(text: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{pattern}')"


_LABEL_MESSAGE = _regex_message(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character",
    _LABEL,
    "my-name",
    "123-abc",
)
_SUBDOMAIN_MESSAGE = _regex_message(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
)
_DNS1035_MESSAGE = _regex_message(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character",
    _DNS1035,
    "my-name",
    "abc-123",
)
_QUALIFIED_MESSAGE = _regex_message(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character",
    _QUALIFIED,
    "MyName",
    "my.name",
    "123-abc",
)
_LABEL_VALUE_MESSAGE = _regex_message(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character",
    f"({_QUALIFIED})?",
    "MyValue",
    "my_value",
    "12345",
)
_CONFIG_KEY_MESSAGE = _regex_message(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    _CONFIG_KEY,
    "key.name",
    "KEY_NAME",
    "key-name",
)
_HEADER_MESSAGE = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    f"regex used for validation is '{_HEADER}')"
)

_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_WILDCARD_MESSAGE = _regex_message(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    "character",
    _WILDCARD,
    "*.example.com",
)
_UNDERSCORED_LABEL = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORED = rf"{_UNDERSCORED_LABEL}(\.{_UNDERSCORED_LABEL})*"
_UNDERSCORED_MESSAGE = _regex_message(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-', '_' "
    "or '.', and must start and end with an alphanumeric character",
    _UNDERSCORED,
    "example.com",
)
_URL_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
PERCENT_MESSAGE = _regex_message(
    "a valid percent string must be a numeric string followed by an ending '%'",
    "[0-9]+%",
    "1%",
    "93%",
)
_SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SYSCTL_SEGMENT}[\./])*{_SYSCTL_SEGMENT}"
_MAX_ID = 2**31 - 1
_MOST_KEYS, _LONGEST_KEY = 4096, 128  # judged once: the same come again and again

_label = re.compile(_LABEL).fullmatch
_wildcard = re.compile(_WILDCARD).fullmatch
_underscored = re.compile(_UNDERSCORED).fullmatch
_url_path = re.compile(_URL_PATH).fullmatch
_sysctl = re.compile(_SYSCTL).fullmatch
_subdomain = re.compile(_SUBDOMAIN).fullmatch
_dns1035 = re.compile(_DNS1035).fullmatch
_qualified = re.compile(_QUALIFIED).fullmatch
_config_key = re.compile(_CONFIG_KEY).fullmatch
_header = re.compile(_HEADER).fullmatch
_port_charset = re.compile("[-a-z0-9]+").fullmatch
_port_letter = re.compile("[a-z]").search


def dns1123_label(value: str) -> list[str]:
    """Names that are one DNS label: namespaces, containers, volumes."""
    found = [too_long(LABEL_MAX_LENGTH)] if len(value) > LABEL_MAX_LENGTH else []
    if _label(value):
        return found
    return [*found, "must not contain dots" if _subdomain(value) else _LABEL_MESSAGE]


def dns1123_subdomain(value: str) -> list[str]:
    """Names that are a DNS subdomain: most objects."""
    found = [too_long(SUBDOMAIN_MAX_LENGTH)] if len(value) > SUBDOMAIN_MAX_LENGTH else []
    return found if _subdomain(value) else [*found, _SUBDOMAIN_MESSAGE]


def dns1035_label(value: str) -> list[str]:
    """Names of Services."""
    found = [too_long(LABEL_MAX_LENGTH)] if len(value) > LABEL_MAX_LENGTH else []
    return found if _dns1035(value) else [*found, _DNS1035_MESSAGE]


def qualified_name(value: str) -> list[str]:
    """Keys of labels, annotations, taints and resources: ``name`` or ``prefix/name``."""
    return [] if len(value) <= _LONGEST_KEY and _is_key(value) else _wrong_in_key(value)


@lru_cache(maxsize=_MOST_KEYS)
def _is_key(value: str) -> bool:
    return not _wrong_in_key(value)


def _wrong_in_key(value: str) -> list[str]:
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        return [
            f"a qualified name {_QUALIFIED_MESSAGE} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ]
    found = []
    if slash and not prefix:
        found.append("prefix part must be non-empty")
    elif slash:
        found += [f"prefix part {message}" for message in dns1123_subdomain(prefix)]
    if not name:
        found.append("name part must be non-empty")
    elif len(name) > LABEL_MAX_LENGTH:
        found.append(f"name part {too_long(LABEL_MAX_LENGTH, 'bytes')}")
    if not _qualified(name):
        found.append(f"name part {_QUALIFIED_MESSAGE}")
    return found


def label_value(value: str) -> list[str]:
    """Values of labels: empty, or up to 63 characters."""
    found = [too_long(LABEL_MAX_LENGTH, "bytes")] if len(value) > LABEL_MAX_LENGTH else []
    return found if not value or _qualified(value) else [*found, _LABEL_VALUE_MESSAGE]


def config_key(value: str) -> list[str]:
    """Keys of ConfigMaps and Secrets, which become file names."""
    found = [too_long(SUBDOMAIN_MAX_LENGTH)] if len(value) > SUBDOMAIN_MAX_LENGTH else []
    if not _config_key(value):
        found.append(_CONFIG_KEY_MESSAGE)
    return found + _not_dots(value)


_environment_name = re.compile(r"[ -<>-~]+").fullmatch


_plain_variable = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*").fullmatch
_VARIABLE_MESSAGE = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or "
    "'.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or "
    "'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"
)


def plain_environment_name(value: str) -> list[str]:
    """Names of environment variables as versions before 1.32 take them."""
    found = [] if _plain_variable(value) else [_VARIABLE_MESSAGE]
    if value == ".":
        found.append("must not be '.'")
    elif value == "..":
        found.append("must not be '..'")
    elif value.startswith(".."):
        found.append("must not start with '..'")
    return found


def environment_name(value: str) -> list[str]:
    """Names of environment variables: printable ASCII without ``=`` (so ``ProgramFiles(x86)``)."""
    if not value:
        return ["environment variable name must be non-empty"]
    if not _environment_name(value):
        return [
            "a valid environment variable name must consist only of printable ASCII characters "
            "other than '='"
        ]
    return []


def _not_dots(value: str) -> list[str]:
    if value in (".", ".."):
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def http_header_name(value: str) -> list[str]:
    """Header names of HTTP probes."""
    return [] if _header(value) else [_HEADER_MESSAGE]


def port_name(value: str) -> list[str]:
    """Names of container ports (IANA service names)."""
    found = []
    if len(value) > _PORT_NAME_MAX_LENGTH:
        found.append(too_long(_PORT_NAME_MAX_LENGTH))
    if not _port_charset(value):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _port_letter(value):
        found.append("must contain at least one letter (a-z)")
    if "--" in value:
        found.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return found


def port_number(value: int) -> list[str]:
    """TCP, UDP and SCTP ports."""
    return [] if 1 <= value <= 65535 else ["must be between 1 and 65535, inclusive"]


def in_range(value: int, low: int, high: int) -> list[str]:
    """Numbers from ``low`` to ``high``, both included."""
    return [] if low <= value <= high else [f"must be between {low} and {high}, inclusive"]


def user_id(value: int) -> list[str]:
    """User and group ids of Linux."""
    return in_range(value, 0, _MAX_ID)


def wildcard_subdomain(value: str) -> list[str]:
    """``*.`` and a DNS subdomain."""
    found = [too_long(SUBDOMAIN_MAX_LENGTH)] if len(value) > SUBDOMAIN_MAX_LENGTH else []
    return found if _wildcard(value) else [*found, _WILDCARD_MESSAGE]


def underscored_subdomain(value: str) -> list[str]:
    """A DNS subdomain whose labels may hold underscores: search paths of resolvers."""
    found = [too_long(SUBDOMAIN_MAX_LENGTH)] if len(value) > SUBDOMAIN_MAX_LENGTH else []
    return found if _underscored(value) else [*found, _UNDERSCORED_MESSAGE]


def url_path(value: str) -> list[str]:
    """What may follow the slash of a domain-prefixed path."""
    if _url_path(value):
        return []
    return [f"Invalid path (regex used for validation is '{_URL_PATH}')"]


def sysctl(value: str) -> list[str]:
    """Names of kernel parameters, with dots or slashes."""
    if len(value) <= SUBDOMAIN_MAX_LENGTH and _sysctl(value):
        return []
    return [f"must have at most {SUBDOMAIN_MAX_LENGTH} characters and match regex ^{_SYSCTL}$"]


def path_segment(value: str) -> list[str]:
    """Names that need only be one segment of a URL path: RBAC objects."""
    if value in (".", ".."):
        return [f"may not be '{value}'"]
    return [f"may not contain '{char}'" for char in ("/", "%") if char in value]


def ip_address(value: str) -> list[str]:
    """IPv4 or IPv6 addresses."""
    return [] if is_ip(value) else ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]


def is_ip(value: str) -> bool:
    """Whether it is an IPv4 or IPv6 address without a zone."""
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return "%" not in value


def cidr(value: str) -> list[str]:
    """Address ranges such as ``10.9.8.0/24``."""
    message = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
    if "/" not in value:
        return [message]
    try:
        ipaddress.ip_interface(value)
    except ValueError:
        return [message]
    return []


def generate_name_base(prefix: str) -> str:
    """``metadata.generateName`` cut so that a random suffix of five characters fits.

    Source: apiserver pkg/storage/names/generate.go (maxNameLength 63, suffix 5).
    """
    return prefix[: LABEL_MAX_LENGTH - 5]


# Letters of generated suffixes: no vowels, so no words. Source: apimachinery util/rand.
SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
