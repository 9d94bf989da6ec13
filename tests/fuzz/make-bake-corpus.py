#!/usr/bin/env python3
"""Writes the corpora of fuzz_zip, fuzz_wheel_edit, fuzz_tar and fuzz_conda_edit beside this file."""
import io
import json
import pathlib
import struct
import tarfile
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


def tar(files, form=tarfile.GNU_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as to:
        for name, data in files:
            info = tarfile.TarInfo(name)
            if isinstance(data, bytes):
                info.size = len(data)
                to.addfile(info, io.BytesIO(data))
            else:
                info.type, info.linkname = data
                to.addfile(info)
    return out.getvalue()


def resized(data, field):
    """With another size of the first file, and the right checksum."""
    head = bytearray(data[:512])
    head[124:136] = field
    head[148:156] = b"%06o\0 " % (sum(head[:148]) + 8 * 32 + sum(head[156:]))
    return bytes(head) + data[512:]


some = [("lib/a.so", b"\x7fELF" + bytes(700)), ("b/" * 80 + "c", b"text"), ("l", (tarfile.SYMTYPE, "x")), ("h", (tarfile.LNKTYPE, "lib/a.so"))]
TAR = {
    "gnu": tar(some), "pax": tar(some + [("\u00e4" * 120, b"x")], tarfile.PAX_FORMAT), "ustar": tar(some[:1] + some[2:], tarfile.USTAR_FORMAT),
    "cut": tar(some)[:900], "no-end": tar(some[:1])[:1536], "empty": b"", "zeros": bytes(1024), "sum": b"x" + tar(some)[1:],
    "binary-size": resized(tar(some[:1]), b"\x80" + bytes(9) + b"\x02\xc0"), "huge": resized(tar(some[:1]), b"\x80\0\0\0\xff" + bytes(7)),
    "bad-size": resized(tar(some[:1]), b"0000x000000\0"), "long-pax": tar([("a" * 5000, b"x")], tarfile.PAX_FORMAT),
    "bad-pax": tar(some + [("\u00e4" * 120, b"x")], tarfile.PAX_FORMAT).replace(b" path=", b"xpath="),
}
ROW = {"_path": "lib/a.so", "path_type": "hardlink", "sha256": "00" * 32, "size_in_bytes": 7}
INDEX = json.dumps({"nested": {"build": "no"}, "build": "h1_0", "depends": ["a", "b\"]}"], "n": -1.5e3, "t": True, "z": None}).encode()


def paths(*rows):
    return json.dumps({"paths_version": 1, "paths": list(rows)}).encode()


CONDA = {
    "plain": INDEX + b"\0" + paths({"_path": "x", "sha256": "1"}, ROW), "other-order": b'{"build":"a\\"b"}\0' + paths(dict(reversed(ROW.items()))),
    "twice": b"{}\0" + paths(ROW, ROW), "escaped": b'{"bu\\u0069ld": "x"}\0' + paths(ROW).replace(b"lib/a", b"lib\\/\\u0061"),
    "odd": b'{"build": 7}\0{"paths": [1, "x", [], {}, null, {"_path": {"_path": "lib/a.so"}}]}', "no-list": b'[]\0{"paths": {}}',
    "blanks": b' {\n"build"\t:\r"x" } \0 { "paths" : [ { "_path" : "lib/a.so" , "sha256" : "' + b"00" * 32 + b'" , "size_in_bytes" : 7 } ] } ',
    "cut": b'{"build": "x\0{"paths": [', "empty": b"", "deep": b"[" * 2000 + b"\0" + b'{"a":' * 2000,
}
for folder, files in (("zip", ZIP), ("wheel_edit", EDIT), ("tar", TAR), ("conda_edit", CONDA)):
    (HERE / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (HERE / folder / name).write_bytes(content)
