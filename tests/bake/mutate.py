#!/usr/bin/env python3
"""mutate.py JITWARM LIBRARY FOLDER COUNT [SEED]   bakes mutated libraries, and loads each before and after

JITWARM may have several words (with-simdriver.sh …), and its cache has the library's entries (a bake of the library itself makes them). Headers,
relocations, the dynamic section, wrappers and containers' headers are mutated. What the loader takes of a mutated library it must take
of its copy; the library stays as it was, and nothing but the copies appears. Exit status: 0, or 1 with a line for each failure; the
libraries of failures stay in FOLDER.
"""
import ctypes
import hashlib
import os
import pathlib
import shlex
import random
import shutil
import signal
import struct
import subprocess
import sys

BATCH, AGAIN = 100, 8
VALUES = (0, 1, 7, 8, 0xFF, 0xFFF, 0x1000, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 8, (1 << 64) - 1)


def numbers_of(library, groups):
    """... of the containers and their wrappers, too"""
    for magic, size in ((0x466243B1, 24), (0xBA55ED50, 96)):
        group, at = [], 0
        while (at := library.find(struct.pack("<I", magic), at)) >= 0:
            group.append((at, size))
            at += 4
        groups.append(group)
    return groups


def places(library):
    """(offset, size) of what is read as numbers, each as likely as the others"""
    phoff, shoff = struct.unpack_from("<QQ", library, 0x20)
    phnum, _, shnum = struct.unpack_from("<HHH", library, 0x38)
    segments = [struct.unpack_from("<IIQQQQQQ", library, phoff + 56 * i) for i in range(phnum)]
    found = [[(0x10, 48)], [(phoff, 56 * phnum)], [(shoff, 64 * shnum)]]
    found += [[(s[2], s[5])] for s in segments if s[0] == 2]
    for i in range(shnum):
        section = struct.unpack_from("<IIQQQQIIQQ", library, shoff + 64 * i)
        if section[1] == 4:
            found.append([(section[4], section[5])])
    return numbers_of(library, found)


def mutated(library, groups, random):
    library = bytearray(library)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        offset, size = random.choice(random.choice(groups))
        width = random.choice((1, 2, 4, 8))
        at = offset + random.randrange(max(size // width, 1)) * width
        old = int.from_bytes(library[at : at + width], "little")
        other = random.choice(groups)[0][0]
        new = random.choice((random.choice(VALUES), old + random.choice((-4096, -8, -1, 1, 8, 4096)), random.getrandbits(8 * width), other))
        library[at : at + width] = (new & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    return bytes(library)


def loads(path):
    """"loaded", or how it was refused"""
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        signal.alarm(20)
        try:
            ctypes.CDLL(str(path))
        except OSError:
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return "loaded" if not status else "refused" if os.WIFEXITED(status) else "signal %d" % os.WTERMSIG(status)


def loads_anew(path):
    """the same in a new process: the loader draws other addresses, and chance decides what a relocation at a wrong place hits"""
    ended = subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", path], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=60)
    return not ended.returncode


def batch(jitwarm, work, library, groups, seeds, totals):
    before = {}
    out, inputs = work / "out", work / "in"
    shutil.rmtree(work, ignore_errors=True)
    (work / "in").mkdir(parents=True)
    for seed in seeds:
        content = mutated(library, groups, random.Random(seed))
        (work / "in" / ("lib%d.so" % seed)).write_bytes(content)
        before[seed] = hashlib.sha256(content).digest()
    ended = subprocess.run([*jitwarm, "bake", "-o", out, inputs], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    failures = []
    if ended.returncode not in (0, 1, 2, 3):
        failures.append("seeds %d to %d: jitwarm ended with %d: %s" % (seeds[0], seeds[-1], ended.returncode, ended.stdout[-2000:].decode(errors="replace")))
    if sorted(p.name for p in work.iterdir()) not in (["in"], ["in", "out"]):
        failures.append("seeds %d to %d: something else appeared" % (seeds[0], seeds[-1]))
    for seed in seeds:
        name = "lib%d.so" % seed
        source, copy = work / "in" / name, work / "out" / name
        if hashlib.sha256(source.read_bytes()).digest() != before[seed]:
            failures.append("%s: was written to" % name)
        was = loads(source)
        totals[was] = totals.get(was, 0) + 1
        if not copy.exists():
            continue
        totals["copies"] = totals.get("copies", 0) + 1
        totals["longer"] = totals.get("longer", 0) + (copy.stat().st_size > source.stat().st_size)
        totals["both load"] = totals.get("both load", 0) + (was == "loaded")
        now = loads(copy)
        # Which place a mutated relocation writes to depends on the addresses that the loader draws.
        if was == "loaded" and now != was and all(loads_anew(source) and not loads_anew(copy) for _ in range(AGAIN)):
            failures.append("%s: the loader takes it, but of its copy: %s" % (name, now))
            shutil.copy(source, work.parent / ("failed-" + name))
    return failures


def main():
    jitwarm, library, folder, count = shlex.split(sys.argv[1]), pathlib.Path(sys.argv[2]).read_bytes(), pathlib.Path(sys.argv[3]), int(sys.argv[4])
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    groups, failures, totals = places(library), [], {}
    for start in range(first, first + count, BATCH):
        failures += batch(jitwarm, folder / "work", library, groups, range(start, min(start + BATCH, first + count)), totals)
    print(", ".join("%s: %d" % item for item in sorted(totals.items())))
    print("\n".join(failures))
    if not totals.get("longer") or not totals.get("both load"):
        failures.append("nothing was tested")
        print(failures[-1])
    sys.exit(bool(failures))


main()
