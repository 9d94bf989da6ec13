#!/usr/bin/env python3
"""Writes the corpora of the fuzz targets for device code: the smallest files that the formats allow.

Usage: make-devcode-corpus.py [FOLDER]    (default: corpus beside this file)
"""
import io
import os
import struct
import sys
import tarfile
import zipfile

PTX = b"//\n// made up\n//\n\n.version 7.8\n.target sm_80\n.address_size 64\n\n.visible .entry k()\n{\n\tret;\n}\n\0"
# As Go lays strings out, and as C does
TEXTS = b"text//" + PTX[2:-1] + PTX[:-1] + b"more" + bytes(3) + PTX + b".version 1"


def pad(data, multiple):
    return data + bytes(-len(data) % multiple)


def lz4_literals(data):
    """An LZ4 block of literals alone."""
    extra, length = b"", len(data) - 15
    while length >= 255:
        extra, length = extra + b"\xff", length - 255
    return b"\xf0" + extra + bytes([length]) + data


def zstd_raw(data):
    """A zstd frame of one raw block."""
    return b"\x28\xb5\x2f\xfd" + b"\xa0" + struct.pack("<I", len(data)) + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def entry(kind=1, payload=PTX, flags=0x11, arch=80, isa=(7, 8), options=b"", compressed=0, uncompressed=0):
    header_size = len(pad(bytes(72) + options + b"\0", 8))
    stored = pad(payload, 8)
    head = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x0101, header_size, len(stored), compressed, 64, isa[1], isa[0], arch, 0, 0,
                       flags, 0, uncompressed)
    return pad(head + struct.pack("<II", 72, len(options)) + options + b"\0", 8) + stored


def container(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def packed(flag, payload, **more):
    return entry(payload=payload, flags=0x11 | flag, compressed=len(payload), uncompressed=len(PTX), **more)


def cubin(osabi=0x33, version=7, flags=0x500556, kind=2):
    head = b"\x7fELF\2\1\1" + bytes([osabi, version]) + bytes(7)
    head += struct.pack("<HHIQQQIHHHHHH", kind, 190, 128, 0, 64, 120, flags, 64, 56, 1, 64, 2, 1)
    program = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, 64, 64, 8)
    return head + program + bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0, 64, 8, 0, 0, 8, 0)


def elf(sections, machine=62, kind=3):
    """sections: (name, type, flags, address, data)"""
    body, names, headers = bytes(64), b"\0", [bytes(64)]
    for name, type_, flags, address, data in sections:
        body = pad(body, 8)
        headers.append(struct.pack("<IIQQQQIIQQ", len(names), type_, flags, address, len(body), len(data), 0, 0, 8, 0))
        names += name + b"\0"
        body += b"" if type_ == 8 else data
    headers.append(struct.pack("<IIQQQQIIQQ", len(names), 3, 0, 0, len(body), len(names) + 10, 0, 0, 1, 0))
    body = pad(body + names + b".shstrtab\0", 8)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 0, len(body), 0, 64, 0, 0, 64,
                                                       len(headers), len(headers) - 1)
    return head + body[64:] + b"".join(headers)


def linked_elf(machine=62, relative=8):
    fat = container() + container(entry())
    wrappers = struct.pack("<IIQQ", 0x466243B1, 1, 0, 0) + struct.pack("<IIQQ", 0x466243B1, 2, 0, 0)
    relocations = struct.pack("<QQQ", 0x5000 + 8, relative, 0x1000) + struct.pack("<QQQ", 0x5000 + 32, relative, 0x1010)
    return elf([(b".rela.dyn", 4, 2, 0x200, relocations), (b".text", 1, 6, 0x800, container()),
                (b".nv_fatbin", 1, 2, 0x1000, fat), (b"__nv_relfatbin", 1, 2, 0x3000, container(entry(kind=0x40))),
                (b".nvFatBinSegment", 1, 3, 0x5000, wrappers), (b".bss", 8, 3, 0x6000, bytes(64))], machine)


def pe(sections, base=0x140000000):
    """sections: (name, flags, address, data)"""
    first = 0x80 + 24 + 240
    out = bytearray(pad(bytes(first + 40 * len(sections)), 16))
    out[0:2], out[0x3c:0x40], out[0x80:0x84] = b"MZ", struct.pack("<I", 0x80), b"PE\0\0"
    struct.pack_into("<HHIIIHH", out, 0x84, 0x8664, len(sections), 0, 0, 0, 240, 0x2022)
    struct.pack_into("<H", out, 0x98, 0x20b)
    struct.pack_into("<Q", out, 0x98 + 24, base)
    for i, (name, flags, address, data) in enumerate(sections):
        struct.pack_into("<8sIIIIIIHHI", out, first + 40 * i, name, len(data), address, len(data), len(out), 0, 0, 0, 0, flags)
        out += pad(data, 16)
    return bytes(out)


def wrapper(version, pointer):
    return struct.pack("<IIQQ", 0x466243B1, version, pointer, 0)


def loadable_elf(kind=3, packed_relocations=False, headers=True):
    """As a loader wants it: one segment, and a dynamic section that leads to the relocations of two wrappers."""
    first, second = pad(container(entry()), 8), pad(container(entry(), entry()), 8)
    at, base = 64 + 56 * 2, 0x400000 if kind == 2 else 0
    wrappers_at = at + len(first) + len(second)
    relocations_at = wrappers_at + 48
    if kind == 2:
        relocations, tags = b"", [(0, 0)]
    elif packed_relocations:
        relocations = struct.pack("<QQ", wrappers_at + 8, 1 << 3 | 1)
        tags = [(36, relocations_at), (35, len(relocations)), (37, 8), (0, 0)]
    else:
        relocations = struct.pack("<QQQQQQ", wrappers_at + 8, 8, at, wrappers_at + 32, 8, at + len(first))
        tags = [(7, relocations_at), (8, len(relocations)), (9, 24), (0, 0)]
    dynamic_at = relocations_at + len(relocations)
    dynamic = b"".join(struct.pack("<QQ", *tag) for tag in tags)
    body = first + second + wrapper(1, base + at) + wrapper(2, base + at + len(first)) + relocations + dynamic
    end = at + len(body)
    segments = struct.pack("<IIQQQQQQ", 1, 6, 0, base, base, end, end, 4096)
    segments += struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, base + dynamic_at, base + dynamic_at, len(dynamic), len(dynamic), 8)
    names = b"\0.nv_fatbin\0.nvFatBinSegment\0.shstrtab\0"
    sections = [(0, 0, 0, 0, 0), (1, 1, 2, at, len(first) + len(second)), (12, 1, 3, wrappers_at, 48), (29, 3, 0, end, len(names))]
    table = b"".join(struct.pack("<IIQQQQIIQQ", name, type_, flags, base + place, place, size, 0, 0, 8, 0)
                     for name, type_, flags, place, size in sections)
    table_at = len(pad(bytes(end) + names, 8))
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", kind, 62, 1, 0, 64, table_at if headers else 0, 0, 64, 56, 2, 64,
                                                       4 if headers else 0, 3 if headers else 0)
    return pad(head + segments + body + names, 8) + table


def loadable_pe(relocated=True, room=True, behind=b""):
    """As a loader wants it: sections of pages, relocations of two wrappers, a checksum."""
    base, fat = 0x180000000, pad(container(entry()), 8)
    first = fat + container(entry(), entry())
    wrappers = wrapper(1, base + 0x1000) + wrapper(2, base + 0x1000 + len(fat))
    relocations = struct.pack("<IIHH", 0x2000, 12, 0xA008, 0xA020)
    sections = [(b".nv_fatb", 0x40000040, first), (b".nvFatBi", 0xC0000040, wrappers)]
    sections += [(b".reloc", 0x42000040, relocations)] if relocated else []
    at = 0xC0
    headers = 0x400
    out = bytearray(headers)
    out[0:2], out[at : at + 4] = b"MZ", b"PE\0\0"
    struct.pack_into("<I", out, 60, at)
    struct.pack_into("<HHIIIHH", out, at + 4, 0x8664, len(sections), 0, 0, 0, 240, 0x2022)
    struct.pack_into("<H", out, at + 24, 0x20B)
    struct.pack_into("<QII", out, at + 48, base, 0x1000, 0x200)
    struct.pack_into("<IIIHH", out, at + 80, 0x1000 * (1 + len(sections)), headers, 0x12345, 3, 0x160)
    struct.pack_into("<I", out, at + 132, 16)
    if relocated:
        struct.pack_into("<II", out, at + 136 + 40, 0x3000, len(relocations))
    for i, (name, flags, data) in enumerate(sections):
        size = len(pad(data, 0x200))
        struct.pack_into("<8sIIIIIIHHI", out, at + 264 + 40 * i, name, len(data), 0x1000 * (i + 1), size, len(out), 0, 0, 0, 0, flags)
        out += pad(data, 0x200)
    if not room:
        table = at + 264 + 40 * len(sections)
        out[0x40:headers] = bytes(headers - table) + out[0x40:table]
        struct.pack_into("<I", out, 60, at + headers - table)
    return bytes(out) + behind


def coff():
    data = container(entry())
    head = struct.pack("<HHIIIHH", 0x8664, 1, 0, 60 + len(data), 0, 0, 0)
    section = struct.pack("<8sIIIIIIHHI", b"/4", 0, 0, len(data), 60, 0, 0, 0, 0, 0x40)
    return head + section + data + b"\x13\0\0\0__nv_relfatbin\0"


def ar(members):
    out = b"!<arch>\n"
    for name, data in members:
        out = pad(out, 2) + b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name, 0, 0, 0, 0o644, len(data)) + data
    return pad(out, 2)


def wheel(method, members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, method)
    return out.getvalue()


def tar(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()[:512 + -(-len(members[0][1]) // 512) * 512 + 1024]


def corpora():
    small = elf([(b".nv_fatbin", 1, 2, 0x1000, container(entry()))])
    containers = {
        "empty": container(),
        "raw": container(entry()),
        "options": container(entry(options=b" --generate-line-info ")),
        "lz4": container(packed(0x2000, lz4_literals(PTX))),
        "zstd": container(packed(0x8000, zstd_raw(PTX))),
        "kinds": container(entry(kind=2, payload=cubin(), flags=0x1000011), entry(kind=8, flags=0x10011), entry(kind=0x40),
                           entry(kind=0x20), entry(flags=0x100011), packed(0x1000, PTX), packed(0x2000, lz4_literals(PTX))),
        "two": container(entry()) + bytes(16) + container(entry(kind=0x40)),
        "long-walk": container(entry(payload=b""), entry(payload=b""))[:-8],
    }
    yield "container", containers
    # The last byte says how it is baked.
    yield "bake", {f"{name}-{how}": data + bytes([how]) for name, data in containers.items() for how in (0, 3, 6)}
    yield "bake_grow", {
        "elf": loadable_elf(),
        "elf-packed": loadable_elf(packed_relocations=True),
        "elf-fixed": loadable_elf(kind=2),
        "elf-no-sections": loadable_elf(headers=False),
        "pe": loadable_pe(),
        "pe-fixed": loadable_pe(relocated=False),
        "pe-full": loadable_pe(room=False),
        "pe-behind": loadable_pe(behind=b"more"),
    }
    yield "elf", {
        "linked": linked_elf(),
        "aarch64": linked_elf(183, 1027),
        "rodata": elf([(b".rodata", 1, 2, 0, container(entry()) + b"P\xedU\xba\1\0\x10\0" + bytes(16))]),
        "object": elf([(b"__nv_relfatbin", 1, 2, 0, container(entry()))], kind=1),
        "texts": elf([(b".rodata", 1, 2, 1, TEXTS), (b".data", 1, 3, 0x2000, PTX + container(entry()) + b"xyz" + PTX)]),
        "no-sections": small[:40] + bytes(8) + small[48:60] + bytes(4) + small[64:],
    }
    yield "pe", {
        "library": pe([(b".text", 0x60000020, 0x1000, container()), (b".nv_fatb", 0x40, 0x2000, container(entry())),
                       (b"__nv_rel", 0x40, 0x3000, container(entry(kind=0x40))),
                       (b".nvFatBi", 0xC0000040, 0x4000, struct.pack("<IIQQ", 0x466243B1, 2, 0x140002000, 0))]),
        "object": coff(),
        "texts": pe([(b".rdata", 0x40000040, 0x1000, TEXTS)]),
    }
    yield "ar", {
        "gnu": ar([(b"/", bytes(4)), (b"//", b"a_name_longer_than_sixteen.o/\n"), (b"/0", small), (b"x.o/", b"odd"),
                   (b"x.o/", container(entry()))]),
        "bsd": ar([(b"__.SYMDEF", bytes(8)), (b"#1/20", b"a name of its own\0\0\0" + small)]),
        "microsoft": ar([(b"/", bytes(4)), (b"/", bytes(8)), (b"//", b"folder\\long_object_name.obj\0"), (b"/0", coff())]),
    }
    yield "archive", {
        "wheel": wheel(zipfile.ZIP_DEFLATED, [("x/METADATA", b"Name: x\n"), ("x/libx.so", small)]),
        "stored": wheel(zipfile.ZIP_STORED, [("x/libx.so", linked_elf()), ("x/libx.a", ar([(b"x.o/", small)]))]),
        "conda": wheel(zipfile.ZIP_STORED, [("pkg-x.tar.zst", zstd_raw(tar([("lib/libx.so", small)])))]),
        "tar": tar([("libx.so", small)]),
        "ptx-zst": zstd_raw(PTX),
        "cubin-zst": zstd_raw(cubin()),
        "layers": zstd_raw(zstd_raw(zstd_raw(zstd_raw(zstd_raw(zstd_raw(container())))))),
    }
    yield "cubin", {
        "abi-7": cubin(),
        "abi-8": cubin(0x41, 8, 0x6007802),
        "relocatable": cubin(kind=1),
    }
    yield "ptx", {
        "carriage": b";\r",
        "plain": PTX,
        "suffix": b".version 8.7\n.target sm_120f, texmode_independent\n.func f()\n{\nbra $L;\n}\n",
        "comment": b"/* .version 1.0 */ .version 6.0 .target compute_70\n",
        "long": PTX + b"\tadd.u32 %r1, %r1, 1;\n@%p1 bra $L;\n" * 80,
    }
    yield "ptx_text", {
        "texts": TEXTS,
        "end": PTX[:-1],
        "comments": b"/* a\n*/ " + PTX[:-1] + b"// the end\0" + PTX + b"/* open",
        "comment-before": b"/* a\n*/ // made up.weak" + PTX[PTX.index(b".version"):],
        "version-before": b".version %d.0\n//\n" + PTX[PTX.index(b".version"):],
        "quoted": b".version 7.8 .target sm_80 .address_size 64 .file 1 \"}\\\"\" .entry k() { /* } */ }; .global .b8 x[1] = {1};\n",
        "unsound": b".version %d.0\n" + PTX[:60] + b"\0.version 7.8\n.target sm_80\n.address_size 64\n.entry k()\n{",
    }


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
    for thing, files in corpora():
        os.makedirs(os.path.join(root, thing), exist_ok=True)
        for name, data in files.items():
            with open(os.path.join(root, thing, name), "wb") as out:
                out.write(data)


main()
