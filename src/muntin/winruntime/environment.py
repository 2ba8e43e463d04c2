"""The Windows environment of a container: names without regard to case, the last one wins. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from muntin.winruntime.base.users import WindowsUser

WINE = {
    "HOME": "/prefix",
    "LANG": "C.UTF-8",
    "WINEPREFIX": "/prefix",
    "WINEARCH": "win64",
    "WINEDEBUG": "-all",
    "WINEDLLOVERRIDES": "mscoree,mshtml=",
    "WINESERVER": "/usr/lib/wine/wineserver64",
}
"""What Wine itself needs; wcinit hides it from programs."""

_SYSTEM32 = r"C:\Windows\system32"
DEFAULT_PATH = ";".join(
    (_SYSTEM32, r"C:\Windows", rf"{_SYSTEM32}\Wbem", rf"{_SYSTEM32}\WindowsPowerShell\v1.0")
)


class Environment:
    """Variables in the order in which they were first set."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[str, str]] = {}

    def set(self, name: str, value: str) -> None:
        """Set one; the first spelling of its name stays."""
        first, _ = self._entries.get(name.upper(), (name, ""))
        self._entries[name.upper()] = (first, value)

    def items(self) -> list[tuple[str, str]]:
        """Names and values."""
        return list(self._entries.values())

    def as_dict(self) -> dict[str, str]:
        """Names with values."""
        return dict(self._entries.values())


def container_environment(
    image_env: Iterable[str], pod_env: Iterable[Mapping[str, object]]
) -> dict[str, str]:
    """What image and pod ask for; the pod's values replace the image's."""
    environment = Environment()
    for entry in image_env:
        name, _, value = entry.partition("=")
        environment.set(name, value)
    for variable in pod_env:
        given = variable.get("value", b"")
        text = given.decode("utf-8", "surrogateescape") if isinstance(given, bytes) else str(given)
        environment.set(str(variable["key"]), text)
    return environment.as_dict()


def system_environment(user: WindowsUser, hostname: str, cpus: int) -> dict[str, str]:
    """What Windows gives every process of ``user``, for programs that start without Wine."""
    computer = hostname.upper()[:15]
    profile = rf"C:\Users\{user.folder}"
    return {
        "ALLUSERSPROFILE": r"C:\ProgramData",
        "APPDATA": rf"{profile}\AppData\Roaming",
        "CommonProgramFiles": r"C:\Program Files\Common Files",
        "COMPUTERNAME": computer,
        "ComSpec": rf"{_SYSTEM32}\cmd.exe",
        "LOCALAPPDATA": rf"{profile}\AppData\Local",
        "NUMBER_OF_PROCESSORS": str(cpus),
        "OS": "Windows_NT",
        "Path": DEFAULT_PATH,
        "PATHEXT": ".COM;.EXE;.BAT;.CMD;.VBS;.VBE;.JS;.JSE;.WSF;.WSH;.MSC",
        "PROCESSOR_ARCHITECTURE": "AMD64",
        "ProgramData": r"C:\ProgramData",
        "ProgramFiles": r"C:\Program Files",
        "PUBLIC": r"C:\Users\Public",
        "SystemDrive": "C:",
        "SystemRoot": r"C:\Windows",
        "TEMP": rf"{profile}\AppData\Local\Temp",
        "TMP": rf"{profile}\AppData\Local\Temp",
        "USERDOMAIN": computer,
        "USERNAME": user.name,
        "USERPROFILE": profile,
        "windir": r"C:\Windows",
    }


def merged(*layers: Mapping[str, str]) -> dict[str, str]:
    """Later layers win, names without regard to case."""
    environment = Environment()
    for layer in layers:
        for name, value in layer.items():
            environment.set(name, value)
    return environment.as_dict()
