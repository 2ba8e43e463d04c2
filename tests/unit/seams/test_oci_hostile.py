"""Hostile images: each trick is refused, the error names the entry, and no files are left."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import json
import lzma
import os
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muntin.kit.errors import Invalid, MuntinError
from muntin.seams.oci import manifest
from muntin.seams.oci.archive import open_archive
from muntin.seams.oci.layers import LIMITS, unpack
from muntin.winruntime.image_store import chain_ids

HEX = "ab" * 32
FUZZ = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def entry(name: str, kind: bytes = tarfile.REGTYPE, data: bytes = b"", **more: Any) -> bytes:
    """One member, headers and content."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(data)
    for key, value in more.items():
        setattr(info, key, value)
    padding = b"\0" * (-len(data) % tarfile.BLOCKSIZE)
    return info.tobuf(tarfile.PAX_FORMAT) + data + padding


def link(name: str, to: str, kind: bytes = tarfile.SYMTYPE) -> bytes:
    return entry(name, kind, linkname=to)


def pax(name: str, **headers: str) -> bytes:
    return entry(name, pax_headers=headers)


def raw_size(header: bytes, size: int) -> bytes:
    """The header with another size, in the binary form, and a right checksum."""
    field = (
        size.to_bytes(12, "big", signed=True) if size < 0 else b"\x80" + size.to_bytes(11, "big")
    )
    data = bytearray(header[:512])
    data[124:136] = field
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data)
    return bytes(data) + header[512:]


def tar(*members: bytes) -> bytes:
    return b"".join(members) + b"\0" * 1024


@pytest.fixture
def try_layer(tmp_path: Path) -> Callable[..., Path]:
    """Unpack a tar over nothing, in a folder that must stay the only thing that changes."""

    def run(data: bytes, lowers: tuple[Path, ...] = (), **more: Any) -> Path:
        number = len(list(tmp_path.iterdir()))
        (tmp_path / f"layer{number}").write_bytes(data)
        out = tmp_path / f"out{number}" / "drive_c"
        unpack(tmp_path / f"layer{number}", out, lowers, **more)
        return out

    return run


SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x"}
TRICKS = {
    "up": (entry("Files/a/../../../x"), "leads out"),
    "up outside": (entry("../x"), "leads out"),
    "up in Windows": (entry("Files\\a\\..\\..\\x"), "leads out"),
    "whiteout of the parent": (entry("Files/a/.wh..."), "whiteout without a file name"),
    "whiteout of itself": (entry("Files/a/.wh.."), "whiteout without a file name"),
    "whiteout of nothing": (entry("Files/a/.wh."), "whiteout without a file name"),
    "nul": (pax("Files/x", path="Files/a\0b"), "NUL"),
    "nul in a link": (entry("Files/x", tarfile.SYMTYPE, pax_headers={"linkpath": "a\0b"}), "NUL"),
    "colon": (entry("Files/a:b"), "colon"),
    "drive": (entry("Files/C:/x"), "colon"),
    "device": (entry("Files/null", tarfile.CHRTYPE), "neither file, folder nor link"),
    "block device": (entry("Files/sda", tarfile.BLKTYPE), "neither file, folder nor link"),
    "fifo": (entry("Files/f", tarfile.FIFOTYPE), "neither file, folder nor link"),
    "long name": (entry("Files/" + "n" * 300), "File name too long"),
    "deep": (entry("Files/" + "d/" * 200 + "x"), "folders deep"),
    "link up": (link("Files/l", "../../etc"), "leads out"),
    "link up in Windows": (link("Files/l", "..\\..\\etc"), "leads out"),
    "hard link up": (link("Files/h", "Files/../../x", tarfile.LNKTYPE), "leads out"),
    "hard link to the host": (link("Files/h", "/etc/passwd", tarfile.LNKTYPE), "not a file of the"),
    "hard link to nothing": (link("Files/h", "Files/no", tarfile.LNKTYPE), "does not exist"),
    "sparse": (pax("Files/s", **SPARSE), "sparse"),
    "old sparse": (entry("Files/s", tarfile.GNUTYPE_SPARSE), "sparse"),
    "negative size": (raw_size(entry("Files/n"), -512), "size -512"),
    "negative size in pax": (pax("Files/n", size="-1024"), "size -1024"),
    "huge header": (raw_size(entry("Files/n", tarfile.XHDTYPE), 1 << 40), "extended header"),
    "huge long name": (raw_size(entry("Files/n", tarfile.GNUTYPE_LONGNAME), 1 << 40), "extended"),
    "cut": (raw_size(entry("Files/n"), 1 << 40), "unexpected end of data"),
    "nested headers": (entry("Files/n", tarfile.GNUTYPE_LONGNAME, b"x\0") * 2000, "not a tar"),
    "many global headers": (
        tarfile.TarInfo.create_pax_global_header({"a": "b"}) * 20 + entry("Files/x"),
        "global headers",
    ),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_a_hostile_entry_is_refused_and_nothing_is_made_elsewhere(
    trick: str, tmp_path: Path, try_layer: Callable[..., Path]
) -> None:
    data, words = TRICKS[trick]
    with pytest.raises(Invalid, match=words):
        try_layer(tar(entry("Files/before", data=b"b"), data))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["layer0", "out0"]
    assert [path.name for path in (tmp_path / "out0").iterdir()] == ["drive_c"]


def test_times_that_cannot_be_are_moved_to_ones_that_can(try_layer: Callable[..., Path]) -> None:
    times = [
        entry(f"Files/{n}", pax_headers={"mtime": t}) for n, t in enumerate(("nan", "1e300", "-5"))
    ]
    out = try_layer(tar(*times))
    assert [(out / str(n)).stat().st_mtime for n in range(3)] == [0, 1 << 33, 0]


def test_a_hard_link_to_a_link_cannot_lead_to_the_host(
    tmp_path: Path, try_layer: Callable[..., Path]
) -> None:
    """The text of a link that is five folders down leads out once it stands at the top."""
    (tmp_path / "secret").write_text("the host's")
    members = [
        entry("Files/secret", data=b"ours"),
        link("Files/a/b/L", "C:\\secret"),
        link("Files/M", "Files/a/b/L", tarfile.LNKTYPE),
    ]
    with pytest.raises(
        Invalid, match=r"'Files/a/b/L', which is not a regular file|cannot be unpacked"
    ):
        try_layer(tar(*members))


def test_a_hard_link_through_a_lower_layer_stays_in_it(
    tmp_path: Path, try_layer: Callable[..., Path]
) -> None:
    (tmp_path / "secret").write_text("the host's")
    lower = tmp_path / "lower"
    lower.mkdir()
    (lower / "out").symlink_to("../secret")
    (lower / "up").symlink_to("..")
    for name in ("out", "up/secret"):
        with pytest.raises(Invalid, match=r"hard link|cannot be unpacked"):
            try_layer(tar(link("Files/h", f"Files/{name}", tarfile.LNKTYPE)), (lower,))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_bomb_is_cut_at_its_ratio(
    pack: Callable[[bytes], bytes], try_layer: Callable[..., Path]
) -> None:
    limits = replace(LIMITS, free_bytes=1 << 20, ratio=20)
    data = pack(tar(entry("Files/zero", data=b"\0" * (8 << 20))))
    with pytest.raises(Invalid, match="decompresses to more than"):
        try_layer(data, limits=limits)
    with pytest.raises(Invalid, match=r"cannot be decompressed|not a tar"):
        try_layer(data[: len(data) // 2])


def test_copies_of_a_file_below_and_entries_are_counted(
    tmp_path: Path, try_layer: Callable[..., Path]
) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base/big").write_bytes(b"x" * 1000)
    links = [link(f"Files/{n}", "Files/big", tarfile.LNKTYPE) for n in range(20)]
    with pytest.raises(Invalid, match="unpacks to more than 50000"):
        try_layer(
            tar(*links * 3), base=tmp_path / "base", limits=replace(LIMITS, total_bytes=50_000)
        )
    with pytest.raises(Invalid, match="more than 10 entries"):
        try_layer(tar(*links), base=tmp_path / "base", limits=replace(LIMITS, entries=10))


def test_streams_of_a_file_are_left_out(try_layer: Callable[..., Path]) -> None:
    out = try_layer(tar(entry("Files/a.exe", data=b"MZ"), entry("Files/a.exe:Zone", data=b"3")))
    assert [path.name for path in out.iterdir()] == ["a.exe"]


@pytest.mark.parametrize(
    "digest", ["sha256:/etc", "sha256:../../../etc", "sha256:", "/etc", "md5:" + HEX, 7, None]
)
def test_a_digest_is_no_path(digest: object) -> None:
    config = {"os": "windows", "rootfs": {"diff_ids": [digest]}}
    with pytest.raises(Invalid, match="is not a digest"):
        manifest.parse_config(json.dumps(config).encode())
    with pytest.raises(Invalid, match="is not a digest"):
        manifest.parse_manifest({"config": {"digest": digest, "size": 1}})
    with pytest.raises(Invalid, match="is not a digest"):
        chain_ids([digest])  # type: ignore[list-item]


def archive(path: Path, files: dict[str, bytes], **links: str) -> Path:
    members = [entry(name, data=data) for name, data in files.items()]
    path.write_bytes(tar(*members, *(link(name, to) for name, to in links.items())))
    return path


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def index(*entries: dict[str, Any]) -> bytes:
    return json.dumps({"manifests": list(entries)}).encode()


OCI = {"oci-layout": b"{}"}
CIRCLE = {"digest": f"sha256:{HEX}", "size": 1}
ARCHIVES: dict[str, tuple[dict[str, bytes], str]] = {
    "nothing": ({}, "neither index.json nor manifest.json|not an image archive"),
    "no JSON": ({**OCI, "index.json": b"{"}, "not a JSON document"),
    "a list": ({**OCI, "index.json": b"[]"}, "not a JSON object"),
    "deep": ({**OCI, "index.json": b'{"a":' * 300 + b"1" + b"}" * 300}, "max depth"),
    "deeper": ({**OCI, "index.json": b"[" * 100_000}, "JSON document|max depth"),
    "large": ({**OCI, "index.json": b" " * (8 << 20) + b"{}"}, "more than 8388608 bytes"),
    "a circle": (
        {**OCI, "index.json": index(CIRCLE), f"blobs/sha256/{HEX}": index(CIRCLE)},
        "digest",
    ),
    "many": ({**OCI, "index.json": index(*[CIRCLE] * 300)}, "index of 300 entries"),
    "no digest": (
        {**OCI, "index.json": index({"digest": "sha256:../x", "size": 1})},
        "not a digest",
    ),
    "text": ({**OCI, "index.json": b'{"manifests":["x"]}'}, "must be an object"),
    "docker text": ({"manifest.json": b'["x"]'}, "not a list of images"),
    "docker up": (
        {"manifest.json": b'[{"Config":"../../etc/passwd"}]'},
        "no file '../../etc/passwd'",
    ),
    "docker number": ({"manifest.json": b'[{"Config":7}]'}, "Config must be a text"),
    "docker layers": (
        {"manifest.json": b'[{"Config":"c","Layers":["l"]}]', "c": b'{"os":"windows"}'},
        "1 layers and 0 diff ids",
    ),
}


@pytest.mark.parametrize("form", ["tar", "gzip", "folder"])
@pytest.mark.parametrize("trick", ARCHIVES)
def test_a_hostile_archive_is_refused(trick: str, form: str, tmp_path: Path) -> None:
    files, words = ARCHIVES[trick]
    path = archive(tmp_path / "a.tar", files)
    if form == "gzip":
        path.write_bytes(gzip.compress(path.read_bytes()))
    elif form == "folder":
        path = tmp_path / "folder"
        for name, data in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
        path.mkdir(exist_ok=True)
    for look in ("systems", "images"):
        with pytest.raises(Invalid, match=words), open_archive(path) as content:
            content.systems() if look == "systems" else content.images(lambda _: True)


def test_links_of_an_archive_are_followed_inside_only(tmp_path: Path) -> None:
    loop = {"a": "b", "b": "a", "out": "../../../../etc/passwd", "abs": "/etc/passwd"}
    path = archive(tmp_path / "a.tar", {"x/real": b"r"}, **loop, good="x/real")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "folder/fifo")
    with open_archive(path) as content:
        for name in ("a", "out", "abs", "absent"):
            with pytest.raises(Invalid, match=f"no file '{name}'"):
                content._files.read(name)
        assert content._files.read("good") == b"r"
    with open_archive(tmp_path / "folder") as content:
        for name in ("link", "fifo"):
            with pytest.raises(Invalid):
                content._files.read(name)
            with pytest.raises(Invalid):
                content._files.copy(name, tmp_path / "copy")


NAMES = st.text(st.sampled_from("aB/\\.:\0é") | st.characters(codec="utf-8"), max_size=30)
MEMBERS = st.builds(
    lambda name, kind, to, data: (name, kind, to, data),
    st.builds(str.__add__, st.sampled_from(["Files/", "Files/.wh.", "", "/", "../"]), NAMES),
    st.sampled_from(
        [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, b"3", b"7"]
    ),
    NAMES,
    st.binary(max_size=600),
)


def check(data: bytes, tmp_path: Path) -> None:
    """Only our own errors, and nothing outside."""
    root = tmp_path / "fuzz"
    root.mkdir()
    (root / "layer").write_bytes(data)
    with contextlib.suppress(MuntinError):
        unpack(root / "layer", root / "in" / "drive_c", [])
    assert {path.name for path in root.iterdir()} <= {"layer", "in"}
    assert [path.name for path in (root / "in").iterdir()] == ["drive_c"]
    for folder, _, names in os.walk(root / "in"):
        for name in names:
            path = Path(folder, name)
            if path.is_symlink():
                target = os.path.normpath(Path(folder, os.readlink(path)))
                assert Path(target).is_relative_to(root / "in/drive_c")
    shutil.rmtree(root)


@FUZZ
@given(st.lists(MEMBERS, max_size=8), st.data())
def test_any_members_are_unpacked_inside_or_refused(
    tmp_path: Path, members: list[tuple[str, bytes, str, bytes]], data: st.DataObject
) -> None:
    parts = []
    for name, kind, to, content in members:
        linked = kind in (tarfile.SYMTYPE, tarfile.LNKTYPE)
        parts.append(entry(name, kind, b"" if linked else content, linkname=to if linked else ""))
    whole = bytearray(tar(*parts))
    for _ in range(data.draw(st.integers(0, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    check(bytes(whole), tmp_path)


@FUZZ
@given(st.binary(max_size=2000))
def test_any_bytes_are_refused_or_empty(tmp_path: Path, data: bytes) -> None:
    check(data, tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just(f"sha256:{HEX}"),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["config", "layers", "manifests", "digest", "size", "platform", "os", "os.version",
             "annotations", "urls", "mediaType", "rootfs", "diff_ids", "history", "created_by",
             "Env", "Cmd", "Entrypoint", "Labels", "User", "Config", "Layers", "RepoTags"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@FUZZ
@given(JSON)
def test_any_document_is_read_or_refused(value: Any) -> None:
    data = json.dumps(value).encode()
    readers: list[Callable[[], object]] = [
        lambda: manifest.parse_config(data),
        lambda: manifest.parse_manifest(manifest.parse_document(data)),
        lambda: manifest.parse_index(manifest.parse_document(data)),
        lambda: manifest.is_index(manifest.parse_document(data)),
    ]
    for read in readers:
        with contextlib.suppress(Invalid):
            assert read() is not None
