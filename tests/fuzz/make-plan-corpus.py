#!/usr/bin/env python3
"""Writes the corpus of fuzz_inventory beside this file: whole inventories, and the record of one file."""
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent / "corpus" / "inventory"
HEAD = b"JWINV\0\1\0"


def fnv(data):
    state = 0xcbf29ce484222325
    for byte in data:
        state = (state ^ byte) * 0x100000001b3 % 2**64
    return state


def text(value):
    return struct.pack("<H", 0xffff) if value is None else struct.pack("<H", len(value)) + value


def module(role=0, form=0):
    return struct.pack("<BB3I7Q", role, form, 11, 12, 13, 64, 4096, 80, 777, 0x1234, 800, 0)


def view(sm, modules, need=0, count=None):
    counts = struct.pack("<17Q", *range(17))
    return (struct.pack("<4IH", 0, 0, 0, 0, sm) + bytes(19) + counts + bytes([need])
            + struct.pack("<I", len(modules) if count is None else count) + b"".join(modules))


def image(member, views, count=None):
    return b"\1" + text(member) + struct.pack("<I", len(views) if count is None else count) + b"".join(views)


def record(images, path=b"a"):
    body = struct.pack("<4QI", 1, 1, 1, 1, 20000) + text(path) + struct.pack("<I", len(images)) + b"".join(images)
    return struct.pack("<IQ", len(body), fnv(body)) + body


BOTH = [view(86, [module(), module(2, 1)]), view(90, [module(1, 2)], need=2)]
FILES = {
    "file": HEAD + record([image(None, BOTH), image(b"m", BOTH)]),
    "file-two-records": HEAD + record([image(None, BOTH)], b"b") + record([]),
    "file-cut": (HEAD + record([image(None, BOTH)]))[:-1],
    "file-wrong-sum": HEAD + record([image(None, BOTH)])[:4] + bytes(8) + record([image(None, BOTH)])[12:],
    "file-huge-size": HEAD + b"\xff\xff\xff\xff" + bytes(20),
    "file-other-version": b"JWINV\0\2\0" + record([]),
    "images": b"\2" + image(None, BOTH) + image(b"m", BOTH),
    "image-of-a-member": b"\1" + image(b"m", [view(120, [])] + BOTH),
    "no-images": b"\0",
    "too-many-images": b"\xff" + image(None, BOTH),
    "too-many-views": b"\1" + image(None, BOTH, count=2**32 - 1),
    "too-many-modules": b"\1" + image(None, [view(86, [], count=2**32 - 1)]),
    "view-missing": b"\1" + image(None, [view(86, [module()])]),
    "wrong-role": b"\1" + image(None, [view(86, [module(9, 9)]), view(90, [module(3, 0)])]),
    "wrong-need": b"\1" + image(None, [view(86, [], need=7), view(90, [])]),
    "member-with-nul": b"\1" + image(b"a\0b", BOTH),
    "member-cut": b"\1\1\xfe\xff",
    "empty": b"",
}

HERE.mkdir(parents=True, exist_ok=True)
for name, content in FILES.items():
    (HERE / name).write_bytes(content)
