#!/usr/bin/env python3
"""s3.py FOLDER   an object store that checks signatures of version 4, and another server, on 127.0.0.1

Writes its port to FOLDER/port, that of the other to FOLDER/foreign, and each request to FOLDER/log (METHOD PATH STATUS CODE) and
FOLDER/foreign-log; FOLDER/keys has all headers. Each bucket has the same objects, all in the region eu-test-1, but:
“elsewhere” is in us-moved-2; “skewed” is three hours ahead, and says so; “moved” redirects to the other server; “none” is none; “closed” refuses.
"""
import datetime
import hashlib
import hmac
import http.server
import pathlib
import sys
import threading
import time

FOLDER = pathlib.Path(sys.argv[1])
LOCK = threading.Lock()
OBJECTS = {}
# Access key: secret, session token
KEYS = {"AKIDPLAIN": ("plain/Secret+1", None), "AKIDSESSION": ("session/Secret+2", "session/Token==")}


class Refused(Exception):
    def __init__(self, status, code, words, **headers):
        self.status, self.code, self.words, self.headers = status, code, words, headers


def hmac256(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def check(handler, bucket, body):
    """Raises Refused unless the signature is right. Written from Amazon's description, not from jitwarm."""
    header = handler.headers.get("Authorization", "")
    if not header.startswith("AWS4-HMAC-SHA256 "):
        raise Refused(403, "AccessDenied", "Access Denied")
    parts = dict(part.strip().split("=", 1) for part in header.split(" ", 1)[1].split(","))
    key, day, region, service, end = parts["Credential"].split("/")
    names = parts["SignedHeaders"].split(";")
    if key not in KEYS:
        raise Refused(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
    secret, token = KEYS[key]
    if handler.headers.get("x-amz-security-token") != token:
        raise Refused(403, "InvalidToken", "The provided token is malformed or otherwise invalid.")
    if names != sorted(names) or "host" not in names or any(name.lower().startswith("x-amz-") and name.lower() not in names for name in handler.headers):
        raise Refused(403, "AccessDenied", "There were headers present in the request which were not signed")
    wanted = "us-moved-2" if bucket == "elsewhere" else "eu-test-1"
    if (region, service, end) != (wanted, "s3", "aws4_request"):
        raise Refused(400, "AuthorizationHeaderMalformed", "The authorization header is malformed; the region '%s' is wrong; expecting '%s'" % (region, wanted), **{"x-amz-bucket-region": wanted})
    date = handler.headers["x-amz-date"]
    sent = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ")
    now = datetime.datetime.utcnow() + datetime.timedelta(hours=3 if bucket == "skewed" else 0)
    if abs((now - sent).total_seconds()) > 900 or date[:8] != day:
        raise Refused(403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
    if handler.headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        raise Refused(400, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed.")
    path, _, query = handler.path.partition("?")
    canonical = "\n".join([handler.command, path, query, *("%s:%s" % (name, " ".join(handler.headers[name].split())) for name in names), "", ";".join(names), hashlib.sha256(body).hexdigest()])
    text = "\n".join(["AWS4-HMAC-SHA256", date, "/".join((day, region, service, end)), hashlib.sha256(canonical.encode()).hexdigest()])
    step = ("AWS4" + secret).encode()
    for part in (day, region, service, end):
        step = hmac256(step, part)
    if hmac256(step, text).hex() != parts["Signature"]:
        raise Refused(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. Check your key and signing method.")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log_name = "log"

    def log_message(self, *args):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(time.time() + 3 * 3600 if getattr(self, "path", "").startswith("/skewed/") else timestamp)

    def say(self, status, body=b"", code="-", **more):
        with LOCK, open(FOLDER / self.log_name, "a") as log:
            print(self.command, self.path, status, code, file=log)
        with LOCK, open(FOLDER / "keys", "a") as keys:
            print(self.log_name, *("%s: %s" % item for item in self.headers.items()), sep="\n\t", file=keys)
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def quietly(self):
        try:
            self.answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        except OSError:
            self.close_connection = True

    do_GET = do_PUT = do_HEAD = lambda self: self.quietly()


class Store(Answers):
    def answer(self, body):
        _, bucket, name = self.path.split("/", 2)
        try:
            check(self, bucket, body)
            self.act(bucket, name, body)
        except Refused as refused:
            words = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%s</Code><Message>%s</Message><RequestId>1</RequestId></Error>' % (refused.code, refused.words)
            self.say(refused.status, words.encode(), refused.code, **refused.headers)

    def act(self, bucket, name, body):
        if bucket == "none":
            raise Refused(404, "NoSuchBucket", "The specified bucket does not exist")
        if bucket == "closed":
            raise Refused(403, "AccessDenied", "Access Denied")
        if bucket == "moved":
            raise Refused(307, "TemporaryRedirect", "Please re-send this request", Location="http://127.0.0.1:%d/%s" % (elsewhere.server_port, name))
        with LOCK:
            if self.command == "PUT":
                OBJECTS[name] = body
            found = OBJECTS.get(name)
        if found is None:
            raise Refused(404, "NoSuchKey", "The specified key does not exist.")
        self.say(200, b"" if self.command == "PUT" else found)


class Elsewhere(Answers):
    log_name = "foreign-log"

    def answer(self, body):
        self.say(404)


server, elsewhere = Server(("127.0.0.1", 0), Store), Server(("127.0.0.1", 0), Elsewhere)
threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
for name, number in (("foreign", elsewhere.server_port), ("log", None), ("foreign-log", None), ("keys", None), ("port", server.server_port)):
    (FOLDER / (name + ".new")).write_text("" if number is None else str(number))
    (FOLDER / (name + ".new")).rename(FOLDER / name)
server.serve_forever()
