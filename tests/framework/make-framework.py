#!/usr/bin/env python3
"""Writes the sample framework's data: fat binary containers as C arrays, in the sections where nvcc puts them, with the
wrappers that the CUDA runtime gets.

    make-framework.py PTX-FOLDER GENERATED-FOLDER OUT.c

PTX-FOLDER holds the modules that are kept, and make-sample.py; the larger ones are generated.
"""
import pathlib
import subprocess
import sys

import fatbin

# Each row: name, number of statements if it is generated, options, compression. The driver of CUDA 12.2 reads all of them but zstd.
MODULES = [
    ("sample_tiny", 0, "", None),
    ("sample_small", 0, " --generate-line-info ", None),
    ("sample_filter", 800, "", "lz4"),
    ("sample_solver", 2500, "", "zstd"),
    ("sample_network", 6000, "", "lz4"),
]
RELOCATABLE = ["sample_link_function", "sample_link"]


def text_of(folder, generated, name, statements, target="sm_52"):
    if not statements:
        return (folder / (name + ".ptx")).read_bytes()
    maker = [sys.executable, str(folder / "make-sample.py"), name, str(statements), "--target", target]
    text = subprocess.run(maker, check=True, stdout=subprocess.PIPE).stdout
    generated.mkdir(parents=True, exist_ok=True)
    (generated / (name + target[2:] + ".ptx")).write_bytes(text)
    return text


def array(name, section, data):
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]
    lines = []
    for at in range(0, len(words), 6):
        lines.append("\t" + ", ".join("0x%xULL" % word for word in words[at : at + 6]) + ",")
    return "static const unsigned long long %s[] __attribute__((section(%s), aligned(8), used)) = {\n%s\n};\n" % (
        name, section, "\n".join(lines))


def main():
    folder, generated, out = (pathlib.Path(argument) for argument in sys.argv[1:])
    parts, wrappers, rows = [], [], []

    def add(name, data, section, kind, version=1):
        parts.append(array(name + "_fatbin", section, data))
        if version:
            wrappers.append("\t{0x466243b1, %d, %s_fatbin, NULL},\n" % (version, name))
        at = "&wrappers[%d]" % (len(wrappers) - 1) if version else "NULL"
        # As with nvcc, only the wrapper points to a registered container, so the container may be moved.
        place = "NULL, 0" if version else "%s_fatbin, sizeof %s_fatbin" % (name, name)
        rows.append('\t{"%s", %s, %s, %s},\n' % (name, kind, at, place))

    for name, statements, options, compression in MODULES:
        payload = fatbin.ptx_payload(text_of(folder, generated, name, statements))
        data = fatbin.container(fatbin.entry(fatbin.PTX, 52, payload, options, compression))
        add(name, data, "SECTION_FATBIN", "SAMPLE_ZSTD" if compression == "zstd" else "SAMPLE_PLAIN")
    two = [
        fatbin.entry(fatbin.PTX, sm, fatbin.ptx_payload(text_of(folder, generated, "sample_choice", 300, "sm_%d" % sm)))
        for sm in (52, 70)
    ]
    add("sample_choice", fatbin.container(*two), "SECTION_FATBIN", "SAMPLE_PLAIN")
    # As nvcc -dc and a link leave it: linked code for one old GPU, whose wrapper has version 2, and the objects' PTX.
    linked = fatbin.container(fatbin.entry(fatbin.CUBIN, 52, fatbin.old_cubin(52, "sample_link", 16384, 118)))
    add("sample_linked", linked, "SECTION_FATBIN", "SAMPLE_LINKED", version=2)
    for name in RELOCATABLE:
        payload = fatbin.ptx_payload(text_of(folder, generated, name, 0))
        data = fatbin.container(fatbin.entry(fatbin.PTX, 52, payload, " --compile-only "))
        add(name, data, "SECTION_RELOCATABLE", "SAMPLE_OBJECT", version=0)
    out.write_text(
        "/* Written by make-framework.py. */\n#include <stddef.h>\n\n#include \"sample.h\"\n\n"
        + "\n".join(parts)
        + "\n__attribute__((section(SECTION_SEGMENT), aligned(8), used)) static struct sample_wrapper wrappers[] = {\n"
        + "".join(wrappers)
        + "};\n\nconst struct sample_module sample_modules[] = {\n"
        + "".join(rows)
        + "\t{NULL, SAMPLE_PLAIN, NULL, NULL, 0},\n};\n"
    )


main()
