#!/usr/bin/env python3
"""objects.py FOLDER [CERTIFICATE]   a web server for GET, HEAD and PUT on 127.0.0.1, with TLS by CERTIFICATE (key and certificate), honest
and lying, for the cases “share-web” and “share-faults”

Writes its port to FOLDER/port, that of a second, foreign server to FOLDER/foreign, and each request to FOLDER/log: METHOD PATH AUTHORIZATION;
those to the foreign one to FOLDER/foreign-log. Below /KIND/ every KIND has the same objects, and KIND says how this server lies about them.
"""
import base64
import http.server
import pathlib
import random
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse

FOLDER = pathlib.Path(sys.argv[1])
LOCK = threading.Lock()
OBJECTS = {}
COUNTS = {}
ANN = "Basic " + base64.b64encode(b"ann:secret").decode()


def mutant(dice, body, others):
    """Another text than `body`: bytes changed, left out, put in, moved, cut, doubled, or the start of another object"""
    fresh = bytearray(body)
    while bytes(fresh) == body:
        for _ in range(dice.choice((1, 1, 1, 2, 8))):
            at, size = dice.randrange(len(fresh) + 1), dice.choice((1, 2, 4, 64))
            kind = dice.randrange(8)
            if kind < 3 and at < len(fresh):
                fresh[at] ^= 1 << dice.randrange(8)
            elif kind == 3:
                del fresh[at:at + size]
            elif kind == 4:
                fresh[at:at] = dice.randbytes(size)
            elif kind == 5:
                fresh += fresh[at:at + size]
            elif kind == 6:
                del fresh[at:]
            elif others:
                fresh = bytearray(dice.choice(others)[:at]) + fresh[at:]
    return bytes(fresh)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class Objects(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log_name = "log"

    def log_message(self, *args):
        pass

    def note(self):
        with LOCK, open(FOLDER / self.log_name, "a") as log:
            print(self.command, self.path, self.headers.get("Authorization", "-"), file=log)

    def say(self, status, body=b"", length=None, **more):
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def say_mutant(self, dice, name, body):
        """Of an object, the pack or its signature is not what was put there."""
        others = [value for key, value in sorted(OBJECTS.items()) if key != name and key.endswith(name[-6:])]
        sound = dice.random() < 0.3
        if name.endswith(".jwpack"):
            self.say(200, body if sound else mutant(dice, body, others))
        elif not sound:
            self.say(200, body)
        else:
            lines = body.split(b"\n")
            line, at = dice.choice((1, 3)), dice.randrange(16, 80)
            lines[line] = lines[line][:at] + (b"A" if lines[line][at:at + 1] != b"A" else b"B") + lines[line][at + 1:]
            text = dice.choice((None, b"", dice.choice(others), b"\n".join(lines)))
            self.say(404) if text is None else self.say(200, text)

    def lie(self, kind, name, body):
        """Whether that was the answer."""
        if kind in ("silent", "loris"):
            for _ in range(600):
                time.sleep(0.1)
                if kind == "loris":
                    self.wfile.write(b"H")
                    self.wfile.flush()
        elif kind == "503":
            self.say(503, b"busy")
        elif kind == "nap":
            with LOCK:
                COUNTS[kind] = COUNTS.get(kind, 0) + 1
                if COUNTS[kind] == 3:
                    COUNTS["until"] = time.monotonic() + 2.6
            time.sleep(max(0, COUNTS.get("until", 0) - time.monotonic()))
            return False
        elif kind in ("slowdown", "hiccup"):
            with LOCK:
                COUNTS[kind] = COUNTS.get(kind, 0) + 1
                if COUNTS[kind] == 3:
                    COUNTS["over-" + kind] = time.monotonic() + 1.2
            if time.monotonic() > COUNTS.get("over-" + kind, 0):
                return False
            if kind == "hiccup":
                self.reset()
            else:
                self.say(503, b"<Error><Code>SlowDown</Code><Message>Reduce your request rate</Message></Error>", **{"Retry-After": "0"})
        elif kind == "reset":
            self.reset()
        elif kind == "garbage":
            self.wfile.write(b"\x00\xff not http at all\r\n\r\n")
            self.close_connection = True
        elif kind == "readonly" and self.command == "PUT":
            self.say(405)
        elif kind == "readonly" and name < sorted(other for other in OBJECTS if other.endswith(".jwpack"))[4]:
            self.say(404)
        elif kind == "auth" and self.headers.get("Authorization") != ANN:
            self.say(401, **{"WWW-Authenticate": 'Basic realm="x"'})
        elif kind == "elsewhere" and self.command == "GET":
            self.say(307, Location="http://127.0.0.1:%d/%s" % (foreign.server_port, name))
        elif kind == "loop" and self.command == "GET":
            self.say(302, Location=self.path + "x")
        elif body is None or self.command != "GET":
            return False
        elif kind == "short":
            self.say(200, body[:len(body) // 2], length=len(body))
            self.close_connection = True
        elif kind == "cut":
            self.say(200, body[:len(body) // 2])
        elif kind.startswith("mutant-") and not name.endswith(".claim"):
            self.say_mutant(random.Random(kind + name.removesuffix(".minisig")), name, body)
        elif kind == "wrong":
            self.say(200, random.Random(1).choice([value for key, value in sorted(OBJECTS.items()) if key != name and key.endswith(".jwpack")]))
        elif kind == "endless":
            self.send_response(200)
            self.end_headers()
            self.close_connection = True
            while True:
                self.wfile.write(bytes(1 << 16))
        else:
            return False
        return True

    def answer(self):
        self.note()
        # A proxy is asked for whole addresses.
        _, kind, name = urllib.parse.urlsplit(self.path).path.split("/", 2)
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with LOCK:
            body = OBJECTS.get(name)
        if self.lie(kind, name, body):
            return
        if self.command == "PUT":
            with LOCK:
                OBJECTS[name] = data
            self.say(201)
        elif body is None:
            self.say(404, b"none")
        else:
            self.say(200, body)

    do_GET = do_PUT = do_HEAD = lambda self: self.quietly()

    def quietly(self):
        try:
            self.answer()
        except OSError:
            self.close_connection = True


class Foreign(Objects):
    log_name = "foreign-log"

    def answer(self):
        self.note()
        with LOCK:
            body = OBJECTS.get(self.path[1:])
        self.say(404) if body is None else self.say(200, body)


server, foreign = Server(("127.0.0.1", 0), Objects), Server(("127.0.0.1", 0), Foreign)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=foreign.serve_forever, daemon=True).start()
for name, number in (("foreign", foreign.server_port), ("log", None), ("foreign-log", None), ("port", server.server_port)):
    (FOLDER / (name + ".new")).write_text("" if number is None else str(number))
    (FOLDER / (name + ".new")).rename(FOLDER / name)
server.serve_forever()
