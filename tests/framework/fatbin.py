"""Fat binary containers, written byte by byte (layout: docs/internals/fatbin.md). LZ4 and zstd come from the machine's shared
libraries; without them the same formats are written uncompressed, which every reader takes."""
import ctypes
import struct

PTX, CUBIN = 1, 2
FLAG_64BIT, FLAG_LINUX, FLAG_LZ4, FLAG_ZSTD = 1, 0x10, 0x2000, 0x8000


def shared(name):
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def lz4_block(data):
    library = shared("liblz4.so.1")
    if library:
        out = ctypes.create_string_buffer(library.LZ4_compressBound(len(data)))
        size = library.LZ4_compress_default(data, out, len(data), len(out))
        if size > 0:
            return out.raw[:size]
    # LZ4: one sequence, with literals alone.
    if len(data) < 15:
        return bytes([len(data) << 4]) + data
    rest = len(data) - 15
    return b"\xf0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + data


def zstd_frame(data):
    library = shared("libzstd.so.1")
    if library:
        library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
        library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
        library.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
        out = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
        size = library.ZSTD_compress(out, len(out), data, len(data), 3)
        if not library.ZSTD_isError(ctypes.c_size_t(size)):
            return out.raw[:size]
    # zstd: a frame of one segment with raw blocks, and its size in four bytes.
    out = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(data))
    for at in range(0, len(data), 1 << 17):
        block = data[at : at + (1 << 17)]
        last = at + len(block) == len(data)
        out += struct.pack("<I", len(block) << 3 | last)[:3] + block
    return out


def entry(kind, arch, payload, options="", compression=None, isa=(6, 3)):
    """One entry: 64 bytes, {u32 offset, u32 length} of the option string, its text, the payload padded to 8."""
    text = options.encode() + b"\0" if options else b""
    text += b"\0" * (-len(text) % 8)
    header = 72 + len(text)
    packed = {None: lambda d: d, "lz4": lz4_block, "zstd": zstd_frame}[compression](payload)
    flags = FLAG_64BIT | FLAG_LINUX | {None: 0, "lz4": FLAG_LZ4, "zstd": FLAG_ZSTD}[compression]
    padded = packed + b"\0" * (-len(packed) % 8)
    return (
        struct.pack(
            "<HHIQIIHHIIIQQQ",
            kind, 0x0101, header, len(padded), len(packed) if compression else 0, 64 if kind == PTX else 0,
            isa[1], isa[0], arch, 0, 0, flags, 0, len(payload) if compression else 0,
        )
        + struct.pack("<II", 72 if options else 0, len(options))
        + text
        + padded
    )


def container(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def ptx_payload(text):
    """A text as the fat binary stores it: with its NUL."""
    return text + b"\0"


def old_cubin(sm, kernel="", room=0, cuda=124, kind=0x12):
    """The least that is a cubin: an ELF header for `sm` and a section table with its names; with `kernel` also the symbol
    of one, and `room` bytes of zeros for its code. `cuda`: the compiler's version, in tenths; `kind`: that of the symbol."""
    names = b"\0.shstrtab\0" + kernel.encode() + b"\0"
    names += b"\0" * (-len(names) % 8)
    symbols = b"\0" * 24 + struct.pack("<IBBHQQ", 11, kind, 0x10, 3, 0, room) if kernel else b""
    sections = 64 + len(names) + len(symbols) + room
    head = b"\x7fELF" + bytes([2, 1, 1, 0x33, 7]) + b"\0" * 7
    count = 4 if kernel else 2
    head += struct.pack("<HHIQQQIHHHHHH", 2, 190, cuda, 0, 0, sections, sm << 16 | 0x500 | sm, 64, 56, 0, 64, count, 1)
    table = b"\0" * 64 + struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, 64, len(names), 0, 0, 1, 0)
    if kernel:
        at = 64 + len(names)
        table += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, at, len(symbols), 1, 1, 8, 24)
        table += struct.pack("<IIQQQQIIQQ", 0, 1, 6, 0, at + len(symbols), room, 0, 0, 8, 0)
    return head + names + symbols + b"\0" * room + table


def elf(*sections):
    """A shared library of sections: (name, data, type, address)."""
    names, body, table = b"\0.shstrtab\0", b"", b"\0" * 64
    header = lambda name, kind, flags, address, at, size: struct.pack("<IIQQQQIIQQ", name, kind, flags, address, at, size, 0, 0, 8, 0)
    for name, data, kind, address in sections:
        table += header(len(names), kind, 2, address, 64 + len(body), len(data))
        names += name.encode() + b"\0"
        body += data + b"\0" * (-len(data) % 8)
    table += header(1, 3, 0, 0, 64 + len(body), len(names))
    body += names + b"\0" * (-len(names) % 8)
    count = len(sections) + 2
    return b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, count, count - 1) + body + table


def library(*containers, objects=None):
    """A library with these containers, handed to the driver at start; with `objects`, containers of relocatable code, the
    first one is the result of linking them."""
    fatbin, inputs, wrappers = 0x100000, 0x200000, 0x300000
    sections = [(".nv_fatbin", b"".join(containers), 1, fatbin)]
    if objects is not None:
        sections += [
            (".rela.dyn", struct.pack("<QQQ", wrappers + 8, 8, fatbin), 4, 0x1000),
            ("__nv_relfatbin", b"".join(objects), 1, inputs),
            (".nvFatBinSegment", struct.pack("<IIQQ", 0x466243B1, 2, 0, 0), 1, wrappers),
        ]
    return elf(*sections)


def pe(imports, *sections):
    """A DLL that imports these libraries, with sections: (name, data)."""
    base, at, address = 0x180000000, 0x400, 0x1000
    names = b"".join(name.encode() + b"\0" for name in imports)
    size = 20 * (len(imports) + 1)
    table, place = b"", address + size
    for name in imports:
        table += struct.pack("<IIIII", 0, 0, 0, place, 0)
        place += len(name) + 1
    sections = [(".rdata", table + bytes(20) + names), *sections]
    headers, body = b"", b""
    for name, data in sections:
        data += b"\0" * (-len(data) % 0x200)
        headers += struct.pack("<8sIIIIIIHHI", name.encode(), len(data), address, len(data), at + len(body), 0, 0, 0, 0, 0x40000040)
        body += data
        address += len(data) + (-len(data) % 0x1000)
    directories = bytes(8) + struct.pack("<II", 0x1000, size) + bytes(14 * 8)
    optional = struct.pack("<HBBIIIII", 0x20B, 14, 0, 0, len(body), 0, 0, 0x1000)
    optional += struct.pack("<QIIHHHHHHIIIIHH", base, 0x1000, 0x200, 6, 0, 0, 0, 6, 0, 0, address, at, 0, 3, 0)
    optional += struct.pack("<QQQQII", 1 << 20, 4096, 1 << 20, 4096, 0, 16) + directories
    head = b"MZ" + bytes(58) + struct.pack("<I", 64)
    head += b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, len(sections), 0, 0, 0, len(optional), 0x2022) + optional + headers
    return head + b"\0" * (at - len(head)) + body
