#!/usr/bin/env python3
"""make-icon.py FILE.ico: draws the program's icon, a flame on a chip, in the sizes that Windows asks for.

Up to 48 pixels as bitmaps, 256 as a PNG, as Windows Vista and later read them. The same bytes on every run with one zlib.
"""
import struct
import sys
import zlib

SIZES = (16, 24, 32, 48, 256)
CLEAR, CHIP, FLAME, CORE = (0, 0, 0, 0), (38, 50, 56, 255), (255, 112, 0, 255), (255, 213, 79, 255)


def in_flame(x, y, scale):
    """A drop around (0.5, 0.6): a circle below, a point above that leans to the right."""
    x, y = (x - 0.5) / scale, (y - 0.62) / scale
    if y >= 0:
        return x * x + y * y <= 0.24 * 0.24
    rest = 1 + y / 0.46
    return rest > 0 and abs(x - 0.06 * (1 - rest)) <= 0.24 * rest ** 0.8


def colour(x, y):
    if in_flame(x, y + 0.06, 0.5):
        return CORE
    if in_flame(x, y, 1.0):
        return FLAME
    if 0.12 <= x <= 0.88 and 0.12 <= y <= 0.88:
        return CHIP
    along = x if y < 0.12 or y > 0.88 else y
    pin = 0.2 <= along <= 0.8 and int((along - 0.2) / 0.0858) % 2 == 0
    across = y if along is x else x
    return CHIP if pin and 0.03 <= across <= 0.97 else CLEAR


def pixel(column, row, size, samples=4):
    """Mean of samples * samples points, colours weighted by opacity: red, green, blue, alpha."""
    sums = [0, 0, 0, 0]
    for i in range(samples * samples):
        x = (column + (i % samples + 0.5) / samples) / size
        y = (row + (i // samples + 0.5) / samples) / size
        red, green, blue, alpha = colour(x, y)
        for at, value in enumerate((red * alpha, green * alpha, blue * alpha, alpha)):
            sums[at] += value
    if not sums[3]:
        return CLEAR
    return tuple(s // sums[3] for s in sums[:3]) + (sums[3] // (samples * samples),)


def bitmap(rows, size):
    """A DIB of twice the height: colours from the bottom up, then a mask that is all zero (alpha says it)."""
    data = b"".join(bytes((b, g, r, a)) for row in reversed(rows) for r, g, b, a in row)
    mask = bytes((size + 31) // 32 * 4 * size)
    return struct.pack("<IiiHHIIiiII", 40, size, size * 2, 1, 32, 0, len(data) + len(mask), 0, 0, 0, 0) + data + mask


def png(rows, size):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + b"".join(bytes(p) for p in row) for row in rows)
    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")


def main():
    images = []
    for size in SIZES:
        rows = [[pixel(column, row, size) for column in range(size)] for row in range(size)]
        images.append(png(rows, size) if size > 48 else bitmap(rows, size))
    table, offset = struct.pack("<HHH", 0, 1, len(images)), 6 + 16 * len(images)
    for size, image in zip(SIZES, images):
        table += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(image), offset)
        offset += len(image)
    with open(sys.argv[1], "wb") as file:
        file.write(table + b"".join(images))


main()
