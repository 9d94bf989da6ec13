#!/usr/bin/env python3
"""Writes the corpora of fuzz_zip and fuzz_wheel_edit beside this file."""
import io
import pathlib
import struct
import zipfile

HERE = pathlib.Path(__file__).resolve().parent / "corpus"


def archive(members, comment=b"", zip64=False, streamed=False):
    out = io.BytesIO()

    class Pipe:  # cannot seek, so that sizes stand behind the data
        write, flush = out.write, out.flush
    with zipfile.ZipFile(Pipe() if streamed else out, "w") as file:
        file.comment = comment
        for name, data, method in members:
            info = zipfile.ZipInfo(name, (2001, 2, 3, 4, 5, 6))
            info.compress_type, info.external_attr = method, 0o100644 << 16
            info.extra = b"\x55\x54\x05\x00\x01\x00\x00\x00\x00"
            with file.open(info, "w", force_zip64=zip64) as to:
                to.write(data)
    return out.getvalue()


def with_end(data, **fields):
    end = bytearray(data)
    at = len(data) - 22
    for name, value in fields.items():
        offset, form = {"count": (8, "<H"), "all": (10, "<H"), "size": (12, "<I"), "offset": (16, "<I"), "disk": (4, "<H")}[name]
        struct.pack_into(form, end, at + offset, value)
    return bytes(end)


def in_64(data):
    """The directory's values in a zip64 record, as for more than 65,535 members."""
    count, _, size, offset = struct.unpack("<HHII", data[-14:-2])
    record = struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, count, count, size, offset)
    locator = struct.pack("<IIQI", 0x07064b50, 0, len(data) - 22, 1)
    return data[:-22] + record + locator + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)


S, D = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
plain = archive([("a/", b"", S), ("a/b.py", b"text " * 50, D), ("a/c.so", b"\x7fELF" + bytes(300), S)], b"why not")
bare = archive([("a", b"x" * 100, D), ("b", b"y", S)])
ZIP = {
    "plain": plain, "empty": archive([]), "streamed": archive([("a", b"text" * 9, D), ("b", b"", S)], streamed=True),
    "zip64-member": archive([("a", b"text" * 9, D)], zip64=True), "zip64-end": in_64(bare),
    "zip64-far": in_64(bare).replace(struct.pack("<Q", len(bare) - 22), struct.pack("<Q", 2**63)),
    "count": with_end(bare, count=3, all=3), "fewer": with_end(bare, count=1, all=1), "disk": with_end(bare, disk=1),
    "size": with_end(bare, size=2**32 - 1), "offset": with_end(bare, offset=2**31), "cut": plain[:-30],
    "overlap": bare.replace(b"b\x00\x00\x00", b"a\x00\x00\x00"), "nothing": b"", "end-only": b"PK\x05\x06" + bytes(18),
    "dots": archive([("a/../b", b"", S)]), "twice": archive([("aa", b"1", S), ("ab", b"2", S)]).replace(b"ab", b"aa"),
    "cut-data": bare.replace(b"x", b"z"), "name-cut": bare.replace(b"\x01\x00\x00\x00a", b"\xff\xff\x00\x00a"),
}
METADATA = b"Metadata-Version: 2.1\nName: a\nVersion: 1.0\n\nVersion: 2\n"
EDIT = {
    "plain": METADATA + b"\0a/b.so,sha256=abc,5\na-1.0.dist-info/RECORD,,\n",
    "crlf": b"version:\t 2.0+cu121 \r\nName: a\r\n\0\"a,b\"\"c\",sha256=x,1\r\n\r\na,,\r\n",
    "label": b"Version: 1!2.0rc1+jitwarm.sm86\n\0a", "bad-label": b"Version: 1.0+a..b\n\0\"a\nb\",,\n",
    "two": b"Version: 1\nVersion: 1\n\0,,\n", "none": b"Name: a\n\n\0\"\"\"\",,", "folded": b"Name: a\n Version: 9\nVersion: 1\n\0a\0b,,\n",
    "slash": b"Version: 1/../2\n\0../a,,\n", "long": b"Version: " + b"1" * 600 + b"\n\0" + b"a" * 40000 + b",,\n", "empty": b"",
}
for folder, files in (("zip", ZIP), ("wheel_edit", EDIT)):
    (HERE / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (HERE / folder / name).write_bytes(content)
