#!/usr/bin/env python3
"""make-pack-corpus.py: writes corpus/manifest and corpus/pack, from docs/pack-format.md alone."""
import hashlib
import json
import os
import struct

here = os.path.dirname(os.path.abspath(__file__))


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h


def header(name, size):
    block = bytearray(512)
    for at, text in ((0, name), (100, "0000644"), (108, "0000000"), (116, "0000000"), (124, "%011o" % size),
                     (136, "00000000000"), (148, " " * 8), (156, "0"), (257, "ustar\0" + "00"), (329, "0000000"), (337, "0000000")):
        block[at:at + len(text)] = text.encode()
    block[148:156] = ("%06o" % sum(block)).encode() + b"\0 "
    return bytes(block)


def member(name, data):
    return header(name, len(data)) + data + bytes(-len(data) % 512)


def frame(data, sized=True):
    """A zstd frame of raw blocks, with its content size (four bytes) or a window of 1 MiB, and no checksum."""
    out = struct.pack("<IBI", 0xfd2fb528, 0xa0, len(data)) if sized else struct.pack("<IBB", 0xfd2fb528, 0, 10 << 3)
    steps = [data[i:i + 65536] for i in range(0, len(data), 65536)]
    for i, step in enumerate(steps):
        out += struct.pack("<I", len(step) << 3 | (i == len(steps) - 1))[:3] + step
    return out


def cubin(sm, kind=2):
    return struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x33, 7, kind, 190, 1, 0, 0, 0, sm, 64, 0, 0, 0, 0, 0)


STAMP = "Apr  8 202512:10:18"
LEADS = {"load": b"\0 ", "link": b"\0 -c", "bare": b""}


def manifest(cases):
    members, entries, order = [], [], {}
    for payload, form, options, sm in cases:
        kinds = (("ptx", payload), ("cubin", cubin(sm, 1 if form == "link" else 2)))
        at = []
        for kind, data in kinds:
            name = kind + "/" + hashlib.blake2b(data, digest_size=32).hexdigest()
            if name not in order:
                order[name] = len(members)
                members.append((name, data))
            at.append(order[name])
        key = STAMP.encode() + b"HOST64sm_%d" % sm + payload + LEADS[form] + options.encode()
        entries.append({"key": "%016x" % fnv(key), "driver": 0, "target": "sm_%d" % sm, "form": form, "options": options,
                        "ptx": at[0], "cubin": at[1]})
    listed = [{"name": n, "bytes": len(d)} for n, d in members]
    document = {"format": "jitwarm.pack/1", "requires": [], "os": "linux", "pointer_bits": 64,
                "drivers": [{"stamp": STAMP, "release": "550.163.01", "cuda": 12040}]}
    document.update({"members": listed, "entries": entries})
    return json.dumps(document, separators=(",", ":")).encode(), members


def write(folder, name, data):
    os.makedirs(os.path.join(here, "corpus", folder), exist_ok=True)
    with open(os.path.join(here, "corpus", folder, name), "wb") as file:
        file.write(data)


CASES = {
    "one": [(b"// one", "load", "", 86)],
    "forms": [(b"// one", "load", "-v ", 86), (b"// one", "link", "", 86), (b".version 8.4\n", "bare", "", 90)],
    "shared": [(b"// one\0", "load", "", 86), (b"// two\0", "load", "", 86), (b"// two\0", "load", " -arch=sm_86", 86)],
}


def opaque(tree, contents=(b"rows", b"more rows")):
    members = [("file/" + hashlib.blake2b(data, digest_size=32).hexdigest(), data) for data in contents]
    document = {"format": "jitwarm.pack/1", "requires": ["opaque"], "os": "linux", "pointer_bits": 64,
                "drivers": [{"stamp": "", "release": "450.80.02"}], "members": [{"name": n, "bytes": len(d)} for n, d in members],
                "entries": [], "targets": ["sm_70"], "tree": tree}
    return json.dumps(document, separators=(",", ":")).encode(), members


OPAQUE = {
    "opaque": [{"path": "a/b", "member": 1}, {"path": "empty"}, {"path": "index", "member": 0}, {"path": "index2", "member": 0}],
    "opaque-path-up": [{"path": "../a", "member": 0}, {"path": "b", "member": 1}],
    "opaque-path-hidden": [{"path": ".a", "member": 0}, {"path": "b", "member": 1}],
    "opaque-path-device": [{"path": "aux.x", "member": 0}, {"path": "b", "member": 1}],
    "opaque-twice": [{"path": "a", "member": 0}, {"path": "A", "member": 1}],
    "opaque-file-and-folder": [{"path": "a", "member": 0}, {"path": "a-b", "member": 1}, {"path": "A/c", "member": 1}],
    "opaque-no-member": [{"path": "a", "member": 0}, {"path": "b", "member": 2}],
}
packs = {name: manifest(cases) for name, cases in CASES.items()}
packs.update({name: opaque(tree) for name, tree in OPAQUE.items()})
for name, (text, members) in packs.items():
    first = member("manifest.json", text)
    rest = b"".join(member(n, d) for n, d in members) + bytes(1024)
    write("manifest", name, text)
    if name in CASES or name == "opaque":
        write("pack", name, frame(first) + frame(rest))
        write("pack", name + "-tar", b"T" + first + rest)
    if name == "one":
        write("pack", "without-size", frame(first, False) + frame(rest))
        write("pack", "one-frame", frame(first + rest))
        write("pack", "three-frames", frame(first) + frame(rest[:512]) + frame(rest[512:]))
        for what, old, new in (("behind-a-nul", b"}", b"}"), ("twice", b'"os":', b'"os":"linux","os":'),
                               ("release-a-number", b'"550.163.01"', b"550"), ("cuda-a-text", b"12040", b'"12040"'),
                               ("no-utf8", b'"os":', b'"new":"\xff","os":'), ("nul-in-a-text", b"550.163.01", b"550\\u0000x")):
            write("manifest", what, text.replace(old, new, 1) + (b"\0{}" if what == "behind-a-nul" else b""))
write("manifest", "thin", packs["shared"][0].replace(b'"requires":[]', b'"requires":["thin"]'))
first = member("manifest.json", packs["shared"][0])
write("manifest", "empty", b"{}")
write("manifest", "newer", b'{"format":"jitwarm.pack/2"}')
write("pack", "empty", b"")
write("pack", "cut", frame(first)[:-10])
