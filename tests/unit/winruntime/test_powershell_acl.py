"""Get-Acl: owner and mode as access rules."""

from __future__ import annotations

import pytest

from muntin.winruntime.inside.powershell.cmdlets.security import (
    ADMINISTRATORS,
    EXECUTE,
    FULL,
    MODIFY,
    READ,
    SYSTEM,
    USERS,
    WRITE,
    rules,
)

ROOT = [(ADMINISTRATORS, FULL), (SYSTEM, FULL)]
CONTAINER_USER = "User Manager\\ContainerUser"
# The bits by which upstream's mounttest program reads rights (agnhost, filePermissions.ps1).
READ_BITS, WRITE_BITS, EXECUTE_BITS = 0x81, 0x116, 0x21


@pytest.mark.parametrize(
    ("uid", "gid", "mode", "expected"),
    [
        (0, 0, 0o644, [*ROOT, (USERS, READ)]),
        (0, 0, 0o400, ROOT),
        (0, 0, 0o777, [*ROOT, (USERS, MODIFY)]),
        (0, 0, 0o712, [*ROOT, (USERS, WRITE)]),
        (0, 0, 0o711, [*ROOT, (USERS, EXECUTE)]),
        (1000, 1000, 0o640, [*ROOT, (CONTAINER_USER, FULL)]),
        (1000, 0, 0o444, [*ROOT, (CONTAINER_USER, READ), (USERS, READ)]),
        (65534, 1001, 0o470, [
            *ROOT, ("S-1-22-1-65534", READ), ("NT AUTHORITY\\NETWORK SERVICE", MODIFY),
        ]),
    ],
)  # fmt: skip
def test_rules(uid, gid, mode, expected):
    assert rules(uid, gid, mode) == expected


def test_rights_hold_the_bits_that_upstream_looks_for():
    seen = {
        one: sum(
            digit
            for bits, digit in ((READ_BITS, 4), (WRITE_BITS, 2), (EXECUTE_BITS, 1))
            if one.value & bits == bits
        )
        for one in (FULL, MODIFY, READ, WRITE)
    }
    assert seen == {FULL: 7, MODIFY: 7, READ: 5, WRITE: 2}


def test_get_acl(powershell, drive_c):
    path = drive_c / "data/a.txt"
    path.touch(0o644)
    path.chmod(0o644)
    script = (
        "$acl = Get-Acl C:\\data\\a.txt; $rule = $acl.Access[2]; $acl.Owner; $acl.Group; $acl.Path;"
        "$rule.FileSystemRights.value__; $rule.FileSystemRights -band 2;"
        '"$($rule.IdentityReference)";'
        "$rule.IdentityReference -eq 'builtin\\users'; $acl.Access[0].FileSystemRights -eq"
        " 'FullControl'; $rule.IdentityReference.Value.Equals($acl.Owner);"
        "$rule.AccessControlType -eq [Security.AccessControl.AccessControlType]::Allow; $acl.Sddl"
    )
    assert powershell(script).out.splitlines() == [
        "BUILTIN\\Administrators",
        "NT AUTHORITY\\SYSTEM",
        "Microsoft.PowerShell.Core\\FileSystem::C:\\data\\a.txt",
        "1179817",
        "0",
        "BUILTIN\\Users",
        "True",
        "True",
        "False",
        "True",
        "O:BAG:SYD:(A;;FA;;;BA)(A;;FA;;;SY)(A;;0x1200a9;;;BU)",
    ]


def test_get_acl_of_what_comes_in_and_of_what_is_not_there(powershell, drive_c):
    (drive_c / "data/a.txt").touch()
    done = powershell("Get-ChildItem C:\\data | Get-Acl | % { $_.Access[0].InheritanceFlags }")
    assert done.out == "None\n"
    folder = powershell("(Get-Acl C:\\data).Access[0].InheritanceFlags")
    assert folder.out == "ContainerInherit, ObjectInherit\n"
    assert (
        "Cannot find path 'C:\\no' because it does not exist." in powershell("Get-Acl C:\\no").err
    )
