#!/usr/bin/env python3
"""index-server.py FOLDER [CERTIFICATE]   a package index on 127.0.0.1, honest and lying, for fetch.sh and index.sh

Writes its port to FOLDER/port once it answers, and each request to FOLDER/log: METHOD PATH HOST AUTHORIZATION ACCEPT.
The packages "asked" and "pure" have the files of FOLDER/asked and FOLDER/pure; one called *1.5* is taken back. Below /KIND/simple/ every index holds the same wheels, but for what KIND says of it. CERTIFICATE: a PEM file with key, for https.
"""
import base64
import hashlib
import http.server
import io
import json
import os
import pathlib
import ssl
import sys
import threading
import time
import zipfile

FOLDER = pathlib.Path(sys.argv[1])
PACKAGE, LINKER = "nvidia-cuda-nvcc-cu12", "nvidia-nvjitlink-cu12"
TEMPLATE = FOLDER / "ptxas.exe"  # a program that says 40 times @: its release is written over them
LOG = threading.Lock()
ASKED = {}


def program(version, name, kind):
    release = f"release {version.rsplit('.', 1)[0]}, V{version}"
    if kind == "other-program":
        release = "release 12.4, V12.4.99"
    if kind == "silent-program":
        release = "hello"
    if name.endswith(".exe") and TEMPLATE.exists():
        return TEMPLATE.read_bytes().replace(b"@" * 40, release.encode().ljust(40))
    return (f'#!/bin/sh\necho "ptxas: NVIDIA (R) Ptx optimizing assembler"\n'
            f'echo "Cuda compilation tools, {release}"\n').encode()


def wheel(version, name="ptxas", kind="good"):
    """A wheel as NVIDIA's are: the program, and a RECORD."""
    files = {f"nvidia/cuda_nvcc/bin/{name}": program(version, name, kind), "nvidia/cuda_nvcc/nvvm/x": b"x" * 1000}
    if kind == "no-program":
        files = {f"nvidia/cuda_nvcc/lib/{name}": program(version, name, kind)}
    if kind == "two-programs":
        files[f"nvidia/cu12/bin/{name}"] = program(version, name, kind)
    if kind == "climbing":
        files = {f"../../../../outside/bin/{name}": program(version, name, kind), "/outside": b"x", "../outside": b"x"}
    rows = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(content)}")
    rows.append("x.dist-info/RECORD,,")
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            info = zipfile.ZipInfo(path)  # of 1980: the same bytes each time
            if kind == "link":
                info.external_attr = 0o120777 << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo("x.dist-info/RECORD"), "\n".join(rows) + "\n")
    data = memory.getvalue()
    if kind == "torn-zip":
        data = data[:len(data) // 2]
    if kind.startswith("no-zip"):
        data = b"<html>please log in</html>"
    return data


def linker_wheel(name, minor):
    path, content = f"nvidia/nvjitlink/{name}", b"a linker\0" + b"".join(b"__nvJitLinkCreate_12_%d\0" % number for number in range(minor + 1))
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(path), content)
        archive.writestr(zipfile.ZipInfo("x.dist-info/RECORD"), f"{path},sha256={digest},{len(content)}\n")
    return memory.getvalue()


# nvJitLink's last number is another one than ptxas'.
LINKERS = {f"nvidia_nvjitlink_cu12-{version}-py3-none-{tag}.whl": linker_wheel("bin/nvJitLink_120_0.dll" if tag.startswith("win") else "lib/libnvJitLink.so.12", int(version.split(".")[1]))
           for tag in ("manylinux2014_x86_64", "win_amd64", "manylinux2014_aarch64") for version in ("12.3.101", "12.4.127")}
WHEELS = {  # name: (content, taken back)
    f"nvidia_cuda_nvcc_cu12-{version}-py3-none-{tag}.whl": (version, "ptxas.exe" if tag.startswith("win") else "ptxas", yanked)
    for tag in ("manylinux1_x86_64", "manylinux2014_x86_64.manylinux_2_17_x86_64", "win_amd64", "manylinux2014_aarch64")
    for version, yanked in (("12.3.52", False), ("12.3.107", False), ("12.3.103", False), ("12.3.999", True), ("12.4.99", False))
    if tag != "manylinux1_x86_64" or version != "12.3.107"
}
EXTRA = {"nvidia_cuda_nvcc_cu12-12.3.200-py3-none-macosx_11_0_arm64.whl": ("12.3.200", "ptxas", False),
         "nvidia_cuda_nvcc_cu12-12.3.200rc1-py3-none-manylinux1_x86_64.whl": ("12.3.200", "ptxas", False),
         "nvidia_cuda_nvcc_cu123-12.3.200-py3-none-manylinux1_x86_64.whl": ("12.3.200", "ptxas", False),
         "nvidia_cuda_nvcc_cu12-12.3.200.tar.gz": ("12.3.200", "ptxas", False)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        with LOG, open(FOLDER / "log", "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path} {self.headers['Host'].split(':')[0]} {self.headers['Authorization']} {self.headers['Accept']}\n")

    def answer(self, body, kind="text/html; charset=utf-8", status=200, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def endless(self, kind, step=b"x" * 65536, pause=0.0):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while True:
            self.wfile.write(step)
            self.wfile.flush()
            time.sleep(pause)

    def listed(self, kind, files):
        document = {"meta": {"api-version": "1.1" if kind != "json-2" else "2.0"}, "name": PACKAGE, "files": files}
        return json.dumps(document).encode(), "application/vnd.pypi.simple.v1+json"

    def page(self, kind):
        files = []
        for name, (version, program_name, yanked) in {**WHEELS, **EXTRA}.items():
            content = wheel(version, program_name, kind)
            digest = hashlib.sha256(content if not kind.startswith("wrong-hash") else b"").hexdigest()
            url = f"../../files/{name}"
            if kind in ("elsewhere", "elsewhere-login"):
                url = f"http://localhost:{self.server.server_port}/good/files/{name}"
            if kind.startswith("files-port-"):
                url = f"http://127.0.0.1:{kind.rsplit('-', 1)[1]}/good/files/{name}"
            if kind in ("wrong-hash-login", "no-zip-login"):
                url = f"http://us%20er:p%40ss%2Fw@127.0.0.1:{self.server.server_port}/{kind}/files/{name}"
            files.append({"filename": name, "url": url, "hashes": {"sha256": digest} if kind != "unhashed" else {"md5": "x"},
                          "yanked": yanked and "broken", "requires-python": ">=99", "size": len(content)})
        if kind == "html":
            rows = "".join(f'<a href="{row["url"]}#sha256={row["hashes"]["sha256"]}">{row["filename"]}</a><br>' for row in files)
            return f"<!DOCTYPE html><html><body>{rows}</body></html>".encode(), "text/html; charset=utf-8"
        return self.listed(kind, files)

    def linkers(self, kind):
        def served(name):
            return LINKERS[name.replace("12.3.101", "12.4.127") if kind == "other-linker" else name]
        body, media = self.listed("good", [] if kind == "no-linker" else [
            {"filename": name, "url": f"/{kind}/files/{name}", "hashes": {"sha256": hashlib.sha256(served(name)).hexdigest()}} for name in LINKERS])
        return self.answer(body, kind=media)

    def asked(self, kind, name):
        files = []
        for path in sorted((FOLDER / name).iterdir()):
            digest = hashlib.sha256(path.read_bytes() if kind != "wrong-hash" else b"").hexdigest()
            files.append({"filename": path.name, "url": f"/{kind}/files/{path.name}", "hashes": {"sha256": digest}, "yanked": "-1.5-" in path.name, "size": path.stat().st_size})
        body, media = self.listed(kind, files)
        return self.answer(body, kind=media)

    def asked_file(self, kind, content):
        if kind == "moved-away":
            return self.answer(b"", status=302, Location=f"http://localhost:{self.server.server_port}/good{self.path.removeprefix('/moved-away')}")
        if kind == "endless":
            return self.endless("application/octet-stream")
        return self.send_wheel(kind, content)

    def send_wheel(self, kind, content):
        if kind == "trickle":
            return self.endless("application/octet-stream", b"x" * 100, 0.1)
        if kind == "cut-wheel" or (kind == "cut-once" and ASKED[self.path] == 1):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:len(content) // 2])
            self.close_connection = True
            return None
        return self.answer(content, kind="application/octet-stream")

    def do_GET(self):
        try:
            self.serve()
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def serve(self):
        parts = self.path.strip("/").split("/")
        kind, place = parts[0], parts[1] if len(parts) > 1 else ""
        ASKED[self.path] = ASKED.get(self.path, 0) + 1
        if kind in ("login", "elsewhere-login"):
            wanted = "Basic " + base64.b64encode(b"us er:p@ss/w").decode()
            if self.headers["Authorization"] != wanted:
                return self.answer(b"who?", status=401, **{"WWW-Authenticate": 'Basic realm="x"'})
        if place == "simple":
            return self.index(kind, parts)
        if place == "files":
            return self.file(kind, parts[-1])
        return self.answer(b"nothing", status=404)

    def index(self, kind, parts):
        rest = "/".join(parts[1:])
        if len(parts) == 3 and parts[2] in ("asked", "pure"):
            return self.asked(kind, parts[2])
        if len(parts) == 3 and parts[2] == LINKER:
            return self.linkers(kind)
        if len(parts) == 3 and parts[2] != PACKAGE or kind == "empty":
            return self.answer(b"no such project", status=404)
        if kind.isdigit():
            return self.answer(b"<html>no</html>", status=int(kind))
        if kind == "busy-once" and ASKED[self.path] == 1:
            return self.answer(b"later", status=503)
        if kind == "moved":
            return self.answer(b"", status=301, Location=f"/good/{rest}/")
        if kind == "moved-away":
            return self.answer(b"", status=302, Location=f"http://localhost:{self.server.server_port}/good/{rest}/")
        if kind == "login-away":
            return self.answer(b"", status=302, Location=f"http://localhost:{self.server.server_port}/good/{rest}/")
        if kind == "moved-named":
            return self.answer(b"", status=302, Location=f"http://mallory:geheim@127.0.0.1:{self.server.server_port}/good/{rest}/")
        if kind.startswith("moved-port-"):
            return self.answer(b"", status=302, Location=f"http://127.0.0.1:{kind.rsplit('-', 1)[1]}/good/{rest}/")
        if kind == "moved-to-ftp":
            return self.answer(b"", status=302, Location="ftp://127.0.0.1/x")
        if kind == "moved-to-http":
            return self.answer(b"", status=302, Location=f"http://other.invalid/good/{rest}/")
        if kind == "circle":
            return self.answer(b"", status=302, Location=f"/circle/{rest}/?{ASKED.get('circle', 0)}")
        if kind == "endless":
            return self.endless("application/vnd.pypi.simple.v1+json", b" " * 60000)
        if kind == "silent":
            return time.sleep(30)
        if kind == "garbage":
            return self.answer(os.urandom(20000), kind="application/json")
        if kind == "login-page":
            return self.answer(b"<html><form action=login></form></html>")
        if kind == "torn":
            return self.answer(b'{"meta": {"api-version": "1.0"}, "files": [', kind="application/vnd.pypi.simple.v1+json")
        body, media = self.page(kind)
        if kind == "cut-index":
            self.send_response(200)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(2 * len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True
            return None
        return self.answer(body, kind=media)

    def file(self, kind, name):
        if (FOLDER / "asked" / name).exists():
            return self.asked_file(kind, (FOLDER / "asked" / name).read_bytes())
        if name in LINKERS:
            if kind == "other-linker":
                name = name.replace("12.3.101", "12.4.127")
            return self.answer(LINKERS[name], kind="application/octet-stream")
        version, program_name, _ = WHEELS[name]
        if kind == "missing-wheel":
            return self.answer(b"", status=404)
        return self.send_wheel(kind, wheel(version, program_name, kind))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
(FOLDER / "port.new").write_text(str(server.server_port))
(FOLDER / "port.new").rename(FOLDER / "port")
server.serve_forever()
