# Sourced by cases that make caches.
# pack_entry DIR N STAMP SM [PTX]: one entry, of that file's PTX if one is named, with a cubin that is only a header
pack_entry() {
	python3 - "$@" <<'PYTHON'
import os, struct, sys
def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h
dir, n, stamp, sm = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
ptx = open(sys.argv[5], "rb").read() if len(sys.argv) > 5 else b".version 7.0 // %d" % n
key = stamp.encode() + b"HOST64sm_%d" % sm + ptx + b"\0 -v "
value = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x33, 7, 2, 190, 1, 0, 0, 0, sm, 64, 0, 0, 0, 0, 0) + bytes(100 * n)
name = "%016x" % fnv(key)
path = os.path.join(dir, name[0], name[1], name[2:])
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "wb") as file:
    file.write(struct.pack("<IQQQ", 0x41, len(key), len(value), fnv(value)) + key + value)
PYTHON
}

