#!/usr/bin/env python3
"""Conda packages for the tests of `jitwarm bake`; zstd packs and unpacks.

  condas.py make LIBRARY FOLDER      sample-1.0-h1_0.conda, and others that jitwarm has to refuse: FOLDER/bad/NAME/…
  condas.py make-one LIBRARY FOLDER  the first of them alone
  condas.py check OLD NEW BUILD      NEW is OLD with another build string and other libraries, and nothing else
"""
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile

NAME = "sample-1.0-h1_0"


def zstd(data, *how):
    return subprocess.run(["zstd", "-q", "-c", *how], input=data, stdout=subprocess.PIPE, check=True).stdout


def tar(files, form=tarfile.GNU_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as to:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.mtime, info.mode, info.uname = 981173106, 0o755 if name.endswith(".so") else 0o664, "conda"
            if form == tarfile.PAX_FORMAT:  # as a tool that keeps attributes writes them
                info.pax_headers = {"SCHILY.xattr.user.note": "x" * 5000, "SCHILY.xattr.security.selinux": "object\0"}
            if isinstance(data, tuple):
                info.type, info.linkname = data
                to.addfile(info)
            else:
                info.size = len(data)
                to.addfile(info, io.BytesIO(data))
    return out.getvalue()


def entries(files):
    sums = {n: d for n, d in files if isinstance(d, bytes)}
    rows = []
    for name, data in files:
        if isinstance(data, tuple) and data[0] == tarfile.SYMTYPE:
            rows.append({"_path": name, "path_type": "softlink"})
            continue
        data = sums[data[1]] if isinstance(data, tuple) else data
        rows.append({"_path": name, "path_type": "hardlink", "sha256": hashlib.sha256(data).hexdigest(), "size_in_bytes": len(data)})
    return rows


def files_of(code):
    return [("lib/libsample_framework.so", code), ("lib/" + "long/" * 30 + "other.so", code), ("lib/libsample.so.1", (tarfile.SYMTYPE, "x.so")),
            ("lib/again.so", (tarfile.LNKTYPE, "lib/libsample_framework.so")), ("share/sä.txt", b"text" * 400)]


def write(path, files, index=None, paths=None, form=tarfile.GNU_FORMAT, name=NAME, members=None, method=zipfile.ZIP_STORED, how="-19"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    index = dict({"build": "h1_0", "build_number": 0, "license": "MIT", "name": "sample", "version": "1.0", "nested": {"build": "x"}}, **(index or {}))
    index = {k: v for k, v in index.items() if v is not None}
    paths = paths or {"paths": entries(files), "paths_version": 1}
    info = [("info/index.json", json.dumps(index, indent=2).encode()), ("info/files", "\n".join(n for n, _ in files).encode()),
            ("info/paths.json", json.dumps(paths, indent=1).encode())]
    whole = members or [("metadata.json", b'{"conda_pkg_format_version": 2}'), ("pkg-%s.tar.zst" % name, zstd(tar(files, form), how)),
                        ("info-%s.tar.zst" % name, zstd(tar(info, form)))]
    with zipfile.ZipFile(path, "w", method) as out:
        for member, data in whole:
            out.writestr(zipfile.ZipInfo(member, (2001, 2, 3, 4, 5, 6)), data, method)


def make_one(library, folder):
    with open(library, "rb") as file:
        code = file.read()
    write(folder + "/" + NAME + ".conda", files_of(code))
    return code


def make(library, folder):
    code = make_one(library, folder)
    files, called = files_of(code), NAME + ".conda"
    write(folder + "/pax/" + called, files, form=tarfile.PAX_FORMAT)
    write(folder + "/nvidia/" + called, files, {"license": "LicenseRef-NVIDIA-End-User-License-Agreement"})
    write(folder + "/nothing/" + called, files[4:])

    def bad(kind, *arguments, **named):
        write(folder + "/bad/" + kind + "/" + called, *arguments, **named)
    rows = entries(files)
    write(folder + '/quote/sample-1.0-h1".conda', files, {"build": 'h1"'}, name='sample-1.0-h1"')
    bad("name", files, {"build": "h2_0"})
    bad("no-build", files, {"build": None})
    bad("build-number", files, {"build": 7})
    bad("hash", files, paths={"paths": [dict(r, sha256="0" * 64) for r in rows]})
    bad("unlisted", files, paths={"paths": rows[1:]})
    bad("listed-twice", files, paths={"paths": rows + rows[:1]})
    bad("no-paths", files, paths={"other": rows})
    bad("no-size", files, paths={"paths": [{k: v for k, v in r.items() if k != "size_in_bytes"} for r in rows]})
    bad("deflated", files, method=zipfile.ZIP_DEFLATED)
    bad("other-archives", files, name="sample-1.0-h9_0")
    packed = tar(files)
    def archives(data, info=None):
        return [("pkg-%s.tar.zst" % NAME, data), ("info-%s.tar.zst" % NAME, info or zstd(tar([("info/index.json", json.dumps(
            {"build": "h1_0", "name": "sample", "version": "1.0"}).encode()), ("info/paths.json", json.dumps({"paths": rows}).encode())])))]
    bad("cut", files, members=archives(zstd(packed)[:-40]))
    bad("cut-tar", files, members=archives(zstd(packed[:len(code) // 2])))
    bad("checksum", files, members=archives(zstd(b"x" + packed[1:])))
    bad("not-zstd", files, members=archives(b"text" * 100))
    bad("bomb", files, members=archives(zstd(tar([("lib/zeros", bytes(100 << 20))]))))
    bad("no-json", files, members=archives(zstd(packed), zstd(tar([("info/index.json", b"{"), ("info/paths.json", b"{}")]))))
    noise = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(128))  # which zstd stores as it is
    write(folder + "/bad/flipped/" + called, files + [("share/noise", noise)], how="--no-check")
    with open(folder + "/bad/flipped/" + called, "r+b") as file:
        data = file.read()
        file.seek(data.index(noise) + 99)
        file.write(bytes([noise[99] ^ 4]))
    bad("no-info", files, members=archives(zstd(packed), zstd(tar([]))))


def read(path):
    with zipfile.ZipFile(path) as package:
        assert package.testzip() is None
        assert all(m.compress_type == zipfile.ZIP_STORED and m.date_time == (2001, 2, 3, 4, 5, 6) for m in package.infolist())
        archives = {m.split("-")[0]: zstd(package.read(m), "-d") for m in package.namelist() if m.endswith(".zst")}
        return package.namelist(), package.read("metadata.json"), archives


def members(data):
    out = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for info in archive:
            kept = {k: v for k, v in info.get_info().items() if k not in ("size", "chksum")}
            out[info.name] = (kept, archive.extractfile(info).read() if info.isreg() or info.islnk() else None)
    return out


def check(old, new, build):
    (names, meta, before), (new_names, new_meta, after) = read(old), read(new)
    assert new_names == [n.replace("h1_0", build) for n in names] and meta == new_meta
    old_files, new_files = members(before["pkg"]), members(after["pkg"])
    assert list(old_files) == list(new_files) and [v[0] for v in old_files.values()] == [v[0] for v in new_files.values()]
    changed = [n for n in old_files if old_files[n][1] != new_files[n][1]]
    info, new_info = members(before["info"]), members(after["info"])
    assert list(info) == list(new_info) and [v[0] for v in info.values()] == [v[0] for v in new_info.values()]
    assert info["info/files"] == new_info["info/files"]
    assert info["info/index.json"][1].replace(b'"build": "h1_0"', b'"build": "%s"' % build.encode()) == new_info["info/index.json"][1]
    text = info["info/paths.json"][1]
    for row in json.loads(new_info["info/paths.json"][1])["paths"]:
        if "sha256" in row:
            data = new_files[row["_path"]][1]
            assert row["sha256"] == hashlib.sha256(data).hexdigest() and row["size_in_bytes"] == len(data), row
    assert len(text.split(b"\n")) == len(new_info["info/paths.json"][1].split(b"\n"))
    print(" ".join(changed))


if __name__ == "__main__":
    {"make": make, "make-one": make_one, "check": check}[sys.argv[1]](*sys.argv[2:])
