#!/usr/bin/env python3
"""gpu-table.py PCI.IDS >data/gpus.csv

Makes the table of GPUs from the PCI ID project's list (https://pci-ids.ucw.cz): which device ids, and which product names,
have which compute capability. data/README.md explains the columns."""
import re
import sys

# Chips and their compute capability. Source: NVIDIA's list of CUDA GPUs; the chips have the names in pci.ids.
CHIPS = [
    (r"GK(110|208|180)", 35), (r"GK210", 37), (r"GM10[78]", 50), (r"GM20[046]", 52), (r"GP100", 60), (r"GP10[2-8]", 61),
    (r"GV100", 70), (r"TU1[01]\d", 75), (r"GA100", 80), (r"GA10[2-7]", 86), (r"AD10\d", 89), (r"GH100", 90),
    (r"GB10[02]", 100), (r"GB11[02]", 103), (r"GB20[2-7]", 120), (r"GB20B", 121), (r"GB10B", 110),
]
# Series, and GPUs that are not PCI devices.
OTHERS = {"gtx9": 52, "gtx10": 61, "gtx16": 75, "rtx20": 75, "rtx30": 86, "rtx40": 89, "rtx50": 120, "jetsonnano": 53, "jetsontx1": 53,
          "tegrax1": 53, "tegrax2": 62,
          "jetsontx2": 62, "jetsonxavier": 72, "jetsonxaviernx": 72, "xavier": 72, "jetsonorin": 87, "jetsonorinnx": 87, "jetsonorinnano": 87,
          "jetsonorinnanosuper": 87, "orin": 87, "orinnx": 87, "orinnano": 87, "jetsonthor": 110, "thor": 110, "p106100": 61, "p10690": 61,
          "p104100": 61, "p102100": 61, "rtx8000": 75, "dgxspark": 121}
# Words that do not distinguish products; src/code/target_names.c leaves out the same ones.
NOISE = set("nvidia geforce quadro tesla gpu laptop mobile max q maxq generation blackwell ac hgx pcie nvl sxm dgxs fhhl oem workstation server edition pascal agx developer kit nvgpu mig lhr series with design".split())
SIZE = r"\d+gb?|sxm.*|hbm.*"
NO_NAME = r"sample|reserved|dev id|switch|service|fake|sku|^cs\d|pg\d{3}|88k|30x0|drive|cmp 100|^(gk|gm)\d|^(d1|q1|ph4|p10|p6m|p106)"


def capability(chip):
    for pattern, sm in CHIPS:
        if re.match(pattern, chip):
            return sm
    return None


def plain(name):
    """As target_names.c does it: lower case, no noise, nothing between the words."""
    words = re.split(r"[^a-z0-9]+", name.lower())
    return "".join(word for word in words if word not in NOISE and not re.fullmatch(SIZE, word))


def names(bracket):
    for part in re.split(r"\s*/\s*", bracket):
        ada = re.search(r" Ada\b", part)
        part = re.sub(r"\(.*| Ada\b.*| Pascal|lite hash rate|rev\. \d|workstation.*|server.*| v\d$| sff.*|embedded.*|gddr6x", "", part,
                      flags=re.I)
        key = plain(part + (" ada" if ada else ""))
        if not re.search(NO_NAME, part.lower()) and re.fullmatch(r"(?=.*[a-z])(?=.*\d)[a-z0-9]{2,24}|(gtx|rtx)?titan\w*|jetson\w+", key):
            yield key


def devices(path):
    nvidia = False
    for line in open(path, encoding="utf-8"):
        if re.match(r"[0-9a-f]{4} ", line):
            nvidia = line.startswith("10de ")
        found = nvidia and re.match(r"\t([0-9a-f]{4})  (\w+)[^\[]*(?:\[(.*)\])?", line)
        if found:
            sm = capability(found[2])
            if not sm and re.match(r"G[A-Z]\d{2,3}|AD\d", found[2]):
                yield int(found[1], 16), None, []
            elif sm and not re.search(r"audio|usb|ucsi|host|bridge|switch", line, re.I):
                yield int(found[1], 16), sm, list(names(found[3] or ""))


def main():
    runs = []
    for number, sm, called in sorted(devices(sys.argv[1]), key=lambda device: device[0]):
        if not runs or runs[-1][2] != sm:
            runs.append([number, number, sm, []])
        runs[-1][1] = number
        runs[-1][3] += called
    print("first,last,sm,names")
    for first, last, sm, called in runs:
        if sm:
            print(f"{first:04x},{last:04x},{sm},{'|'.join(dict.fromkeys(called))}")
    for sm in sorted(set(OTHERS.values())):
        print(f",,{sm},{'|'.join(name for name in OTHERS if OTHERS[name] == sm)}")


main()
