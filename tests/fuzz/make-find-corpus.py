#!/usr/bin/env python3
"""Writes the corpora of fuzz_metadata, fuzz_record, fuzz_conda and fuzz_package_version beside this file."""
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent / "corpus"

METADATA = {
    "wheel": b"Metadata-Version: 2.1\nName: tensorflow\nVersion: 2.18.0\n"
             b"Requires-Dist: numpy<2.1.0,>=1.26.0\n"
             b"Requires-Dist: nvidia-cudnn-cu12==9.3.0.75; extra == \"and-cuda\"\n\nName: not this\n",
    "egg-crlf": b"Metadata-Version: 1.0\r\nName: Old_Pack\r\nVersion: 1.0\r\nRequires-Dist: a [x,y] (>=1)\r\n",
    "folded": b"Name: a\nRequires-Dist: b\n\t; (extra == 'x' or\n  extra == 'y')\n",
    "empty": b"",
    "no-value": b"Name:\nVersion\n:\n",
    "nul": b"Name: a\0b\nVersion: 1\0\n",
    "long-line": b"Name: " + b"a" * 5000 + b"\n",
    "brackets": b"Requires-Dist: a[[[,,,]\nRequires-Dist: a[\nRequires-Dist: a;extra==\n",
}
RECORD = {
    "wheel": b"torch/lib/libtorch_cuda.so,sha256=abc,900000000\r\ntorch-2.5.1.dist-info/RECORD,,\r\n",
    "quoted": b"\"with, comma \"\"and quote\"\".so\",,\n\"open",
    "outside": b"../../../../etc/passwd,,\n/etc/shadow,,\n../../bin/x,,\n/env/../x,,\n",
    "odd": b",,\n\n\r\n\"\",,\n.,,\n..,,\n/,,\na\0b.so,,\n",
    "empty": b"",
    "dots": b"./a//b/./../c.so\n../site-packages2/x.so\n",
}
CONDA = {
    "package": json.dumps({"name": "pytorch", "version": "2.1", "depends": ["cudatoolkit >=11", "mkl=1"],
                           "files": ["lib/libtorch_cuda.so", "../out.so"]}).encode(),
    "wrong-kinds": json.dumps({"name": 1, "version": [], "files": {}, "depends": "x"}).encode(),
    "mixed": json.dumps({"name": "a", "version": "1", "files": [1, None, "", "x"], "depends": [">=1"]}).encode(),
    "deep": b"[" * 2000,
    "cut": b"{\"name\": \"a\", \"version\": \"1\", \"files\": [\"a",
    "empty": b"",
}
VERSION = {
    "all": b"1!2.1rc1.post2.dev3+cu118\n>=1!2,<3,!=2.1.*,~=2.0 , ===x",
    "words": b"v2.1-alpha_1-1\n==2.1.preview1.rev2",
    "conda": b"1.1.1w\n=1.1",
    "typed": b"2.1\njax[cuda12, x]>=0.4",
    "many-numbers": b"1.2.3.4.5.6.7.8.9.10\n==1.2.3.4.5.6.7.8",
    "long-number": b"99999999999999999999\n>=18446744073709551616",
    "empty": b"",
    "cut": b"2.1+\n==2.1+",
}

for folder, files in (("metadata", METADATA), ("record", RECORD), ("conda", CONDA), ("package_version", VERSION)):
    (HERE / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (HERE / folder / name).write_bytes(content)
