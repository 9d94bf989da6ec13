#!/usr/bin/env python3
"""Writes the corpus of fuzz_assign beside this file."""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent / "corpus" / "assign"
BLOCK = b"# >>> jitwarm tune (made 2) >>>\nexport CUDA_CACHE_MAXSIZE='1'\n# <<< jitwarm tune <<<\n"
CASES = {
    "profile": b"# note\nexport CUDA_CACHE_MAXSIZE=1G PATH=$PATH; CUDA_CACHE_PATH='/a b'\nunset CUDA_CACHE_DISABLE\n",
    "fish": b"set -gx CUDA_CACHE_PATH $HOME/c\nset -e CUDA_FORCE_PTX_JIT\n",
    "csh": b"setenv CUDA_CACHE_MAXSIZE 5\n",
    "open-quote": b"export CUDA_CACHE_PATH=\"/a\\\nb",
    "last-backslash": b"export CUDA_CACHE_PATH=/a\\",
    "list": b"CUDA_CACHE_MAXSIZE=\"12\"\r\n CUDA_CACHE_DIR='x'\n=\nexport =\n",
    "unit": b"[Service]\nEnvironment=\"CUDA_CACHE_PATH=/%%a\" CUDA_CACHE_MAXSIZE=3 \\\n CUDA_CACHE_DISABLE=1\nEnvironment=",
    "nuls": b"A=1\0CUDA_CACHE_MAXSIZE=4\0\0=\0",
    "block": b"a" + BLOCK,
    "block-twice": BLOCK + b"b\n" + BLOCK,
    "block-joined": b"a\n" + BLOCK.replace(b"made 2", b"joined"),
    "block-open": BLOCK[:60],
    "block-flags": BLOCK.replace(b"made 2", b"made 99"),
    "record": b'{"schema":"jitwarm.tuned/1","files":["/a","b",1],"variables":[{"machine":true,"name":"N","set_to":"1","was":null},{"name":1}]}',
    "empty": b"",
}

HERE.mkdir(parents=True, exist_ok=True)
for name, case in CASES.items():
    (HERE / name).write_bytes(case)
