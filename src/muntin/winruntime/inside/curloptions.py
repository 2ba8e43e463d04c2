"""The command line of curl.exe: what each option is, and what is refused.

Nothing is accepted without effect: an option is carried out, or the default already is what it
asks for, or it is refused with curl's words and exit code 2.
"""

from __future__ import annotations

FLAGS = {
    "s": "silent", "S": "show-error", "I": "head", "i": "include", "v": "verbose", "L": "location",
    "f": "fail", "k": "insecure", "O": "remote-name", "G": "get", "4": "ipv4", "6": "ipv6",
    "#": "progress-bar", "V": "version", "N": "no-buffer", "q": "disable", "g": "globoff",
    "h": "help", "1": "tlsv1",
}  # fmt: skip
VALUES = {
    "o": "output", "m": "max-time", "H": "header", "d": "data", "X": "request", "w": "write-out",
    "A": "user-agent", "e": "referer", "u": "user", "b": "cookie", "T": "upload-file",
    "D": "dump-header", "x": "proxy", "c": "cookie-jar", "U": "proxy-user", "r": "range",
}  # fmt: skip
# Output is never buffered; TLS is 1.2 or later; certificates are not looked up in lists of revoked
# ones; TCP_NODELAY is set; there is no progress meter and no file of defaults.
LONG_FLAGS = frozenset(FLAGS.values()) | {
    "compressed", "http1.1", "fail-with-body", "tcp-nodelay", "no-progress-meter", "ssl-no-revoke",
    "tlsv1.0", "tlsv1.1", "tlsv1.2", "basic", "retry-connrefused",
    "retry-all-errors", "create-dirs",
}  # fmt: skip
LONG_VALUES = frozenset(VALUES.values()) | {
    "noproxy", "connect-timeout", "data-raw", "data-binary", "data-ascii", "data-urlencode",
    "retry", "retry-delay", "retry-max-time", "max-redirs", "resolve", "cacert", "url", "json",
    "oauth2-bearer",
}  # fmt: skip
# Windows' curl has these.
REFUSED_SHORT = {
    "F": "form", "J": "remote-header-name", "K": "config", "n": "netrc", "E": "cert",
    "z": "time-cond", "C": "continue-at", "a": "append", "0": "http1.0",
    "M": "manual", "p": "proxytunnel", "Z": "parallel", "y": "speed-time",
    "Y": "speed-limit", "t": "telnet-option", "l": "list-only", "B": "use-ascii", "Q": "quote",
    "R": "remote-time", "P": "ftp-port", ":": "next",
}  # fmt: skip
REFUSED = frozenset(REFUSED_SHORT.values()) | {
    "form-string", "key", "limit-rate", "http2", "http2-prior-knowledge", "http3",
    "tlsv1.3", "sslv2", "sslv3", "digest", "ntlm", "negotiate", "anyauth",
    "trace", "trace-ascii", "stderr", "socks4", "socks4a", "socks5", "socks5-hostname",
    "preproxy", "proxy-header", "connect-to", "interface", "local-port", "dns-servers",
    "doh-url", "unix-socket", "remote-name-all", "output-dir", "location-trusted", "post301",
    "post302", "post303", "ciphers", "capath", "pinnedpubkey", "keepalive-time", "path-as-is",
    "ssl", "ssl-reqd", "variable", "styled-output", "junk-session-cookies", "max-filesize",
    "ignore-content-length", "raw", "tr-encoding", "request-target", "url-query", "rate",
    "parallel-max", "aws-sigv4", "etag-save", "etag-compare", "hsts", "alt-svc", "cert-type",
    "key-type", "pass", "proxy-insecure", "proxy-cacert", "netrc-file", "netrc-optional",
    "libcurl", "fail-early", "happy-eyeballs-timeout-ms",
}  # fmt: skip
_DATA = ("data", "data-raw", "data-binary", "data-ascii", "data-urlencode", "json")
_HINT = "\ncurl: try 'curl --help' for more information"
REMOTE_NAME = object()
"""In place of an output's name: the last part of the URL."""


class Usage(Exception):
    """The command line cannot be carried out."""

    def __init__(self, message: str, code: int = 2) -> None:
        """``code`` is the exit code."""
        super().__init__(message + (_HINT if code == 2 else ""))
        self.code = code


class Options:
    """What the command line says: flags, single values, and lists."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.flags: set[str] = set()
        self.values: dict[str, str] = {}
        self.headers: list[str] = []
        self.data: list[tuple[str, str]] = []
        self.cookies: list[str] = []
        self.resolve: list[str] = []
        self.outputs: list[object] = []
        self.urls: list[str] = []

    def store(self, name: str, value: str) -> None:
        """One option with its value."""
        lists: dict[str, list[str]] = {
            "header": self.headers, "resolve": self.resolve, "url": self.urls,
            "cookie": self.cookies,
        }  # fmt: skip
        if name in _DATA:
            self.data.append((name, value))
        elif name == "output":
            self.outputs.append(value)
        elif name in lists:
            lists[name].append(value)
        else:
            self.values[name] = value

    def switch(self, name: str) -> None:
        """One option without a value."""
        if name == "remote-name":
            self.outputs.append(REMOTE_NAME)
        else:
            self.flags.add(name)

    def number(self, name: str, default: float = 0) -> float:
        """The value of an option that is a number.

        Raises:
            Usage: it is none.
        """
        text = self.values.get(name)
        if text is None:
            return default
        try:
            number = float(text)
        except ValueError:
            number = -2.0
        if not -1 <= number < 1e9 or (number < 0 and name != "max-redirs"):
            raise Usage(f"curl: option --{name}: expected a proper numerical parameter")
        return number


def read_options(argv: list[str]) -> Options:
    """The options of a command line.

    Raises:
        Usage: one is unknown, refused, or lacks its value.
    """
    options = Options()
    rest = list(argv)
    while rest:
        arg = rest.pop(0)
        if arg.startswith("--") and len(arg) > 2:
            _long(options, arg[2:], rest)
        elif arg.startswith("-") and len(arg) > 1:
            _short(options, arg, rest)
        else:
            options.urls.append(arg)
    if options.data and "head" in options.flags and "get" not in options.flags:
        raise Usage(
            "Warning: You can only select one HTTP request method! You asked for both POST \n"
            "Warning: (-d, --data) and HEAD (-I, --head)."
        )
    return options


def _long(options: Options, name: str, rest: list[str]) -> None:
    if name in LONG_FLAGS:
        options.switch(name)
    elif name.startswith("no-") and name[3:] in LONG_FLAGS:
        options.flags.discard(name[3:])
    elif name in LONG_VALUES:
        if not rest:
            raise Usage(f"curl: option --{name}: requires parameter")
        options.store(name, rest.pop(0))
    else:
        raise _not_there(f"--{name}", name in REFUSED)


def _short(options: Options, arg: str, rest: list[str]) -> None:
    letters = arg[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in FLAGS:
            options.switch(FLAGS[letter])
        elif letter in VALUES:
            if not letters and not rest:
                raise Usage(f"curl: option {arg}: requires parameter")
            options.store(VALUES[letter], letters or rest.pop(0))
            return
        else:
            raise _not_there(arg, letter in REFUSED_SHORT)


def _not_there(option: str, known: bool) -> Usage:
    if known:
        return Usage(f"curl: option {option}: the installed libcurl version doesn't support this")
    return Usage(f"curl: option {option}: is unknown")


def usage() -> str:
    """The text of ``--help``."""
    short = {name: letter for letter, name in {**FLAGS, **VALUES}.items()}
    lines = ["Usage: curl [options...] <url>"]
    for name in sorted(LONG_FLAGS | LONG_VALUES):
        letter = f"-{short[name]}, " if name in short else "    "
        lines.append(f" {letter}--{name}{' <value>' if name in LONG_VALUES else ''}")
    return "\n".join([*lines, ""])
