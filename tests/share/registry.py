#!/usr/bin/env python3
"""registry.py FOLDER [CERTIFICATE]   an OCI registry on 127.0.0.1, honest and lying, for the cases “share” and “share-lies”

Writes its port to FOLDER/port once it answers, that of a second, foreign server to FOLDER/foreign, and each request to FOLDER/log:
METHOD PATH AUTHORIZATION RANGE, those to the foreign one to FOLDER/foreign-log. A repository is KIND/NAME: every KIND has the same content,
and KIND says how this registry lies about it. CERTIFICATE: a PEM file with key, for https.
"""
import base64
import hashlib
import http.server
import json
import os
import pathlib
import random
import re
import ssl
import sys
import threading
import time
import urllib.parse

FOLDER = pathlib.Path(sys.argv[1])
LOCK = threading.Lock()
BLOBS, MANIFESTS, UPLOADS, SEEN = {}, {}, set(), {}
BASIC = "Basic " + base64.b64encode(b"ann:se:cret").decode()
TOKEN = "token-of-ann"


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def seen(*key):
    """How often this was asked before."""
    with LOCK:
        SEEN[key] = SEEN.get(key, 0) + 1
        return SEEN[key] - 1


def mutate(data, kind, item):
    """The bytes, with something changed, cut off, doubled or put in; every other time, and all of each fourth seed, as they are."""
    if int(kind.removeprefix("mutate-")) % 4 == 0:
        return data
    dice = random.Random(kind + item)
    data = bytearray(data)
    for _ in range(dice.choice([0, 0, 1, 3])):
        at = dice.randrange(len(data)) if data else 0
        what = dice.randrange(5)
        if what == 0 and data:
            data[at] ^= 1 << dice.randrange(8)
        elif what == 1:
            del data[at:]
        elif what == 2:
            data[at:at] = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 40)))
        elif what == 3:
            del data[at:at + dice.randrange(1, 40)]
        else:
            data[at:at] = data[at:at + dice.randrange(1, 200)]
    return bytes(data)


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log_name = "log"

    def log_message(self, *_):
        pass

    def note(self):
        with LOCK, open(FOLDER / self.log_name, "a", encoding="utf-8") as file:
            file.write(f"{self.command} {self.path} {self.headers.get('Authorization', '-')} {self.headers.get('Range', '-')}\n")

    def send(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def broken(self):
        """Ends the connection as a cut cable does."""
        self.close_connection = True
        self.wfile.flush()
        self.connection.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SO_LINGER: a reset


class Registry(Quiet):
    def refuse(self, status, code, headers=()):
        self.send(status, json.dumps({"errors": [{"code": code, "message": code.lower()}]}).encode(),
                  [("Content-Type", "application/json"), *headers])

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def site(self, foreign=False):
        scheme = "https" if len(sys.argv) > 2 and not foreign else "http"
        return f"{scheme}://127.0.0.1:{FOREIGN.server_port if foreign else self.server.server_port}"

    def named(self, path):
        """An address of this registry that names somebody."""
        return self.site().replace("//", "//mallory:geheim@") + path

    def may_enter(self, kind):
        given = self.headers.get("Authorization")
        realm = f'Bearer realm="{self.site()}/token",service="the \\"service\\"",scope="repository:x:pull"'
        if kind == "basic":
            wanted, challenge = BASIC, 'Basic realm="here"'
        elif kind in ("bearer", "foreign-auth", "upload-foreign"):
            wanted, challenge = "Bearer " + TOKEN, realm
        elif kind == "bearer-expires":  # every token is good for two requests
            wanted, challenge = ("Bearer " + TOKEN if not given or seen("expires") % 3 != 2 else "never"), realm
        elif kind == "401-loop":
            wanted, challenge = "never", realm
        elif kind == "401-mute":
            wanted, challenge = "never", None
        elif kind == "401-strange":
            wanted, challenge = "never", "Negotiate abcd==, Digest realm=x"
        elif kind == "401-long":
            wanted, challenge = "never", 'Bearer realm="' + "x" * 3000 + '"'
        elif kind == "realm-plain":
            wanted, challenge = "never", 'Bearer realm="http://192.0.2.1/token"'
        elif kind == "realm-named":
            wanted, challenge = "never", f'Bearer realm="{self.named("/token")}"'
        elif kind == "realm-port":
            wanted, challenge = "Bearer " + TOKEN, f'Bearer realm="{self.site(True)}/token"'
        elif kind.startswith("token-"):
            wanted, challenge = "never", f'Bearer realm="{self.site()}/{kind}"'
        else:
            return True
        if given == wanted:
            return True
        self.refuse(401, "UNAUTHORIZED", [("WWW-Authenticate", challenge)] if challenge else [])
        return False

    def handle_any(self):
        self.note()
        path, _, query = self.path.partition("?")
        self.query = urllib.parse.parse_qs(query)
        if path.startswith("/token"):
            return self.token(path)
        found = re.fullmatch(r"/v2/([^/]+)/(.+)/(manifests|blobs)/(.+)", path)
        if not found:
            return self.refuse(404, "NAME_UNKNOWN")
        kind, self.name, what, self.item = found.groups()
        data = self.body()
        if not self.may_enter(kind):
            return None
        if kind == "429" and seen("429", self.path) < 1:
            return self.refuse(429, "TOOMANYREQUESTS", [("Retry-After", "1")])
        if kind == "429-forever":
            return self.refuse(429, "TOOMANYREQUESTS", [("Retry-After", "3600")])
        if kind == "503" and seen("503", self.command, re.sub("uploads/[0-9]+", "uploads", self.path)) < 1:
            return self.refuse(503, "UNAVAILABLE")
        if kind == "503-forever":
            return self.refuse(503, "UNAVAILABLE")
        if kind == "503-tags" and what == "manifests" and self.command in ("GET", "HEAD") and self.item == "v1":
            return self.refuse(503, "UNAVAILABLE")
        if kind == "redirect-loop":
            return self.send(307, b"", [("Location", self.path)])
        if kind == "redirect-user":
            return self.send(307, b"", [("Location", self.named(self.path.replace(kind, "good", 1)))])
        if kind == "redirect-nowhere":
            return self.send(307, b"", [("Location", "gopher://[/x")])
        if kind == "redirect-file":
            return self.send(307, b"", [("Location", "file:///etc/passwd")])
        if kind == "redirect-named":
            return self.send(307, b"", [("Location", "http://192.0.2.1/x?signature=secret")])
        if kind == "silent":
            time.sleep(20)
            return self.broken()
        return getattr(self, what)(kind, data)

    do_GET = do_HEAD = do_PUT = do_POST = handle_any

    def token(self, path):
        if path == "/token":
            if self.command == "POST":
                form = urllib.parse.parse_qs(self.body().decode())
                good = form.get("refresh_token") == ["identity of ann"] and form.get("grant_type") == ["refresh_token"]
            else:
                good = self.headers.get("Authorization") == BASIC and self.query.get("service") == ['the "service"']
            if not good:
                return self.refuse(401, "UNAUTHORIZED")
            return self.send(200, json.dumps({"access_token": TOKEN}).encode())
        answers = {"/token-none": b"{}", "/token-line": json.dumps({"token": "a\r\nX-Evil: 1"}).encode(), "/token-html": b"<html>",
                   "/token-long": json.dumps({"token": "x" * 60000}).encode(), "/token-endless": b" " * 1000000}
        return self.send(200, answers[path])

    # ---- manifests

    def manifests(self, kind, data):
        if self.command == "PUT":
            digest = digest_of(data)
            with LOCK:
                MANIFESTS[self.name, self.item] = MANIFESTS[self.name, digest] = (self.headers["Content-Type"], data)
            if kind == "tag-race" and seen("race") < 1 and not self.item.startswith("p-"):  # another machine pushes at the same time
                MANIFESTS.pop((self.name, self.item))
            return self.send(201, b"", [("Docker-Content-Digest", digest)])
        if kind == "index-slow":
            self.slow_index()
        if (self.name, self.item) not in MANIFESTS:
            return self.refuse(404, "MANIFEST_UNKNOWN")
        media, text = MANIFESTS[self.name, self.item]
        digest = digest_of(text)
        if kind.startswith("mutate-"):
            text = mutate(text, kind, "m")
            digest = digest_of(text)
        elif kind == "other-digest":
            digest = digest_of(b"x")
        elif kind == "html":
            text = b"<html>please log in</html>"
            digest = digest_of(text)
        elif kind == "endless-manifest":
            return self.endless()
        elif kind in CHANGES:
            document = json.loads(text)
            CHANGES[kind](document)
            text = json.dumps(document).encode()
            digest = digest_of(text)
        elif kind == "deep":
            text = b'{"a":' * 100000
            digest = digest_of(text)
        return self.send(200, text, [("Content-Type", media), ("Docker-Content-Digest", digest)])

    def slow_index(self):
        """An index of many manifests, each of which comes in time."""
        time.sleep(0.3)
        if self.item != "many":
            return
        pack, items = json.loads(MANIFESTS[self.name, "frame-1.0"][1]), []
        for number in range(200):
            text = json.dumps({**pack, "annotations": {**pack["annotations"], "number": str(number)}}).encode()
            MANIFESTS[self.name, digest_of(text)] = (pack["mediaType"], text)
            items.append({"mediaType": pack["mediaType"], "artifactType": pack["artifactType"], "digest": digest_of(text), "size": len(text),
                          "annotations": pack["annotations"]})
        index = "application/vnd.oci.image.index.v1+json"
        MANIFESTS[self.name, "many"] = (index, json.dumps({"schemaVersion": 2, "mediaType": index, "manifests": items}).encode())

    # ---- blobs

    def endless(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for _ in range(100000):
                self.wfile.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        except OSError:
            self.close_connection = True

    def uploads(self, kind, data):
        if self.command == "POST":
            with LOCK:
                session = str(len(UPLOADS))
                UPLOADS.add(session)
            where = f"{self.site(True)}/v2/{kind}/{self.name}/blobs/uploads/{session}?state=a%20b" if kind == "upload-foreign" \
                else f"/v2/{kind}/{self.name}/blobs/uploads/{session}?state=a%20b"
            if kind == "upload-nowhere":
                return self.send(202)
            return self.send(202, b"", [("Location", where)])
        session = self.item.split("/")[1]
        if self.command != "PUT" or session not in UPLOADS or self.query.get("state") != ["a b"]:
            return self.refuse(404, "BLOB_UPLOAD_UNKNOWN")
        if kind == "upload-large":
            return self.refuse(413, "SIZE_INVALID")
        if kind == "upload-cut" and seen("cut", self.name, self.query["digest"][0]) < 1:
            return self.broken()
        if self.query["digest"] != [digest_of(data)]:
            return self.refuse(400, "DIGEST_INVALID")
        BLOBS[digest_of(data)] = data
        return self.send(201)

    def blobs(self, kind, data):
        if self.item.startswith("uploads/"):
            return self.uploads(kind, data)
        if self.item not in BLOBS or (kind in ("fresh", "upload-cut", "upload-foreign", "upload-large", "upload-nowhere") and self.command == "HEAD"):
            return self.refuse(404, "BLOB_UNKNOWN")
        blob = BLOBS[self.item]
        if kind.startswith("mutate-"):
            blob = mutate(blob, kind, self.item)
        if kind in ("foreign", "foreign-auth", "foreign-401") and self.command == "GET":
            return self.send(307, b"", [("Location", f"{self.site(True)}/{'who' if kind == 'foreign-401' else self.item}")])
        if kind == "wrong-digest":
            blob = blob[:-1] + bytes([blob[-1] ^ 1])
        if kind == "short":
            blob = blob[:len(blob) // 2]
        if kind == "long":
            blob += b"x"
        if kind == "endless":
            return self.endless()
        if kind == "slow":
            self.send_response(200)
            self.send_header("Content-Length", str(len(blob)))
            self.end_headers()
            try:
                for byte in blob:
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.2)
            except OSError:
                self.close_connection = True
            return None
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and kind not in ("range-ignored", "short"):
            start = int(asked[1])
            if kind == "range-other":
                start = start // 2
        part = blob[start:]
        headers = [("Content-Range", f"bytes {start}-{len(blob) - 1}/{len(blob)}")] if start else []
        if kind == "reset-always" or (kind in ("reset", "range-ignored", "range-other") and len(blob) > 20000 and seen(kind, self.item) < 3):
            self.send(206 if start else 200, part[:0 if kind == "reset-always" else len(part) // 2], headers, len(part))
            return self.broken()
        return self.send(206 if start else 200, part, headers)


def huge(document):
    document["layers"][0]["size"] = 1 << 50


def twice(document):
    document["layers"].append(document["layers"][0])


def titled(document):
    document["layers"][0]["annotations"]["org.opencontainers.image.title"] = "../../../evil.jwpack"


def image(document):
    document["config"]["mediaType"] = "application/vnd.oci.image.config.v1+json"


def no_digest(document):
    document["layers"][0]["digest"] = "sha256:../../x"


def many(document):
    document["layers"] += [dict(document["layers"][0], mediaType="x/y")] * 5000


def unsigned(document):
    del document["layers"][1:]


def noted(document):
    document["annotations"] = {"io.jitwarm.targets": "sm_86\x1b[31m", "io.jitwarm.plan": "p-" + "/" * 40, "io.jitwarm.entries": "99999999999999999999"}


CHANGES = {"huge": huge, "twice": twice, "titled": titled, "image": image, "no-digest": no_digest, "many": many, "unsigned": unsigned, "noted": noted}


class Foreign(Quiet):
    """Another host, which must not learn who asks."""
    log_name = "foreign-log"

    def do_GET(self):
        self.note()
        if self.path == "/who":
            return self.send(401, b"", [("WWW-Authenticate", 'Basic realm="foreign"')])
        return self.send(200, json.dumps({"token": TOKEN}).encode() if self.path.startswith("/token") else BLOBS[self.path[1:]])

    def do_PUT(self):
        self.note()
        data = self.rfile.read(int(self.headers["Content-Length"]))
        BLOBS[digest_of(data)] = data
        self.send(201)


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if len(sys.argv) > 2 and handler is Registry:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    return server


FOREIGN = serve(Foreign)
threading.Thread(target=FOREIGN.serve_forever, daemon=True).start()
here = serve(Registry)
(FOLDER / "foreign").write_text(str(FOREIGN.server_port))
(FOLDER / "port.new").write_text(str(here.server_port))
os.rename(FOLDER / "port.new", FOLDER / "port")
here.serve_forever()
