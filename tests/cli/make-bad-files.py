#!/usr/bin/env python3
"""make-bad-files.py FOLDER: writes damaged, foreign and hostile files of each format into FOLDER/bad, and into FOLDER/odd
such as are sound or none of jitwarm's business. Deterministic."""
import io
import pathlib
import random
import struct
import sys
import zipfile
import zlib

noise = random.Random(7).randbytes(100_000)
folder = pathlib.Path(sys.argv[1])
bad, odd = folder / "bad", folder / "odd"


def elf(sections_at=64, section_size=64, count=2, names=1):
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, sections_at, 0, 64, 0, 0,
                                                     section_size, count, names)
    return header


def archive(members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            packed.writestr(name, content)
    return data.getvalue()


def sharing(count):
    """A zip whose stored members contain each other."""
    tail, directory, places = b"", b"", []
    for i in range(count):
        name, content = b"a/%d.so" % i, elf() + tail
        fields = struct.pack("<HHHHIIIHH", 0, 0, 0, 0x21, zlib.crc32(content), len(content), len(content), len(name), 0)
        tail = struct.pack("<IH", 0x04034b50, 20) + fields + name + content
        places.append((len(tail), name, fields))
    for size, name, fields in places:
        directory += struct.pack("<IHH", 0x02014b50, 20, 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, len(tail) - size) + name
    return tail + directory + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, count, count, len(directory), len(tail), 0)


wheel = archive([("a/b.so", b"\x7fELF" + bytes(100)), ("a/c.so", noise[:5000])])
container = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 0)
bomb = b"\x7fELF\2\1\1\0" + bytes(80 << 20)
# a zstd frame: the beginning of the bomb, then blocks of 128 KiB that repeat one byte
bomb_zst = b"\x28\xb5\x2f\xfd\0\x58" + struct.pack("<I", 8 << 3)[:3] + bomb[:8] + \
    (struct.pack("<I", 1 << 20 | 1 << 1)[:3] + b"\0") * 640 + struct.pack("<I", 1)[:3]
BAD = {
    "cut.so": elf(sections_at=1 << 20),
    "overflow.so": elf(sections_at=(1 << 64) - 64, count=65535),
    "empty.whl": b"",
    "random.whl": noise,
    "cut.whl": wheel[:60],
    "empty.conda": b"",
    "empty.fatbin": b"",
    "random.fatbin": noise[:5000],
    "random.cubin": noise[:5000],
    "random.ptx": noise[:5000],
    "text.ptx": b"this is no PTX\n",
    "random.ptx.zst": noise[:5000],
    "cut.fatbin.zst": b"\x28\xb5\x2f\xfd\x24",
    "bomb.so.zst": bomb_zst,
    "sharing.whl": sharing(1000),
    "bomb.whl": archive([("a/bomb.so", bomb)]),
    "static.a": b"!<arch>\n" + noise[:500],
}
ODD = {
    "empty.so": b"",
    "random.so": noise,
    "linker-script.so": b"/* GNU ld script */\nGROUP ( libc.so.6 )\n",
    "empty-container.fatbin": container,
    "huge-container.fatbin": struct.pack("<IHHQ", 0xBA55ED50, 1, 16, (1 << 64) - 16),
    "nested.whl": archive([("inner.whl", wheel), ("../../evil.so", b"\x7fELF" + noise[:300]),
                           ("/absolute.so", b"MZ" + noise[:300])]),
    "bomb.whl": archive([("bomb.so", bytes(200 << 20))]),
}
for place, files in ((bad, BAD), (odd, ODD)):
    place.mkdir(parents=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
