#!/usr/bin/env python3
"""index-server.py FOLDER [CERTIFICATE]   a package index (PEP 691) on 127.0.0.1, honest and lying, for fetch.sh and index.sh

Writes its port to FOLDER/port once it answers, and each request to FOLDER/log: METHOD PATH AUTHORIZATION.
Below /KIND/simple/ every index holds the same wheels, but for what KIND says of it: those of a compiler, made here, and the packages that
are folders of FOLDER/packages. CERTIFICATE: a PEM file with key, for https.
"""
import base64
import hashlib
import http.server
import io
import json
import pathlib
import ssl
import sys
import threading
import time
import urllib.parse
import zipfile

FOLDER = pathlib.Path(sys.argv[1])
PACKAGE = "nvidia-cuda-nvcc-cu12"
LOG = threading.Lock()


def packed(name, version, files, link=False):
    """A wheel: files, and what pip wants of it."""
    dist, rows, memory = f"{name}-{version}.dist-info", [], io.BytesIO()
    files = {**files, f"{dist}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
             f"{dist}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n"}
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            info = zipfile.ZipInfo(path)  # has the date 1980: the same bytes each time
            if link and "bin/" in path:
                info.external_attr = 0o120777 << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(content)}")
        archive.writestr(zipfile.ZipInfo(f"{dist}/RECORD"), "\n".join([*rows, f"{dist}/RECORD,,"]) + "\n")
    return memory.getvalue()


def compiler(version, kind):
    release = {"other-program": "release 12.4, V12.4.99", "silent-program": "hello"}.get(kind, f"release {version.rsplit('.', 1)[0]}, V{version}")
    code = f'#!/bin/sh\necho "ptxas: NVIDIA (R) Ptx optimizing assembler"\necho "Cuda compilation tools, {release}"\n'.encode()
    files = {"nvidia/cuda_nvcc/bin/ptxas": code, "nvidia/cuda_nvcc/nvvm/x": b"x" * 1000}
    if kind == "no-program":
        files = {"nvidia/cuda_nvcc/lib/ptxas": code}
    if kind == "two-programs":
        files["nvidia/cu12/bin/ptxas"] = code
    if kind == "climbing":
        files = {"../../../../outside/bin/ptxas": code, "/outside": b"x", "../outside": b"x"}
    if kind == "large":
        files["nvidia/cuda_nvcc/nvvm/y"] = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(3 << 15))  # incompressible
    data = packed("nvidia_cuda_nvcc_cu12", version, files, kind == "link")
    return {"torn-zip": data[:len(data) // 2], "no-zip": b"<html>please log in</html>"}.get(kind, data)


def wheels(package, kind):
    """Names and contents."""
    made = {PACKAGE: (compiler, ("12.3.52", "12.3.107", "12.3.103", "12.3.999", "12.4.99"))}
    if package in made:
        make, versions = made[package]
        return {f"{package.replace('-', '_')}-{version}-py3-none-manylinux2014_x86_64.whl": make(version, kind) for version in versions}
    folder = FOLDER / "packages" / package
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        with LOG, open(FOLDER / "log", "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path} {self.headers['Authorization']}\n")

    def answer(self, body, kind="text/html", status=200, **headers):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):  # uv asks so for a wheel's size
        self.do_GET()

    def do_GET(self):
        try:
            self.serve(*urllib.parse.unquote(self.path).strip("/").split("/"))
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def serve(self, kind, place="", package="", name=""):
        if kind == "login" and self.headers["Authorization"] != "Basic " + base64.b64encode(b"us er:p@ss/w").decode():
            return self.answer(b"who?", status=401, **{"WWW-Authenticate": 'Basic realm="x"'})
        if kind in ("403", "500"):
            return self.answer(b"no", status=int(kind))
        if kind == "loop":
            return self.answer(b"", status=302, Location=self.path)
        if kind == "busy":
            return self.answer(b"later", status=429, **{"Retry-After": "3600"})
        if kind == "many":
            rows = [{"filename": f"grown-1.{number}-py3-none-any.whl", "url": f"/grown-1.{number}-py3-none-any.whl", "size": 1, "hashes": {}} for number in range(100001)]
            return self.answer(json.dumps({"meta": {"api-version": "1.1"}, "name": package, "files": rows}).encode(), "application/vnd.pypi.simple.v1+json")
        if kind == "late":
            time.sleep(13)
            return self.answer(b"no", status=404)
        files = wheels(package, kind) if kind != "empty" else {}
        if place == "simple" and files:
            beside = {"core-metadata": True, "dist-info-metadata": "true"} if kind == "beside" else {}  # pip 23.2, 23.0
            beside = {"core-metadata": {"sha256": "0" * 64}, "dist-info-metadata": "sha256=" + "0" * 64} if kind == "torn" else beside
            rows = [{"filename": one, **(beside if one.endswith(".whl") else {}), "url": f"/{kind}/files/{package}/{one}", "yanked": "-12.3.999-" in one, "requires-python": ">=99" if package == PACKAGE or one.startswith("later-2") else ">=3",
                     "hashes": {"sha256": hashlib.sha256(data if kind != "wrong-hash" else b"").hexdigest()}, **({"size": len(data)} if kind == "sized" else {})} for one, data in files.items()]
            if kind == "html":
                return self.answer(("<!DOCTYPE html>\n" + "".join(f'<a href="{row["url"]}">{row["filename"]}</a>\n' for row in rows)).encode())
            return self.answer(json.dumps({"meta": {"api-version": "1.1"}, "name": package, "files": rows}).encode(), "application/vnd.pypi.simple.v1+json")
        if place == "files" and kind == "trickle":
            self.send_response(200)
            self.send_header("Content-Length", "5000000")
            self.end_headers()
            self.close_connection = True
            while self.command != "HEAD":
                self.wfile.write(b"x" * 1000)
                time.sleep(0.05)
            return None
        if place == "files" and kind == "large" and name in files:
            self.send_response(200)
            self.send_header("Content-Length", str(len(files[name])))
            self.end_headers()
            for at in range(0, len(files[name]), 1 << 18):
                time.sleep(0.1)
                self.wfile.write(files[name][at:at + (1 << 18)])
            return None
        if place == "files" and name.endswith(".whl.metadata") and kind in ("beside", "torn"):
            with zipfile.ZipFile(io.BytesIO(files[name.removesuffix(".metadata")])) as archive:
                text = next(archive.read(one) for one in archive.namelist() if one.endswith("/METADATA"))
                return self.answer(text if kind == "beside" else text.partition(b"Requires-Dist")[0])
        if place == "files" and name in files:
            data = files[name]
            last = int((self.headers["Range"] or "").removeprefix("bytes=-") or 0)
            if last and kind != "whole":
                first = max(len(data) - last, 0)
                end = len(data) - 1 if kind != "backwards" else first - 2
                return self.answer(data[first:], "application/octet-stream", 206, **{"Content-Range": f"bytes {first}-{end}/{len(data)}"})
            if kind != "cut-wheel":
                return self.answer(data, "application/octet-stream")
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[:len(data) // 2])
            self.close_connection = True
            return None
        return self.answer(b"nothing", status=404)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
(FOLDER / "port.new").write_text(str(server.server_port))
(FOLDER / "port.new").rename(FOLDER / "port")
server.serve_forever()
