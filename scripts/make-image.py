#!/usr/bin/env python3
"""make-image.py PROGRAM FOLDER   writes an OCI image with jitwarm alone into FOLDER (an OCI layout), without docker

In it are the program, the shared libraries that it needs here (of the program of scripts/package.sh: the C library), the
certificates of this system, and what NVIDIA's container toolkit looks for. No shell, no package manager. Push it with

    skopeo copy oci:FOLDER:latest docker://REGISTRY/jitwarm:latest

The same program, libraries and certificates give the same bytes. Prints the size of the image, packed and unpacked.
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

CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# Loaded at need by the driver's library and by the C library
WANTED = ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libm.so.6", "libc.so.6", "libresolv.so.2")
# Loaded at need by the program (src/os/late.c)
LATE = ("libcurl.so.4", "libarchive.so.13")


def libraries(program):
    """The paths of all that the loader maps, by the names that it looks for."""
    def of(path):
        said = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        return said, dict(re.findall(r"(\S+) => (/\S+)", said))

    said, found = of(program)
    loader = re.search(r"^\s*(/\S*ld-linux\S*)", said, re.M).group(1)
    folder = pathlib.Path(found["libc.so.6"]).parent
    for name in WANTED:
        if (folder / name).exists():
            found.setdefault(name, str(folder / name))
    for name in LATE:
        if name.encode() in program.read_bytes():
            found.update({name: str(folder / name), **of(folder / name)[1]})
    return loader, folder, found


def tree(program):
    """What is in the image: path → (mode, bytes); None is a folder, text the target of a link."""
    loader, folder, found = libraries(program)
    place = str(folder).removeprefix("/usr").lstrip("/")  # lib/x86_64-linux-gnu
    files = {"tmp": (0o1777, None), "root": (0o700, None), "usr/bin/jitwarm": (0o755, program.read_bytes()),
             "lib": (0o777, "usr/lib"), "lib64": (0o777, "usr/lib64"),
             "etc/passwd": (0o644, b"root:x:0:0:root:/root:/usr/bin/jitwarm\n"), "etc/group": (0o644, b"root:x:0:\n"),
             "etc/nsswitch.conf": (0o644, b"passwd: files\ngroup: files\nhosts: files dns\n")}
    files["usr/" + loader.lstrip("/").removeprefix("usr/")] = (0o755, pathlib.Path(loader).read_bytes())
    for name, path in found.items():
        files["usr/%s/%s" % (place, name)] = (0o644, pathlib.Path(path).read_bytes())
    if os.path.exists(CERTIFICATES):
        files[CERTIFICATES.lstrip("/")] = (0o644, pathlib.Path(CERTIFICATES).read_bytes())
    # By this the toolkit knows where libraries of such a system are.
    if os.path.exists("/etc/debian_version"):
        files["etc/debian_version"] = (0o644, pathlib.Path("/etc/debian_version").read_bytes())
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


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    program, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def blob(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + digest, "size": len(data)}

    def document(kind, content):
        return blob(kind, json.dumps(content, sort_keys=True).encode())

    unpacked = layer(tree(program), epoch)
    packed = gzip.compress(unpacked, 6, mtime=0)
    config = document("config.v1+json", {
        "architecture": "amd64", "os": "linux",
        "config": {"Entrypoint": ["/usr/bin/jitwarm"], "WorkingDir": "/",
                   "Env": ["PATH=/usr/bin", "HOME=/root", "NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(unpacked).hexdigest()]}})
    manifest = document("manifest.v1+json", {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                                             "config": config, "layers": [blob("layer.v1.tar+gzip", packed)]})
    manifest["annotations"] = {"org.opencontainers.image.ref.name": "latest"}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    print("%s: %d bytes packed, %d unpacked" % (folder, len(packed), len(unpacked)))


main()
