"""What makes Wine's registry that of one Windows release and one user. Pure text in and out.

Wine 8 takes the version's major and minor number from ``CurrentVersion``, so that value is
``10.0`` where Windows itself still writes 6.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.model.windows_releases import WindowsBuild
from muntin.winruntime.base.registry import Hive, Value
from muntin.winruntime.base.users import WindowsUser

BUILD_USER = "ContainerAdministrator"
"""Who the prefix is made as; other users' hives are made from that one's."""

_VERSION_KEYS = (
    r"Software\Microsoft\Windows NT\CurrentVersion",
    r"Software\Wow6432Node\Microsoft\Windows NT\CurrentVersion",
)
_SERVICES = r"System\CurrentControlSet\Services"
# Not needed by console programs; each costs memory and start time in every container.
_IDLE_SERVICES = (
    "PlugPlay", "winebus", "winehid", "wineusb", "Spooler", "StiSvc", "TermService", "Eventlog",
    "Schedule", "wuauserv", "NDIS",
)  # fmt: skip
_START_DISABLED = 4
_DEBUGGER = r"Software\Microsoft\Windows NT\CurrentVersion\AeDebug"
_RUN_SERVICES = r"Software\Microsoft\Windows\CurrentVersion\RunServices"
_OVERRIDES = r"Software\Wine\DllOverrides"


def trim(system: Hive) -> None:
    """Leave out services nobody uses, and the dump that Wine prints when a program crashes."""
    for service in _IDLE_SERVICES:
        system.set(f"{_SERVICES}\\{service}", "Start", _START_DISABLED)
    system.set(_RUN_SERVICES, "winemenubuilder", None)
    system.set(_DEBUGGER, "Debugger", "false")
    system.set(_DEBUGGER, "Auto", "0")


def set_release(system: Hive, release: WindowsBuild) -> None:
    """Make ``ver``, RtlGetVersion and the registry say that release."""
    values: dict[str, Value] = {
        "CSDVersion": None,
        "CurrentBuild": str(release.build),
        "CurrentBuildNumber": str(release.build),
        "CurrentVersion": "10.0",
        "CurrentMajorVersionNumber": 10,
        "CurrentMinorVersionNumber": 0,
        "ProductName": release.product_name,
        "EditionID": "ServerDatacenter",
        "InstallationType": release.installation_type,
        "ReleaseId": release.release_id,
        "UBR": release.revision,
        "CurrentType": "Multiprocessor Free",
    }
    for key in _VERSION_KEYS:
        for name, value in values.items():
            system.set(key, name, value)
    system.set(r"System\CurrentControlSet\Control\ProductOptions", "ProductType", "ServerNT")
    system.set(r"System\CurrentControlSet\Control\Windows", "CSDVersion", 0)


def prefer(user: Hive, programs: Iterable[str]) -> None:
    """Start the ``programs`` in system32 as they lie there, where Wine has some of that name."""
    for name in programs:
        user.set(_OVERRIDES, f"{name}.exe", "native")


def set_user(hive: Hive, user: WindowsUser) -> None:
    """Make the profile folder and TEMP those of ``user``."""
    profile = rf"users\{user.folder}"
    hive.replace(rf"users\{BUILD_USER}", profile)
    hive.replace(rf"{profile}\Temp", rf"{profile}\AppData\Local\Temp")
