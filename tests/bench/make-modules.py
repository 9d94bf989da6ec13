#!/usr/bin/env python3
"""make-modules.py COUNT STATEMENTS LIBRARY   a shared library with COUNT modules of real compile work
make-modules.py --like CSV LIBRARY          … with modules of the sizes of tests/data/compile-costs/CSV, and LIBRARY.costs, by which the
                                            simulated driver makes entries of the sizes there (SIMDRIVER_COSTS_CSV)

Writes LIBRARY, whose .nv_fatbin holds COUNT containers with one PTX each, and LIBRARY.list: offset and size of each container in it.
The modules have from half to twice STATEMENTS statements, in no order. The same arguments give the same library. Needs cc.
"""
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/framework"))
import fatbin


def sample(name, statements):
    return subprocess.run([sys.executable, os.path.join(ROOT, "ptx/make-sample.py"), name, str(statements)],
                          stdout=subprocess.PIPE, check=True).stdout


def of_work(count, statements):
    dice = random.Random(count * statements)
    for i in range(count):
        yield sample("module_%d" % i, int(statements * 2 ** dice.uniform(-1, 1)))


def of_sizes(rows):
    """Each from another line on of one long text; the blanks at the end make the size."""
    head, begin, lines = sample("module_0", 100000).partition(b"\tmov.f32")
    lines, end = (begin + lines).rsplit(b"\tst.global", 1)
    lines = lines.splitlines(keepends=True)
    for i, row in enumerate(rows):
        left = int(row[1]) - 1 - len(head) - len(end) - 32
        text, at = [head.replace(b"module_0", b"module_%03d" % i), b""], 0
        for line in lines[i:] + lines[:i] if left < 3000000 else (lines[i:] + lines[:i]) * (left // 3000000 + 1):
            if at + len(line) > left:
                break
            text.append(line)
            at += len(line)
        text = b"".join(text) + b"\tst.global" + end
        yield text + b" " * (int(row[1]) - 1 - len(text))


def main():
    library = sys.argv[3]
    if sys.argv[1] == "--like":
        with open(sys.argv[2]) as file:
            rows = [line.strip().split(",") for line in file][1:]
        # If two modules have one size, one gets another byte, since the driver's table goes by size.
        for i, row in enumerate(rows):
            row[1] = int(row[1])
            while row[1] < 4096 or any(abs(row[1] - other[1]) < 2 for other in rows[:i]):
                row[1] += 2
        with open(library + ".costs", "w") as file:
            file.writelines("%d,%s,%s,%s,%s,1000,%s\n" % tuple(row[1:]) for row in rows)
        texts = of_sizes(rows)
    else:
        texts = of_work(int(sys.argv[1]), int(sys.argv[2]))
    body, places = bytearray(), []
    for text in texts:
        data = fatbin.container(fatbin.entry(fatbin.PTX, 52, fatbin.ptx_payload(text), compression="lz4"))
        places.append((len(body), len(data)))
        body += data
    with tempfile.TemporaryDirectory() as scratch:
        with open(scratch + "/modules", "wb") as file:
            file.write(body)
        with open(scratch + "/modules.s", "w") as file:
            file.write('.section .nv_fatbin,"a"\n.balign 8\n.incbin "%s/modules"\n' % scratch)
        subprocess.run(["cc", "-shared", "-nostdlib", "-o", library, scratch + "/modules.s"], check=True)
    with open(library, "rb") as file:
        start = file.read().index(bytes(body[:64]))
    with open(library + ".list", "w") as file:
        file.writelines("%d %d\n" % (start + at, size) for at, size in places)


main()
