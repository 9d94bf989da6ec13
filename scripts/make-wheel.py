#!/usr/bin/env python3
"""make-wheel.py PROGRAM PLATFORM FOLDER   a wheel with the command jitwarm and the Python API (packaging/python)

PLATFORM: manylinux2014_x86_64, musllinux_1_1_x86_64, win_amd64 … Several joined by dots are one wheel for all of them. Licences
come from LICENSE and packaging. For Windows it has jitwarmw.exe, too, from PROGRAM's folder: the logon task starts the one that lies
beside jitwarm.exe. The same files give the same bytes. Prints the wheel's path.
"""
import base64, glob, hashlib, os, re, sys, zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(name):
    with open(os.path.join(ROOT, name), "rb") as file:
        return file.read()


def numbers():
    if "JITWARM_PACKAGE_VERSION" in os.environ:  # for trials of upgrades
        return os.environ["JITWARM_PACKAGE_VERSION"]
    header = read("include/jitwarm/version.h").decode()
    return ".".join(re.search(rf"#define JW_VERSION_{part} +(\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def metadata(version):
    head = f"""Metadata-Version: 2.1
Name: jitwarm
Version: {version}
Summary: Warms the NVIDIA driver's JIT cache: the first start of a GPU program, as fast as the second
License: Apache-2.0
Keywords: CUDA,GPU,NVIDIA,PTX,JIT,cache
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""
    return head.encode() + read("packaging/python/README.md")


def contents(program, platform):
    """Names and bytes, the program's last: what pip reads is in front."""
    version = numbers()
    windows = platform.startswith("win")
    info = f"jitwarm-{version}.dist-info"
    notices = sorted(glob.glob(os.path.join(ROOT, "packaging/licences/*.txt")))
    notices.append(os.path.join(ROOT, "packaging", "windows" if windows else "linux", "licences.txt"))
    files = {f"jitwarm/{name}": read(f"packaging/python/jitwarm/{name}") for name in ("__init__.py", "__main__.py", "py.typed")}
    programs = {"jitwarm": program}
    if windows:
        programs = {"jitwarm.exe": program, "jitwarmw.exe": os.path.join(os.path.dirname(program), "jitwarmw.exe")}
    files.update({f"jitwarm-{version}.data/scripts/{name}": read(os.path.abspath(path)) for name, path in programs.items()})
    files[f"{info}/METADATA"] = metadata(version)
    tags = "".join(f"Tag: py3-none-{one}\n" for one in platform.split("."))
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: jitwarm\nRoot-Is-Purelib: false\n{tags}".encode()
    files[f"{info}/LICENSE"] = read("LICENSE") + b"".join(read(notice) for notice in notices)
    lines = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
             for name, data in files.items()]
    files[f"{info}/RECORD"] = ("".join(lines) + f"{info}/RECORD,,\n").encode()
    return version, files


def main(program, platform, folder):
    version, files = contents(program, platform)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"jitwarm-{version}-py3-none-{platform}.whl")
    with zipfile.ZipFile(path + ".new", "w") as wheel:
        for name, data in files.items():
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3
            member.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            wheel.writestr(member, data, compresslevel=9)
    os.replace(path + ".new", path)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
