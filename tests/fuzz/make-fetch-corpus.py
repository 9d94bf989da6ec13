#!/usr/bin/env python3
"""Writes the corpora of fuzz_index_html, fuzz_index_json, fuzz_pip_config and fuzz_wheel beside this file."""
import base64
import hashlib
import io
import json
import pathlib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent / "corpus"
WHEEL = "nvidia_cuda_nvcc_cu12-12.4.131-py3-none-manylinux2014_x86_64.whl"
HASH = "0123456789abcdef" * 4

HTML = {
    "page": f"<!DOCTYPE html><html><head><base href=\"/files/\"></head><body><a href=\"{WHEEL}#sha256={HASH}\" "
            f"data-yanked=\"\">x</a><br/>\n<A HREF='a%20b.whl#egg=x&sha256={HASH.upper()}'>y</A></body></html>".encode(),
    "entities": b"<a href='a&amp;b&#38;&#x26;&#xd800;&#99999999;&#;&#x;&nosuch;&#x2F;c.whl'>",
    "comments": b"<!-- <a href=x> --><a href=y.whl><!--><a href=z.whl>--><!-- open <a href=x>",
    "cut-quote": b"<a href=\"x.whl><a href='y.whl>",
    "cut-tag": b"<a href",
    "no-value": b"<a href><a href=><a = =x><a/href=x.whl/><a href=x href=y.whl>",
    "escapes": b"<a href='%2e%2e/%2fetc%2Fpasswd'><a href='x%5cy.whl'><a href='%00.whl'><a href='%zz%f'>",
    "long": b"<a href='" + b"x" * 9000 + b".whl'><base href='" + b"y" * 9000 + b"'><a href=z.whl>",
    "nul": b"<a href='x\0y.whl'><a h\0ref=x>",
    "names": "".join(f"<a href=\"{name}\">" for name in (
        "nvidia_cuda_nvcc_cu12-12.4-py3-none-manylinux1_x86_64.whl", "Nvidia.Cuda--nvcc_cu12-12.4-1-py3-none-a.b.linux_x86_64.whl",
        "nvidia_cuda_nvcc_cu12-" + "1." * 200 + "-py3-none-linux_x86_64.whl", "-----.whl", ".whl", "a-b-c-d-e-f-g-h.whl")).encode(),
    "text": b"hello",
    "empty": b"",
}
FILE = {"filename": WHEEL, "url": "../x/" + WHEEL, "hashes": {"sha256": HASH}, "yanked": False}
JSON = {
    "page": json.dumps({"meta": {"api-version": "1.1"}, "name": "x", "files": [FILE, {**FILE, "yanked": "why"}]}).encode(),
    "kinds": json.dumps({"meta": {"api-version": "1.0"}, "files": [
        1, None, [], {}, {**FILE, "hashes": 7}, {**FILE, "hashes": {"sha256": 1}}, {**FILE, "hashes": {"sha256": HASH[:-1] + "g"}},
        {**FILE, "filename": "../x.whl"}, {**FILE, "filename": "x\n.whl"}, {**FILE, "url": ""}, {**FILE, "url": "u" * 9000}]}).encode(),
    "version": b'{"meta": {"api-version": "2.0"}, "files": []}',
    "meta": b'{"meta": 1, "files": {}}',
    "list": b"[]",
    "deep": b'{"files":' + b"[" * 3000,
    "cut": b'{"meta": {"api-version": "1.0"}, "files": [{"filename": "a',
    "empty": b"",
}
PIP = {
    "file": b"# comment\n[global]\nindex-url = https://x.example/simple\ntrusted-host = a\n    b\n\n    c\n; more\n[install]\n"
            b"Extra_Index_URL: https://y\n[download]\n--timeout=5\n",
    "sections": b"index-url = none\n[]\nindex-url = x\n[global\n",
    "values": b"[global]\nindex-url =\n=x\ncert\n",
    "continued": b"[global]\n index-url = a\n  b\n c\nproxy=\n\tx\n\ty\n",
    "crlf": b"\xef\xbb\xbf[global]\r\nproxy = x\r\n",
    "nul": b"[global]\nproxy = a\0b\n",
    "long": b"[global]\nproxy = " + b"x" * 70000,
    "name": b"[global]\n" + b"n" * 100 + b" = x\n",
    "empty": b"",
}

PTXAS, RECORD = "nvidia/cuda_nvcc/bin/ptxas", "nvidia_cuda_nvcc_cu12-12.4.131.dist-info/RECORD"
PROGRAM = b"\x7fELF and so on\n" * 100


def row(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n".encode()


def wheel(*members, packed=zipfile.ZIP_DEFLATED):
    """A zip file of (name, content): always the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in members:
            made.writestr(zipfile.ZipInfo(name), content, packed)
    return file.getvalue()


GOOD = ((PTXAS, PROGRAM), (RECORD, row("x/__init__.py", b"") + row(PTXAS, PROGRAM) + RECORD.encode() + b",,\n"))
WHEELS = {
    "deflated": wheel(*GOOD),
    "stored": wheel(*GOOD, packed=zipfile.ZIP_STORED),
    "record-first": wheel(*reversed(GOOD)),
    "other-hash": wheel(GOOD[0], (RECORD, row(PTXAS, b"other"))),
    "no-row": wheel(GOOD[0], (RECORD, row(PTXAS + "2", PROGRAM))),
    "cut-row": wheel(GOOD[0], (RECORD, row(PTXAS, PROGRAM)[:60])),
    "no-record": wheel(GOOD[0]),
    "two-programs": wheel(GOOD[0], ("other/bin/ptxas", b"x"), GOOD[1]),
    "no-program": wheel(GOOD[1], ("bin/ptxas", b"x"), ("a/bin/ptxas/", b"")),
    "names": wheel(("a\nb/bin/ptxas", b"x"), ("../bin/ptxas", b"y"), ("../x.dist-info/RECORD", row("../bin/ptxas", b"y")),
                   ("x.dist-info/y/RECORD", b"z")),
    "zeros": wheel((PTXAS, bytes(1 << 20)), (RECORD, row(PTXAS, bytes(1 << 20)))),
    "cut": wheel(*GOOD)[:-30],
    "cut-member": wheel(*GOOD, packed=zipfile.ZIP_STORED)[:200],
    "flipped": bytes(byte ^ (0x40 if at == 100 else 0) for at, byte in enumerate(wheel(*GOOD))),
    "empty-zip": wheel(),
    "empty": b"",
}

for folder, files in (("index_html", HTML), ("index_json", JSON), ("pip_config", PIP), ("wheel", WHEELS)):
    (HERE / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (HERE / folder / name).write_bytes(content)
