"""Registry files as text: only what is changed changes."""

from muntin.model.windows_releases import build_named
from muntin.winruntime.base.identity import set_release, set_user
from muntin.winruntime.base.registry import Hive
from muntin.winruntime.base.users import user_named

TEXT = """WINE REGISTRY Version 2
;; All keys relative to \\\\Machine

[Software\\\\Microsoft\\\\Windows NT\\\\CurrentVersion] 1700000000
#time=1da0
"CSDVersion"="Service Pack 1"
"CurrentBuild"="7601"
"Long"=hex:01,02,\\
  03,04
"SystemRoot"="C:\\\\windows"

[Volatile Environment] 1700000000
"USERPROFILE"="C:\\\\users\\\\ContainerAdministrator"
"TEMP"="C:\\\\users\\\\ContainerAdministrator\\\\Temp"
"""
VERSION = r"Software\Microsoft\Windows NT\CurrentVersion"


def test_an_unchanged_hive_is_the_same_text() -> None:
    assert Hive(TEXT).text() == TEXT


def test_values_are_set_replaced_and_removed() -> None:
    hive = Hive(TEXT)
    hive.set(VERSION.upper(), "currentbuild", "17763")
    hive.set(VERSION, "Long", None)
    hive.set(VERSION, "UBR", 1697)
    hive.set(r"New\Key", "", 'say "x"')
    text = hive.text()
    assert "7601" not in text
    assert "03,04" not in text
    assert '"UBR"=dword:000006a1' in text
    assert '[New\\\\Key] 0\n@="say \\"x\\""' in text
    assert hive.get(VERSION, "SystemRoot") == r"C:\windows"


def test_keys_go_with_all_below_them() -> None:
    hive = Hive(TEXT)
    hive.remove("Software")
    assert "CurrentVersion" not in hive.text()
    assert "USERPROFILE" in hive.text()


def test_a_release_and_a_user_are_written_in() -> None:
    hive = Hive(TEXT)
    release = build_named("2022")
    set_release(hive, release)
    set_user(hive, user_named("ContainerUser"))
    assert hive.get(VERSION, "CurrentBuild") == str(release.build)
    assert hive.get(VERSION, "CSDVersion") is None
    assert hive.get(VERSION, "UBR") == release.revision
    assert hive.get("Volatile Environment", "TEMP") == r"C:\users\ContainerUser\AppData\Local\Temp"
