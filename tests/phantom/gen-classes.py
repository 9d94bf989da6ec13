#!/usr/bin/env python3
"""Regenerates classes.inc: the class numbers that the resource manager of each emulated chip announces.

    gen-classes.py PATH-TO-open-gpu-kernel-modules > classes.inc

Reads the per-chip lists of src/nvidia/generated/g_gpu_class_list.c and the class numbers of the SDK headers
(NVIDIA open-gpu-kernel-modules, MIT; 535.288.01 was used). Only numbers are taken.
"""
import glob, re, sys

CHIPS = ("TU104", "GA100", "GA104", "AD104", "GH100")
root = sys.argv[1]
number = {}
for folder in ("src/common/sdk/nvidia/inc", "src/nvidia"):
    for name in glob.glob(f"{root}/{folder}/**/*.h", recursive=True):
        for m in re.finditer(r"#define\s+(\w+)\s+\(?\s*(0x[0-9A-Fa-f]+)", open(name, errors="replace").read()):
            number.setdefault(m.group(1), int(m.group(2), 16))
lists = open(f"{root}/src/nvidia/generated/g_gpu_class_list.c").read()
print("/* Written by gen-classes.py from NVIDIA's open-gpu-kernel-modules; numbers only. */")
for chip in CHIPS:
    body = re.search(r"hal%sClassDescriptorList\[\] = \{(.*?)\n    \};" % chip, lists, re.S).group(1)
    ids = sorted({number[c] for c in re.findall(r"\{ (\w+),", body)})
    print(f"static const uint32_t classes_{chip}[] = {{")
    for i in range(0, len(ids), 10):
        print("\t" + " ".join(f"0x{n:04x}," for n in ids[i:i + 10]))
    print("};")
