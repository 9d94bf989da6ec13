#!/usr/bin/env python3
"""pe-load-config.py PROGRAM        writes the address of the program's load configuration into its headers
pe-load-config.py --show PROGRAM   prints its DependentLoadFlags, 0 where there is none

The table is jitwarm_load_config (src/os/win32/program/load_config.c). A linker of Microsoft's finds it by itself; GNU ld
does not. Run after the link and before the symbols are stripped.
"""
import struct
import sys

ENTRY = 10  # IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG
FLAGS = 0x4E  # the offset of DependentLoadFlags in the table of 64-bit programs


class Program:
    def __init__(self, path):
        self.path = path
        self.data = bytearray(open(path, "rb").read())
        self.header = struct.unpack_from("<I", self.data, 0x3C)[0]
        if self.data[:2] != b"MZ" or self.data[self.header:self.header + 4] != b"PE\0\0":
            sys.exit(f"{path}: no PE file")
        sections, _, self.symbols, self.symbol_count, size = struct.unpack_from("<HIIIH", self.data, self.header + 6)
        self.optional = self.header + 24
        if struct.unpack_from("<H", self.data, self.optional)[0] != 0x20B:
            sys.exit(f"{path}: not for 64 bits")
        self.entry = self.optional + 112 + 8 * ENTRY
        self.sections = [struct.unpack_from("<IIII", self.data, self.optional + size + 40 * i + 8) for i in range(sections)]

    def address(self, wanted):
        """The relative address of a symbol."""
        names = self.symbols + 18 * self.symbol_count
        i = 0
        while i < self.symbol_count:
            at = self.symbols + 18 * i
            name = bytes(self.data[at:at + 8])
            if name[:4] == b"\0\0\0\0":
                start = names + struct.unpack_from("<I", name, 4)[0]
                name = bytes(self.data[start:self.data.index(0, start)])
            value, section = struct.unpack_from("<Ih", self.data, at + 8)
            if name.rstrip(b"\0") == wanted and section > 0:
                return self.sections[section - 1][1] + value
            i += 1 + self.data[at + 17]
        sys.exit(f"{self.path}: no symbol {wanted.decode()}")

    def offset(self, address):
        for _, start, size, raw in self.sections:
            if start <= address < start + size:
                return raw + address - start
        sys.exit(f"{self.path}: nothing at {address:#x}")

    def flags(self):
        address = struct.unpack_from("<I", self.data, self.entry)[0]
        return struct.unpack_from("<H", self.data, self.offset(address) + FLAGS)[0] if address else 0

    def write_checksum(self):
        at = self.optional + 64
        struct.pack_into("<I", self.data, at, 0)
        padded = bytes(self.data) + b"\0" * (len(self.data) % 2)
        total = sum(struct.unpack(f"<{len(padded) // 2}H", padded))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        struct.pack_into("<I", self.data, at, total + len(self.data))


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--show":
        print(f"{Program(sys.argv[2]).flags():#x}")
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = Program(sys.argv[1])
    table = program.address(b"jitwarm_load_config")
    size = struct.unpack_from("<I", program.data, program.offset(table))[0]
    struct.pack_into("<II", program.data, program.entry, table, size)
    program.write_checksum()
    with open(program.path, "r+b") as file:
        file.write(program.data)


main()
