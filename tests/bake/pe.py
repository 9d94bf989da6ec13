#!/usr/bin/env python3
"""pe.py ORIGINAL COPY   what is wrong with the copy of a 64-bit PE file that bake made longer; nothing: exit status 0

It knows of PE files what the loaders of Windows and Wine want of them, and shares nothing with jitwarm's own reader.
"""
import struct
import sys

WRAPPER, CONTAINER = 0x466243B1, 0xBA55ED50


class Refused(Exception):
    pass


def want(condition, reason):
    if not condition:
        raise Refused(reason)


class Image:
    """What a loader takes; Refused for all else."""

    def __init__(self, data):
        self.data = data
        want(len(data) >= 64 and data[:2] == b"MZ", "no MZ")
        self.at = at = struct.unpack_from("<I", data, 60)[0]
        want(at % 4 == 0 and at + 24 + 240 <= len(data) and data[at : at + 4] == b"PE\0\0", "no signature")
        machine, count, _, self.symbols_at, self.symbols, optional, self.flags = struct.unpack_from("<HHIIIHH", data, at + 4)
        want(machine == 0x8664 and struct.unpack_from("<H", data, at + 24)[0] == 0x20B, "not for x86-64")
        want(self.flags & 2 and optional >= 112 and count <= 96, "no image")
        self.entry = struct.unpack_from("<I", data, at + 40)[0]
        self.base, self.align, self.file_align = struct.unpack_from("<QII", data, at + 48)
        self.image_bytes, self.header_bytes, self.checksum = struct.unpack_from("<III", data, at + 80)
        self.dll_flags = struct.unpack_from("<H", data, at + 94)[0]
        for value, least in ((self.align, 4096), (self.file_align, 512)):
            want(value >= least and not value & value - 1, "alignment")
        want(self.file_align <= self.align and self.base % 65536 == 0, "alignment")
        table = at + 24 + optional
        want(table + 40 * count <= self.header_bytes <= len(data), "headers leave their room")
        directories = min(struct.unpack_from("<I", data, at + 132)[0], 16, (optional - 112) // 8)
        self.directories = [struct.unpack_from("<II", data, at + 136 + 8 * i) for i in range(directories)]
        self.directories += [(0, 0)] * (16 - directories)
        self.sections = [struct.unpack_from("<8sIIIIIIHHI", data, table + 40 * i) for i in range(count)]
        self.follow()
        self.relocated = self.relocations()

    def follow(self):
        end = self.up(self.header_bytes)
        for name, memory, address, size, offset, *_ in self.sections:
            want(address == end, "%s is not behind the former section" % name)
            want(not offset or (offset % 512 == 0 and offset + size <= len(self.data)), "%s leaves the file" % name)
            want(memory or size, "%s is empty" % name)
            end = self.up(address + (memory or size))
        want(end == self.up(self.image_bytes) and end < 1 << 31, "SizeOfImage")

    def up(self, value):
        return (value + self.align - 1) // self.align * self.align

    def place(self, address, size=1):
        if address + size <= self.header_bytes:
            return address
        for _, memory, start, length, offset, *_ in self.sections:
            if offset and start <= address and address + size <= start + min(length, memory or length):
                return offset + address - start
        return None

    def relocations(self):
        address, size = self.directories[5]
        if not size or self.flags & 1:
            return None
        found, at = set(), self.place(address, size)
        want(at is not None, "relocations leave the file")
        end = at + size
        while at + 8 <= end:
            page, block = struct.unpack_from("<II", self.data, at)
            if not block:
                break
            want(block >= 8 and at + block <= end, "a block of relocations")
            for relocation in struct.unpack_from("<%dH" % ((block - 8) // 2), self.data, at + 8):
                if relocation >> 12 == 10:
                    found.add(page + (relocation & 0xFFF))
            at += block
        return found

    def wrappers(self):
        """place: where its pointer leads"""
        found, at = {}, -1
        while (at := self.data.find(struct.pack("<I", WRAPPER), at + 1)) >= 0:
            if at + 16 > len(self.data):
                break
            version, pointer = struct.unpack_from("<IQ", self.data, at + 4)
            if version in (1, 2) and pointer >= self.base:
                found[at] = self.place(pointer - self.base, 16)
        return found

    def is_container(self, at):
        return at is not None and struct.unpack_from("<I", self.data, at)[0] == CONTAINER

    def address(self, place):
        for _, memory, start, length, offset, *_ in self.sections:
            if offset <= place < offset + min(length, memory or length):
                return start + place - offset
        return None


def loads(data):
    try:
        Image(data)
    except Refused:
        return False
    return True


def faults(before, after):
    old = Image(before)
    try:
        new = Image(after)
    except Refused as why:
        return ["the copy does not load: %s" % why]
    found = []
    for what in ("directories", "entry", "base", "align", "file_align", "flags", "dll_flags", "header_bytes", "relocated", "symbols_at", "symbols"):
        if getattr(old, what) != getattr(new, what):
            found.append("%s: other than in the original" % what)
    if new.checksum:
        found.append("there is a checksum that nobody has computed")
    if new.sections[: len(old.sections)] != old.sections:
        found.append("the sections of the original were changed")
    if len(new.sections) > len(old.sections) + 1 or (len(new.sections) > len(old.sections)) != (len(after) > len(before)):
        found.append("the sections do not fit the length")
    if len(new.sections) > len(old.sections):
        memory, address, size, offset = new.sections[-1][1:5]
        if offset + size != len(after) or not 0 <= size - memory < new.file_align or new.sections[-1][9] != 0x40000040:
            found.append("the new section: %s" % (new.sections[-1],))
    for at, target in old.wrappers().items():
        if old.is_container(target) and not new.is_container(new.wrappers().get(at)):
            found.append("the wrapper at %#x leads to no container" % at)
    return found


if __name__ == "__main__":
    complaints = faults(open(sys.argv[1], "rb").read(), open(sys.argv[2], "rb").read())
    print("\n".join(complaints))
    sys.exit(bool(complaints))
