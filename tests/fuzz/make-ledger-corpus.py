#!/usr/bin/env python3
"""Writes the corpus of fuzz_ledger beside this file."""
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent / "corpus" / "ledger"
STAMP = b"Jun 25 202401:14:48"


def fnv(data):
    state = 0xcbf29ce484222325
    for byte in data:
        state = (state ^ byte) * 0x100000001b3 % 2**64
    return state


def body(stamps, records, stamp_count=None, record_count=None, epoch=3, losses=(1, 2, 3), shape=(5, 6, 7),
         marks=None, mark_count=None, split=None):
    behind = b"" if marks is None else (
        struct.pack("<I", len(marks) if mark_count is None else mark_count)
        + b"".join(struct.pack("<QQI", *m) for m in marks))
    if split is not None:
        behind += struct.pack("<I", len(split)) + b"".join(struct.pack("<QQI", *m) for m in split)
    return (b"JWLED\0\2\0"
            + struct.pack("<III", len(stamps) if stamp_count is None else stamp_count,
                          len(records) if record_count is None else record_count, epoch)
            + bytes(losses).ljust(16, b"\0") + struct.pack("<19Q", *shape, *range(19 - len(shape)))
            + b"".join(stamps) + b"".join(struct.pack("<QQII", *r) for r in records) + behind)


WHOLE = body([STAMP], [(1, 2, 0, 3), (3, 4, 0, 2)])
CASES = {
    "whole": WHOLE,
    "summed": WHOLE + struct.pack("<Q", fnv(WHOLE)),
    "wrong-sum": WHOLE + bytes(8),
    "empty": body([], []),
    "no-stamp": body([], [(1, 2, 0, 0)]),
    "stamp-behind-the-last": body([STAMP], [(1, 2, 1, 0)]),
    "place-twice": body([STAMP], [(1, 2, 0, 0), (1, 3, 0, 0)]),
    "too-many-stamps": body([STAMP], [], stamp_count=2**32 - 1),
    "too-many-records": body([STAMP], [(1, 2, 0, 0)], record_count=2**32 - 1),
    "records-cut": body([STAMP], [(1, 2, 0, 0)], record_count=3),
    "stamp-with-more-behind": body([STAMP], [(1, 2, 0x100, 0)]),
    "split": body([STAMP], [(1, 2, 0, 0)], marks=[], split=[(2, 7, 2**32 - 1)]),
    "split-and-older": body([STAMP], [(1, 2, 0, 0)], marks=[(2, 7, 0)], split=[(2, 7, 2**32 - 1), (4, 8, 0)]),
    "split-twice": body([STAMP], [], marks=[], split=[(2, 7, 0), (2, 8, 0)]),
    "split-behind-broken-marks": body([STAMP], [], marks=[(2, 7, 1)], split=[(2, 7, 0)]),
    "more-than-all-kinds": body([STAMP], [], marks=[], split=[(2, 7, 0)]) + b"more",
    "stamp-is-none": body([b"x" * 19], [(1, 2, 0, 0)]),
    "other-version": WHOLE.replace(b"\0\2\0", b"\0\1\0", 1),
    "epoch-of-the-future": body([STAMP], [(1, 2, 0, 9)]),
    "taken-out": body([STAMP], [(1, 2, 0, 2**32 - 1)]),
    "epoch-is-no-epoch": body([STAMP], [(1, 2, 0, 0)], epoch=2**32 - 1),
    "loss-is-none": body([STAMP], [(1, 2, 0, 0)], losses=[200]),
    "shape-cut": WHOLE[:60],
    "marks": body([STAMP], [(1, 2, 0, 0)], marks=[(2, 7, 0), (4, 8, 2**32 - 1)]),
    "marks-alone": body([STAMP], [], marks=[(2, 7, 0)]),
    "marks-none": body([STAMP], [(1, 2, 0, 0)], marks=[]),
    "marks-cut": body([STAMP], [(1, 2, 0, 0)], marks=[(2, 7, 0)], mark_count=3),
    "marks-too-many": body([STAMP], [(1, 2, 0, 0)], marks=[(2, 7, 0)], mark_count=2**32 - 1),
    "mark-twice": body([STAMP], [(1, 2, 0, 0)], marks=[(2, 7, 0), (2, 8, 0)]),
    "mark-behind-the-last-stamp": body([STAMP], [(1, 2, 0, 0)], marks=[(2, 7, 1)]),
    "mark-behind-broken-records": body([STAMP], [(1, 2, 1, 0)], marks=[(2, 7, 0)]),
}

HERE.mkdir(parents=True, exist_ok=True)
for name, case in CASES.items():
    (HERE / name).write_bytes(case)
