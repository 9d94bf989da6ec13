#!/usr/bin/env python3
"""Writes the corpus of fuzz_recording beside this file."""
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent / "corpus" / "recording"
MODULE = {"file": 0, "form": "load", "target": "sm_86", "key": "00000000000000ff", "key_bytes": 99, "container": 64,
          "offset": 80, "size_bytes": 50, "blake2b_256": "0" * 64, "options": " -lineinfo", "seconds": 0.5,
          "measured": True, "known_before": False}
OTHER = {"form": "nvjitlink", "target": "sm_90a", "key": "fedcba9876543210", "producer": "LLVM", "options": ""}
WHOLE = {"schema": "jitwarm.recording/1", "command": "python3",
         "driver": {"version": "550.163.01", "cuda": "12.4", "stamp": "Apr  8 202512:10:18"},
         "files": [{"path": "torch/lib/a.so", "package": "torch", "version": "1.4", "size_bytes": 12},
                   {"path": "~/b.whl", "member": "c.so"}],
         "modules": [MODULE, MODULE | {"file": 1, "form": "link"}],
         "not_in_files": [OTHER, {"form": "opencl", "key": "0" * 16}, {"form": "other", "key": "1" * 16}]}
CASES = {
    "whole": WHOLE,
    "empty": {"schema": "jitwarm.recording/1"},
    "other-version": {"schema": "jitwarm.recording/2"},
    "no-recording": {"schema": "jitwarm.prime/1"},
    "file-behind-the-last": WHOLE | {"modules": [MODULE | {"file": 2}]},
    "file-below-zero": WHOLE | {"modules": [MODULE | {"file": -1}]},
    "file-huge": WHOLE | {"modules": [MODULE | {"file": 1e300}]},
    "key-short": WHOLE | {"modules": [MODULE | {"key": "ff"}]},
    "target-unknown": WHOLE | {"modules": [MODULE | {"target": "gfx90a"}]},
    "digest-short": WHOLE | {"modules": [MODULE | {"blake2b_256": "00"}]},
    "numbers-out-of-range": WHOLE | {"modules": [MODULE | {"size_bytes": 1e300, "seconds": -1e300, "offset": -1}]},
    "lists-are-objects": WHOLE | {"files": {"a": {"path": "b"}}, "modules": {"a": MODULE}},
    "wrong-types": {"schema": "jitwarm.recording/1", "command": 1, "driver": [], "files": 2, "modules": "", "not_in_files": True},
    "options-long": WHOLE | {"modules": [MODULE | {"options": "x" * 5000}]},
    "stamp-wrong": WHOLE | {"driver": {"stamp": "Apr 8 2025 12:10:18"}},
}

HERE.mkdir(parents=True, exist_ok=True)
for name, case in CASES.items():
    (HERE / name).write_text(json.dumps(case))
(HERE / "cut").write_text(json.dumps(WHOLE)[:-30])
(HERE / "nul-in-a-name").write_text(json.dumps(WHOLE | {"command": "a\0b"}))
(HERE / "no-utf8").write_bytes(json.dumps(WHOLE | {"modules": [MODULE | {"options": "x" * 2000}]}).encode().replace(b"x", b"\xff"))
(HERE / "seconds-huge").write_text(json.dumps(WHOLE | {"modules": [MODULE | {"seconds": 1e300}]}))
