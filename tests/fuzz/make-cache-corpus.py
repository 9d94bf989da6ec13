#!/usr/bin/env python3
"""Writes the corpora of fuzz_entry, fuzz_index, fuzz_profile and fuzz_speed beside this file."""
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent / "corpus"
STAMP = b"Jun 25 202401:14:48"


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h


def entry(key, value, extra=b"", /, **wrong):
    field = {"version": 0x41, "key": len(key), "value": len(value), "sum": fnv(value), **wrong}
    return struct.pack("<IQQQ", field["version"], field["key"], field["value"], field["sum"]) + key + value + extra


def index(rows, total=None, count=None, version=0x41, extra=b""):
    total = sum(size for _, size in rows) if total is None else total
    head = struct.pack("<IIQ", version, len(rows) if count is None else count, total)
    return head + b"".join(struct.pack("<QQ", *row) for row in rows) + extra


CUBIN = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x33, 7, 2, 190, 1, 0, 0, 0, 86, 64, 0, 0, 0, 0, 0)
PTX = b"//\n// Generated\n//\n.version 6.4\n.target sm_75\n"
OPENCL = b"__kernel void k() {}\0 -cl-nv-arch sm_75  -nv-m64\3\0\0\0K\0\0\0\0\0418.39\0"
LOAD = STAMP + b"HOST64sm_86.version 7.0\n\0\0 -v "

ENTRY = {
    "load": entry(LOAD, CUBIN),
    "load-text": entry(STAMP + b"HOST64sm_120// x\0 ", CUBIN),
    "link": entry(STAMP + b"HOST64sm_86.version\0\0 -c-maxrregcount=96 -v ", CUBIN),
    "nvjitlink": entry(STAMP + b"HOST64sm_86x\0 -arch=sm_86 -c", CUBIN),
    "jit-option": entry(STAMP + b"HOST64sm_90a// x\0 -O4", CUBIN),
    "opencl": entry(OPENCL, PTX),
    "opencl-nvvm": entry(OPENCL.replace(b"418.39", b"580.126.09") + b"NVVM70", PTX),
    "extra": entry(LOAD, CUBIN, b"behind"),
    "empty": b"",
    "no-bytes": entry(b"", b""),
    "cut-header": entry(LOAD, CUBIN)[:27],
    "cut-value": entry(LOAD, CUBIN)[:-1],
    "huge-key": entry(LOAD, CUBIN, key=2**64 - 1),
    "huge-value": entry(LOAD, CUBIN, value=2**64 - 28),
    "other-version": entry(LOAD, CUBIN, version=0x42),
    "wrong-sum": entry(LOAD, CUBIN, sum=1),
    "only-stamp": entry(STAMP, b"x"),
    "no-tail": entry(STAMP + b"HOST64sm_86x\0", b"x"),
    "no-nul": entry(STAMP + b"HOST64sm_86x", b"x"),
    "cut-target": entry(STAMP + b"HOST64sm_", b"x"),
    "nuls": entry(b"\0" * 40, PTX),
}
ROWS = [(fnv(b"%d" % i), 100 + i) for i in range(3)]
INDEX = {
    "sound": index(ROWS),
    "no-rows": index([]),
    "twice": index(ROWS + ROWS),
    "total": index(ROWS, total=2**40),
    "overflow": index([(1, 2**64 - 1), (2, 2**64 - 1)], total=2**64 - 1),
    "spare": index(ROWS, extra=b"spare"),
    "cut-row": index(ROWS)[:-1],
    "cut-header": index(ROWS)[:9],
    "cut-version": index(ROWS)[:3],
    "huge-count": index(ROWS, count=2**32 - 1),
    "other-version": index(ROWS, version=0x42),
    "empty": b"",
    "garbage": b"hello world, this is no index at all",
}
SOUND = {"schema": "jitwarm.driver/1", "library": "/usr/lib/libcuda.so.555.58.02", "size_bytes": 28094872,
         "mtime_ns": "17d9e3b5c0000000", "build_id": "00" * 20, "stamp": STAMP.decode(), "trust": "confirmed",
         "cuda": 12050, "release": [555, 58, 2]}
ELF = struct.pack("<4s3B9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
NOTE = struct.pack("<IIQQQQQQ", 4, 4, 120, 0, 0, 20, 20, 4) + struct.pack("<III4sI", 4, 4, 3, b"GNU\0", 0x12345678)
PROFILE = {
    "sound": json.dumps(SOUND).encode(),
    "no-stamp": json.dumps({**SOUND, "stamp": "", "trust": "unknown"}).encode(),
    "opaque": json.dumps({**SOUND, "trust": "opaque"}).encode(),
    "wrong-kinds": json.dumps({**SOUND, "release": [1, "2", None], "cuda": {}}).encode(),
    "long": json.dumps({**SOUND, "library": "x" * 2000}).encode(),
    "cut": json.dumps(SOUND).encode()[:100],
    "stamp": b"text Jun 25 202401:14 text :48\0 and :48\0",
    "two-stamps": b"Jun 25 202401:14Jun 26 202401:14:48\0",
    "colons": b":" * 100 + b":59\0",
    "build-id": ELF + NOTE,
    "long-note": ELF + NOTE.replace(struct.pack("<II", 4, 4) + b"\3", struct.pack("<II", 4, 2**32 - 1) + b"\3"),
    "empty": b"",
}

ROW = {"release": 550, "cuda": 12040, "form": "load", "model_ms": 58312.8, "real_ms": 81044.2}


def speed(*rows, schema="jitwarm.speed/2"):
    return json.dumps({"schema": schema, "rows": rows}).encode()


SPEED = {
    "sound": speed(ROW, {**ROW, "form": "link"}),
    "another-driver": speed({**ROW, "release": 535, "cuda": 12020}),
    "many": speed(*({**ROW, "release": n} for n in range(40))),
    "another-schema": speed(ROW, schema="jitwarm.speed/2"),
    "wrong-kinds": speed(ROW, None, 7, {**ROW, "model_ms": "1"}, {**ROW, "release": {}}, {}),
    "beyond-belief": speed({**ROW, "real_ms": 1e30}, {**ROW, "model_ms": 1e-300}, {**ROW, "real_ms": -1}),
    "cut": speed(ROW)[:60],
    "empty": b"",
}



def verified(records, count=None, boot=1700000000, head=b"JWVER\0\1\0", extra=b""):
    return (head + struct.pack("<QI", boot, len(records) if count is None else count)
            + b"".join(struct.pack("<QQ", *record) for record in records) + extra)


RECORDS = [(1, 0x10), (2, 0x21), (3, 0x30)]
VERIFIED = {
    "whole": verified(RECORDS),
    "summed": verified(RECORDS) + struct.pack("<Q", fnv(verified(RECORDS))),
    "wrong-sum": verified(RECORDS) + bytes(8),
    "none": verified([]),
    "twice": verified(RECORDS + RECORDS),
    "same-key": verified([(1, 2), (1, 3)]),
    "too-many": verified(RECORDS, count=2**32 - 1),
    "more-than-there-are": verified(RECORDS, count=4),
    "fewer-than-there-are": verified(RECORDS, count=2),
    "cut": verified(RECORDS)[:-1],
    "other-version": verified(RECORDS, head=b"JWVER\0\2\0"),
    "empty": b"",
}

for folder, files in (("entry", ENTRY), ("index", INDEX), ("profile", PROFILE), ("speed", SPEED), ("verified", VERIFIED)):
    (HERE / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (HERE / folder / name).write_bytes(content)
