#!/usr/bin/env python3
"""make-image.py FOLDER ARCHITECTURE PROGRAM ROOT [ARCHITECTURE PROGRAM ROOT]...

Writes an OCI image of jitwarm for each ARCHITECTURE (amd64, arm64), under one name, into FOLDER (an OCI layout), without docker. In it are
PROGRAM as /jitwarm, and what it needs there of ROOT, a folder with a system of that architecture (/: this machine's): the libraries
(of the program of scripts/package.sh: the C library). No shell, no package manager. It runs with a read-only
root and as any user. Push it with

    skopeo copy --all oci:FOLDER:latest docker://REGISTRY/jitwarm:latest

The same files give the same bytes. Prints the size of each image, packed and unpacked.
"""
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

MACHINES = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
# Libraries that the driver's library and the C library load when needed
WANTED = ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libm.so.6", "libc.so.6", "libresolv.so.2")
# Libraries that the program loads when needed (src/os/archive.c), unless it is linked with them
LATE = ("libarchive.so.13",)


def readelf(option, pattern, path):
    return re.findall(pattern, subprocess.run(["readelf", option, path], capture_output=True, text=True, check=True).stdout)


def libraries(program, folders):
    """The files of all that the loader maps, by the names that it looks for."""
    found = {}
    names = [*readelf("-d", r"\(NEEDED\).*\[(.+)\]", program), *WANTED, *(name for name in LATE if name.encode() in program.read_bytes())]
    for name in names:  # the list grows meanwhile
        if name not in found:
            found[name] = next((folder / name for folder in folders if (folder / name).exists()), None)
            if not found[name]:
                sys.exit(f"make-image.py: {program} needs {name}, which is not in {folders[0]}")
            names += readelf("-d", r"\(NEEDED\).*\[(.+)\]", found[name])
    return found


def tree(architecture, program, root):
    """What is in the image: path → (mode, bytes); None is a folder, text the target of a link."""
    triplet = MACHINES[architecture]
    loader = readelf("-l", r"interpreter: (/\S+)\]", program)[0]
    found = libraries(program, [root / "usr/lib" / triplet, root / "lib" / triplet])
    files = {"jitwarm": (0o755, program.read_bytes()), "tmp": (0o1777, None), "lib": (0o777, "usr/lib"), "lib64": (0o777, "usr/lib64"),
             "etc/passwd": (0o644, b"root:x:0:0:root:/tmp:/jitwarm\n"), "etc/group": (0o644, b"root:x:0:\n"),
             "etc/nsswitch.conf": (0o644, b"passwd: files\ngroup: files\nhosts: files dns\n"),
             "etc/debian_version": (0o644, b"12\n")}  # by this NVIDIA's toolkit knows where libraries of such a system are
    files["usr" + loader.removeprefix("/usr")] = (0o755, (found["libc.so.6"].parent / os.path.basename(loader)).read_bytes())
    for name, path in found.items():
        files[f"usr/lib/{triplet}/{name}"] = (0o644, path.read_bytes())
    for path in list(files):
        for parent in pathlib.PurePosixPath(path).parents:
            if str(parent) != ".":
                files.setdefault(str(parent), (0o755, None))
    return files


def layer(files, epoch):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(files):
            mode, content = files[path]
            entry = tarfile.TarInfo(path)
            entry.mode, entry.mtime = mode, epoch
            if isinstance(content, bytes):
                entry.size = len(content)
            else:
                entry.type, entry.linkname = (tarfile.SYMTYPE, content) if content else (tarfile.DIRTYPE, "")
            tar.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return out.getvalue()


def main(folder, *images):
    folder, epoch = pathlib.Path(folder), int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def blob(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + digest, "size": len(data)}

    def document(kind, content):
        return blob(kind, json.dumps(content, sort_keys=True).encode())

    manifests = []
    for architecture, program, root in zip(*[iter(images)] * 3):
        unpacked = layer(tree(architecture, pathlib.Path(program), pathlib.Path(root)), epoch)
        packed = gzip.compress(unpacked, 6, mtime=0)
        config = document("config.v1+json", {
            "architecture": architecture, "os": "linux",
            "config": {"Entrypoint": ["/jitwarm"], "WorkingDir": "/",
                       "Env": ["PATH=/", "HOME=/tmp", "NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"]},
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(unpacked).hexdigest()]}})
        manifest = document("manifest.v1+json", {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                                                 "config": config, "layers": [blob("layer.v1.tar+gzip", packed)]})
        manifests.append({**manifest, "platform": {"architecture": architecture, "os": "linux"}})
        print(f"{folder}: {architecture}: {len(packed)} bytes packed, {len(unpacked)} unpacked")
    index = document("index.v1+json", {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests})
    index["annotations"] = {"org.opencontainers.image.ref.name": "latest"}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [index]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


if __name__ == "__main__":
    if len(sys.argv) < 5 or (len(sys.argv) - 2) % 3 or any(word not in MACHINES for word in sys.argv[2::3]):
        sys.exit(__doc__)
    main(*sys.argv[1:])
