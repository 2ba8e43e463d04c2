"""Get-Acl: the owner and mode of a file as Windows' access rules.

Administrators and SYSTEM are the container's root, which may do everything. Others have what the
mode gives them, under the names of the Windows accounts. Execution has no bit of its own on
Windows: who can read can execute.
"""

from __future__ import annotations

import os
import stat
from typing import Any, NamedTuple

from .. import values as v
from ..stages import Call
from .files import expand

ADMINISTRATORS, SYSTEM, USERS = "BUILTIN\\Administrators", "NT AUTHORITY\\SYSTEM", "BUILTIN\\Users"
_ACCOUNTS = {
    1000: "User Manager\\ContainerUser",
    1001: "NT AUTHORITY\\NETWORK SERVICE",
    1002: "NT AUTHORITY\\LOCAL SERVICE",
}
_SDDL = {
    ADMINISTRATORS: "BA", SYSTEM: "SY", USERS: "BU", _ACCOUNTS[1000]: "S-1-5-93-2-2",
    _ACCOUNTS[1001]: "NS", _ACCOUNTS[1002]: "LS",
}  # fmt: skip
_INHERITED_BY_FILES = "ContainerInherit, ObjectInherit"


class Rights(NamedTuple):
    """A value of FileSystemRights and its text."""

    value: int
    text: str


FULL = Rights(0x1F01FF, "FullControl")
MODIFY = Rights(0x1301BF, "Modify, Synchronize")
READ = Rights(0x1200A9, "ReadAndExecute, Synchronize")
WRITE = Rights(0x100116, "Write, Synchronize")
EXECUTE = Rights(0x100020, "ExecuteFile, Synchronize")


class Named(v.PSObject):
    """An object that compares by its text; a value of an enumeration is a number, too."""

    def as_number(self) -> int:
        """The value of the enumeration.

        Raises:
            NetError: it is no number.
        """
        return v.to_int(self.properties.get("value__", self.text))

    def equals(self, other: Any) -> bool:
        """Whether ``other`` has the same text or number."""
        if isinstance(other, int):
            return bool(other == self.properties.get("value__"))
        return v.to_text(other).lower() == self.text.lower()


class Statics:
    """[Security.AccessControl.AccessControlType]."""

    Allow = "Allow"
    Deny = "Deny"


def account(number: int, root: str) -> str:
    """The Windows name of a user or group; ``root`` is that of number 0.

    Other numbers get the identifier that Samba gives to Unix users (S-1-22-1).
    """
    if number == 0:
        return root
    return _ACCOUNTS.get(number, f"S-1-22-1-{number}")


def rights(bits: int) -> Rights | None:
    """What three bits of a mode allow; None for nothing."""
    if bits & 6 == 6:
        return MODIFY
    if bits & 4:
        return READ
    if bits & 2:
        return WRITE
    return EXECUTE if bits & 1 else None


def rules(uid: int, gid: int, mode: int) -> list[tuple[str, Rights]]:
    """Who may do what with a file of this owner, group and mode."""
    entries = [(ADMINISTRATORS, FULL), (SYSTEM, FULL)]
    owner, group = account(uid, ADMINISTRATORS), account(gid, SYSTEM)
    for name, bits in ((owner, mode >> 6), (group, mode >> 3), (USERS, mode)):
        allowed = rights(bits & 7)
        if allowed and all(name != known for known, _ in entries):
            full = name == owner and allowed is MODIFY
            entries.append((name, FULL if full else allowed))
    return entries


def get_acl(call: Call, item: Any, has_input: bool) -> None:
    """The access rules of files and folders."""
    if has_input and isinstance(item, v.PSObject):
        patterns = [v.to_text(item.properties.get("FullName", item))]
    elif has_input:
        patterns = [v.to_text(item)]
    else:
        patterns = call.get("path", ["."])
    for path in expand(call, patterns):
        call.write(_acl(path, os.stat(call.host.unix_path(path))))


def _acl(path: str, info: os.stat_result) -> v.PSObject:
    folder = stat.S_ISDIR(info.st_mode)
    owner, group = account(info.st_uid, ADMINISTRATORS), account(info.st_gid, SYSTEM)
    access = rules(info.st_uid, info.st_gid, info.st_mode)
    inherit = "OICI" if folder else ""
    entries = "".join(
        f"(A;{inherit};{'FA' if allowed is FULL else hex(allowed.value)};;;{_sid(name)})"
        for name, allowed in access
    )
    row = v.PSObject(
        f"System.Security.AccessControl.{'Directory' if folder else 'File'}Security",
        Path=f"Microsoft.PowerShell.Core\\FileSystem::{path}", PSPath=path, Owner=owner,
        Group=group, Access=[_rule(name, allowed, folder) for name, allowed in access],
        AccessToString="\n".join(f"{name} Allow  {allowed.text}" for name, allowed in access),
        Sddl=f"O:{_sid(owner)}G:{_sid(group)}D:{entries}",
        AreAccessRulesProtected=False, AreAccessRulesCanonical=True,
    )  # fmt: skip
    row.shown = ("Path", "Owner", "AccessToString")
    return row


def _sid(name: str) -> str:
    return _SDDL.get(name, name)


def _rule(name: str, allowed: Rights, folder: bool) -> v.PSObject:
    value = Named("System.Security.AccessControl.FileSystemRights", value__=allowed.value)
    value.text = allowed.text
    identity = Named("System.Security.Principal.NTAccount", Value=name)
    identity.text = name
    row = v.PSObject(
        "System.Security.AccessControl.FileSystemAccessRule",
        FileSystemRights=value, AccessControlType="Allow", IdentityReference=identity,
        IsInherited=False, InheritanceFlags=_INHERITED_BY_FILES if folder else "None",
        PropagationFlags="None",
    )  # fmt: skip
    row.shown = tuple(row.properties)
    return row
