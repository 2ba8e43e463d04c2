"""Windows layers become overlay layers: folding of case, deletions, links, and no way out."""

import io
import os
import stat
import tarfile
from pathlib import Path

import pytest

from muntin.kit.errors import Invalid
from muntin.seams.oci.layers import unpack

Entry = tuple[str, bytes | None]


def layer(path: Path, *entries: Entry, links: dict[str, tuple[bytes, str]] | None = None) -> Path:
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.pax_headers = {"MSWINDOWS.fileattr": "32"}
            if content is None:
                info.type = tarfile.DIRTYPE
            else:
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content or b""))
        for name, (kind, target) in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            tar.addfile(info)
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "base/windows/system32").mkdir(parents=True)
    (tmp_path / "base/windows/system32/a.dll").write_text("a")
    return tmp_path / "base"


def test_names_take_the_case_that_is_there(tmp_path: Path, base: Path) -> None:
    source = layer(
        tmp_path / "l",
        ("Files", None),
        ("Files/Windows", None),
        ("Files/Windows/System32/App.exe", b"MZ"),
        ("Files/App/Data/One.txt", b"1"),
        ("Files/app/DATA/two.txt", b"2"),
        ("Hives/System_Delta", b"regf"),
        ("UtilityVM/Files/x", b"x"),
    )
    assert unpack(source, tmp_path / "out", [base]) == 4
    found = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*")}
    assert found == {"windows/system32/App.exe", "App/Data/One.txt", "App/Data/two.txt"}


def test_deleted_and_opaque_and_linked(tmp_path: Path, base: Path) -> None:
    source = layer(
        tmp_path / "l",
        ("Files/Windows/System32/.wh.A.DLL", b""),
        ("Files/data/.wh..wh..opq", b""),
        ("Files/data/f.txt", b"text"),
        links={
            "Files/data/hard.txt": (tarfile.LNKTYPE, "Files/data/F.txt"),
            "Files/Documents": (tarfile.SYMTYPE, "\\\\?\\C:\\Data"),
        },
    )
    out = tmp_path / "out"
    unpack(source, out, [base])
    status = (out / "windows/system32/a.dll").stat()
    assert stat.S_ISCHR(status.st_mode)
    assert status.st_rdev == 0
    assert os.getxattr(out / "data", "trusted.overlay.opaque") == b"y"
    assert (out / "data/hard.txt").samefile(out / "data/f.txt")
    assert os.readlink(out / "Documents") == "data"


@pytest.mark.parametrize(
    ("entries", "links"),
    [
        ([("Files/../../etc/passwd", b"x")], {}),
        ([], {"Files/out": (tarfile.SYMTYPE, "..\\..\\..\\etc")}),
        ([], {"Files/hard": (tarfile.LNKTYPE, "Files/absent")}),
    ],
)
def test_what_leads_out_is_refused(
    tmp_path: Path, entries: list[Entry], links: dict[str, tuple[bytes, str]]
) -> None:
    with pytest.raises(Invalid):
        unpack(layer(tmp_path / "l", *entries, links=links), tmp_path / "out", [])


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    first = layer(tmp_path / "l", links={"Files/d": (tarfile.SYMTYPE, "C:\\windows")})
    unpack(first, tmp_path / "out", [])
    second = layer(tmp_path / "m", ("Files/d/x.txt", b"x"))
    with pytest.raises(Invalid, match="goes through the link"):
        unpack(second, tmp_path / "out", [])


def test_what_is_no_tar_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l").write_bytes(b"not a tar")
    with pytest.raises(Invalid, match="not a tar archive"):
        unpack(tmp_path / "l", tmp_path / "out", [])
