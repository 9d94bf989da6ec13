#!/usr/bin/env python3
"""Wheels for the tests of `jitwarm bake`.

  wheels.py make LIBRARY FOLDER          sample-1.0-py3-none-any.whl, and others that jitwarm has to refuse: FOLDER/bad/NAME/…
  wheels.py make-one LIBRARY FOLDER      the first of them alone
  wheels.py check OLD NEW VERSION        NEW has OLD's members with another version and other libraries
"""
import base64
import csv
import hashlib
import os
import struct
import sys
import zipfile

METADATA = "Metadata-Version: 2.1\nName: sample\nVersion:  {}\nLicense: {}\nSummary: v\n\nVersion: 9\n"
STEM = "sample-1.0"
FILE_NAME = STEM + "-py3-none-any.whl"


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def rows(members, info):
    # The wheel lacks the first file that RECORD lists, as XGBoost 1.0.2's wheels do.
    lines = ["sample/gone.so,sha256=x,5"] + ["%s,%s,%d" % ('"%s"' % n.replace('"', '""') if "," in n or '"' in n else n, digest(d), len(d)) for n, d in members if not n.endswith("/")]
    return ("\r\n".join(lines + [info + "/RECORD,,"]) + "\r\n").encode()


def contents(library, version="1.0", licence="MIT", stem=STEM):
    info = stem + ".dist-info"
    name = "libsample_framework.so"
    return [("sample/", b""), ("sample/__init__.py", b"import os\n"), ("sample/\u00fc \"x\".txt", b"text"), ("sample/" + name, library),
            (stem + ".data/scripts/run, it", b"#!python\n"), (stem + ".data/platlib/sample/other.so", library),
            (info + "/METADATA", METADATA.format(version, licence).encode()),
            (info + "/WHEEL", b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n")]


def write(path, members, method=zipfile.ZIP_DEFLATED, comment=b"", level=None):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with zipfile.ZipFile(path, "w", method, compresslevel=level) as wheel:
        wheel.comment = comment
        for at, (name, data) in enumerate(members):
            info = zipfile.ZipInfo(name, (2001, 2, 3, 4, 5, 2 * at))
            info.external_attr = (0o100755 if name.endswith((".so", "it")) else 0o100664) << 16
            info.compress_type = zipfile.ZIP_STORED if name.endswith((".py", "/")) else method
            wheel.writestr(info, data)


def listed(members, info=STEM + ".dist-info", at=None):
    record = (info + "/RECORD", rows(members, info))
    return members[:at] + [record] + members[at:] if at is not None else members + [record]


def patched(path, change):
    with open(path, "rb+") as file:
        data = bytearray(file.read())
        change(data)
        file.seek(0)
        file.truncate()
        file.write(data)


def central(data, name):
    """Where the directory's entry of that name begins."""
    return data.index(name, data.index(b"PK\x01\x02")) - 46


def make_one(library, folder):
    with open(library, "rb") as file:
        code = file.read()
    write(folder + "/" + FILE_NAME, listed(contents(code)), comment=b"a comment")
    return code


def make(library, folder):
    code = make_one(library, folder)
    file_name, plain = FILE_NAME, contents(code)
    # RECORD comes before the files that it lists, and is signed.
    info = STEM + ".dist-info"
    signed = plain + [(info + "/RECORD.jws", b"{}"), (info + "/RECORD.p7s", b"x")]
    write(folder + "/signed/" + file_name, listed(signed, at=0))
    # The wheel's version has a label already, and a build tag.
    local = contents(code, "2.0+CU121-x", stem="sample-2.0+CU121_x")
    write(folder + "/local/sample-2.0+CU121_x-1-py3-none-any.whl", listed(local, "sample-2.0+CU121_x.dist-info"))
    nvidia = contents(code, licence="NVIDIA Proprietary Software")
    write(folder + "/nvidia/" + file_name, listed(nvidia))
    write(folder + "/toolkit/" + file_name, listed(plain + [("sample/libcublas.so.12", code)]))
    many = bytearray(code)
    struct.pack_into("<H", many, 56, 65)  # program headers
    write(folder + "/many/" + file_name, listed(plain + [("sample/many.so", bytes(many))]))
    write(folder + "/nothing/" + file_name, listed([m for m in plain if not m[0].endswith(".so")]))
    def bad(name, members, change=None, called=file_name):
        write(folder + "/bad/" + name + "/" + called, members, level=1)
        if change:
            patched(folder + "/bad/" + name + "/" + called, change)

    def without(end):
        return [m for m in plain if not m[0].endswith(end)]

    def swap(old, new):
        def change(data):
            data[:] = data.replace(old, new)
        return change

    def set_at(name, offset, form, *values):
        def change(data):
            struct.pack_into(form, data, central(data, name) + offset, *values)
        return change
    whole, lib = listed(plain), b"sample/libsample_framework.so"
    bad("no-metadata", listed(without("METADATA")))
    bad("no-record", plain)
    bad("no-version", listed([(n, d.replace(b"Version:  1.0", b"Vers: 1.0")) for n, d in plain]))
    bad("two-versions", listed([(n, d.replace(b"Summary", b"Version: 1.0\nSummary")) for n, d in plain]))
    bad("other-version", listed([(n, d.replace(b"Version:  1.0", b"Version:  1.1")) for n, d in plain]))
    bad("odd-version", listed([(n, d.replace(b"Version:  1.0", b"Version: 1.0+\xc3\xa4")) for n, d in plain]))
    bad("two-infos", listed(plain + [("else-1.dist-info/METADATA", b"")]))
    bad("twice", listed(plain + [("sample/libsample_framework.sp", b"x")]), swap(b"framework.sp", b"framework.so"))
    bad("up", listed(plain + [("sample/../../x", b"x")]))
    bad("absolute", listed(plain + [("/x/y", b"x")]))
    bad("backslash", listed(plain + [("x/y", b"x")]), swap(b"x/y", b"x\\y"))
    def encrypt(data):
        struct.pack_into("<H", data, central(data, lib) + 8, 1)
        struct.pack_into("<H", data, data.index(lib) - 24, 1)
    bad("encrypted", whole, encrypt)
    bad("half-encrypted", whole, set_at(lib, 8, "<H", 1))
    bad("link", whole, set_at(lib, 38, "<I", 0o120777 << 16))
    bad("longer", whole, set_at(lib, 24, "<I", len(code) + 1))
    bad("shorter", whole, set_at(lib, 24, "<I", len(code) - 1))
    bad("checksum", whole, set_at(lib, 16, "<I", 1))
    bad("far", whole, set_at(lib, 42, "<I", 1 << 30))
    bad("no-header", whole, set_at(lib, 42, "<I", 1))
    bad("method", whole, set_at(lib, 10, "<H", 12))
    # One member lies in another one's bytes.
    with zipfile.ZipFile(folder + "/inner.zip", "w") as inner:
        inner.writestr("x/b.py", b"text")
    with open(folder + "/inner.zip", "rb") as inner:
        record = inner.read().split(b"PK\x01\x02")[0]
    os.remove(folder + "/inner.zip")
    def overlap(data):
        struct.pack_into("<I", data, central(data, b"x/b.py") + 42, data.index(record))
    stored = [("x/a.py", record), ("x/b.py", b"text")]
    bad("overlap", listed(plain + stored), overlap)
    bad("elsewhere", whole, lambda data: struct.pack_into(
        "<I", data, central(data, lib) + 42, struct.unpack_from("<I", data, central(data, b"sample/__init__.py") + 42)[0]))
    bad("many", whole, lambda data: struct.pack_into("<HH", data, len(data) - 14, 60000, 60000))
    bad("cut", whole, lambda data: data.__delitem__(slice(len(data) // 2, None)))
    bad("empty", [("x", b"")], lambda data: data.clear())
    bad("hash", listed(plain), None)
    wrong = [(n, d if n != STEM + ".dist-info/RECORD" else d.replace(digest(code).encode(), digest(b"x").encode())) for n, d in whole]
    bad("hash", wrong)
    record = whole[-1][1]
    bad("other-hash", whole[:-1] + [(whole[-1][0], record.replace(digest(b"import os\n").encode(), digest(b"x").encode()))])
    def kept(keep):
        return whole[:-1] + [(whole[-1][0], b"\r\n".join(r for r in record.split(b"\r\n") if keep(r)))]
    bad("unlisted", kept(lambda row: b"/libsample" not in row))
    bad("others", whole[:-1] + [(whole[-1][0], record + b"../../etc/passwd,,\r\n")])
    bad("listed-twice", whole[:-1] + [(whole[-1][0], record + kept(lambda row: b"/libsample" in row)[-1][1])])
    bad("bomb", listed(plain + [("sample/bomb.so", b"\x7fELF" + bytes(100 << 20))]))
    bad("name", whole, called="sample.whl")
    bad("name-version", whole, called="sample-1.1-py3-none-any.whl")
    bad("old-conda", [("x", b"")], called="sample-1.0-0.tar.bz2")


def check(old, new, version):
    info = {path: path.infolist() for path in (zipfile.ZipFile(old), zipfile.ZipFile(new))}
    (before, old_members), (after, new_members) = info.items()
    assert after.testzip() is None
    stem = old_members[-1].filename.split("/")[0]
    stem = [m.filename for m in old_members if m.filename.endswith("/METADATA")][0].split(".dist-info")[0]
    escaped = stem.split("-")[0] + "-" + version.replace("-", "_")
    old_members = [m for m in old_members if not m.filename.endswith((".jws", ".p7s"))]
    old_members.sort(key=lambda m: m.filename.endswith("/RECORD"))  # it comes last
    assert [m.filename.replace(stem + ".d", escaped + ".d") for m in old_members] == [m.filename for m in new_members]
    record = {}
    for path, sha256, size in csv.reader(after.read(escaped + ".dist-info/RECORD").decode().splitlines()):
        assert path not in record, path
        record[path] = (sha256, size)
    changed = []
    for was, now in zip(old_members, new_members):
        assert was.date_time == now.date_time and (was.external_attr ^ now.external_attr) >> 16 & 0o777 == 0, now.filename
        a, b = before.read(was), after.read(now)
        if a != b:
            changed.append(now.filename)
        if not now.filename.endswith(("/RECORD", "/")):
            assert record.pop(now.filename) == (digest(b), str(len(b))), now.filename
    del record[escaped + ".dist-info/RECORD"]
    assert not record, record  # "sample/gone.so" is in no wheel
    metadata = [n for n in changed if n.endswith("/METADATA")]
    assert len(metadata) == 1
    was = before.read(stem + ".dist-info/METADATA").split(b"\n")
    now = after.read(metadata[0]).split(b"\n")
    assert len(was) == len(now) and now[2] == b"Version:  " + version.encode()
    assert was[:2] + was[3:] == now[:2] + now[3:]
    assert all(n.endswith((".so", "/METADATA", "/RECORD")) for n in changed), changed
    print(" ".join(n for n in changed if n.endswith(".so")))


if __name__ == "__main__":
    {"make": make, "make-one": make_one, "check": check}[sys.argv[1]](*sys.argv[2:])
