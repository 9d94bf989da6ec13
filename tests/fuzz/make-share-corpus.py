#!/usr/bin/env python3
"""make-share-corpus.py   writes the corpora of fuzz_reference, fuzz_challenge, fuzz_credentials and fuzz_artifact"""
import json
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus"
DIGEST = "sha256:" + "0123456789abcdef" * 4


def write(thing, files):
    folder = CORPUS / thing
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


write("reference", {
    "plain": "oci://host/lab", "port": "oci://127.0.0.1:5000/lab/cache", "tag": "oci://h.example/a.b__c-d/e_f:v1.0_x",
    "digest": "oci://h/a@" + DIGEST, "six": "oci://[::1]:5000/a", "hub": "oci://docker.io/library/a:b", "dots": "oci://h/a..b",
    "up": "oci://h/../a", "two": "oci://h/a:b@" + DIGEST, "at": "oci://u:p@h/a", "long": "oci://h/" + "a" * 300, "dash": "oci://-h/a",
    "separators": "oci://h/a---b/c__d/e", "bad-separators": "oci://h/a___b", "end": "oci://h/a-", "port0": "oci://h:0/a", "slash": "oci://h//a"})
write("challenge", {
    "basic": 'Basic realm="x"', "bare": "Basic", "bearer": 'Bearer realm="https://a/token",service="s",scope="repository:x:pull,push"',
    "both": 'Basic realm="x", Bearer realm="https://a/token" , service=s', "proof": "Negotiate abcd==, Basic realm=x", "escapes": 'Bearer realm="a\\"b"',
    "open": 'Bearer realm="abc', "long": 'Bearer realm="' + "x" * 2000 + '"', "commas": "Bearer ,,,", "line": 'Bearer realm="a\r\nb"',
    "headers": 'Location: /v2/x?a=b\r\nLink: </v2/x?n=1>; rel="next"\r\nRange: 0-99\r\nContent-Range: bytes 5-9/10\r\nRetry-After: 7\r\n'
               'WWW-Authenticate: Basic\r\nwww-authenticate: Bearer realm="y"\r\nOCI-Chunk-Min-Length: 1000\r\nContent-Type: Text/HTML; x\r\n',
    "words": json.dumps({"errors": [{"code": "DENIED", "message": "no\u001b[31m"}]})})
write("credentials", {
    "auth": json.dumps({"auths": {"localhost:5000": {"auth": "YW5uOnNlOmNyZXQ="}}}),
    "path": json.dumps({"auths": {"localhost:5000": {"auth": "eDp5"}, "localhost:5000/lab": {"auth": "YW5uOnNlOmNyZXQ="}, "x": {}}}),
    "url": json.dumps({"auths": {"https://localhost:5000/v1/": {"identitytoken": "t"}}}),
    "helper": json.dumps({"credHelpers": {"localhost:5000": "pass"}, "credsStore": "secretservice"}),
    "climbing": json.dumps({"credsStore": "../x"}), "bad": json.dumps({"auths": {"localhost:5000": {"auth": "!!"}}}),
    "nul": json.dumps({"auths": {"localhost:5000": {"auth": "YQA6Yg=="}}}), "list": "[]", "types": json.dumps({"auths": 1, "credHelpers": [1]}),
    "answer": json.dumps({"ServerURL": "x", "Username": "ann", "Secret": "s"}), "token-answer": json.dumps({"Username": "<token>", "Secret": "t"}),
    "token": json.dumps({"token": "abc.def"}), "access": json.dumps({"access_token": "abc", "expires_in": 300}), "token-line": json.dumps({"token": "a\r\nb"})})

notes = {"io.jitwarm.targets": "sm_86", "io.jitwarm.driver": "550.163.01 (CUDA 12.4)", "io.jitwarm.stamp": "Apr  8 202512:10:18", "io.jitwarm.cuda": "12.4",
         "io.jitwarm.entries": "8", "io.jitwarm.bytes": "1000", "io.jitwarm.plan": "p-" + "0" * 40}
manifest = {
    "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": "application/vnd.jitwarm.pack.v1",
    "config": {"mediaType": "application/vnd.jitwarm.pack.config.v1+json", "digest": DIGEST, "size": 100},
    "layers": [{"mediaType": "application/vnd.jitwarm.pack.v1.tar+zstd", "digest": DIGEST, "size": 1000,
                "annotations": {"org.opencontainers.image.title": "lab.jwpack"}},
               {"mediaType": "application/vnd.jitwarm.pack.minisig.v1", "digest": DIGEST, "size": 500}],
    "annotations": notes}


def changed(**changes):
    return json.dumps({**manifest, **changes})


index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
         "manifests": [{"mediaType": manifest["mediaType"], "digest": DIGEST, "size": 700, "annotations": notes}] * 2}
layer = manifest["layers"][0]
write("artifact", {
    "manifest": json.dumps(manifest), "index": json.dumps(index), "empty-index": json.dumps({"manifests": []}), "image": changed(config={}),
    "two": changed(layers=[layer, layer]), "none": changed(layers=[]), "huge": changed(layers=[{**layer, "size": 1 << 50}]),
    "minus": changed(layers=[{**layer, "size": -1}]), "digest": changed(layers=[{**layer, "digest": "sha256:../x"}]),
    "device": changed(layers=[{**layer, "annotations": {"org.opencontainers.image.title": "CON.jwpack"}}]),
    "title": changed(layers=[{**layer, "annotations": {"org.opencontainers.image.title": "../x.jwpack"}}]),
    "notes": changed(annotations={"io.jitwarm.targets": "\u001b[31m", "io.jitwarm.plan": "p-" + "/" * 40, "io.jitwarm.entries": "9" * 30}),
    "foreign-index": json.dumps({"manifests": [{"mediaType": "x", "digest": DIGEST}]}), "many": json.dumps({"manifests": [{}] * 400})})
