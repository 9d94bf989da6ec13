"""libjitwarm by ctypes: its structs are made from abi.txt, the table of layouts that the library's build keeps."""
import ctypes
import os
import re
import shutil
import sys
from typing import Any, Dict, List, Optional

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_PLAIN = {
    "unsigned long": ctypes.c_uint64,  # of 64 bits in the table, which is Linux'; size_t and uint64_t
    "long": ctypes.c_int64,
    "unsigned int": ctypes.c_uint32,
    "int": ctypes.c_int32,
    "unsigned short": ctypes.c_uint16,
    "char": ctypes.c_char,
    "bool": ctypes.c_bool,
    "double": ctypes.c_double,
}
CODES: List[str] = []  # "JW_OK", "JW_ERR_USAGE" …; the index is the number
_structs: Dict[str, Any] = {}
_lines: Dict[str, List[str]] = {}


def _type_of(text: str) -> Any:
    array = re.fullmatch(r"(.+)\[(\d+)\]", text)
    if array:
        return _type_of(array[1]) * int(array[2])
    if text.endswith("*"):
        return ctypes.c_void_p
    if text.startswith("enum "):
        return ctypes.c_int32
    return struct(text[7:]) if text.startswith("struct ") else _PLAIN[text]


def struct(name: str) -> Any:
    """The struct of that name, as a ctypes type whose members lie where the table says."""
    if name not in _structs:
        fields, at = [], 0
        for line in _lines[name]:
            place, member = line.split(" ", 1)
            offset = int(place)
            if offset > at:
                fields.append((f"_gap_{at}", ctypes.c_uint8 * (offset - at)))
            if member == "end":
                break
            label, kind = member.split(": ", 1)
            of = _type_of(kind)
            fields.append((label, of))
            at = offset + ctypes.sizeof(of)
        _structs[name] = type(name, (ctypes.Structure,), {"_pack_": 1, "_layout_": "ms", "_fields_": fields})
    return _structs[name]


def _read_table() -> None:
    taking: Optional[List[str]] = None
    with open(os.path.join(_FOLDER, "abi.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("\t"):
                if taking is not None:
                    taking.append(line[1:])
            elif line.startswith("struct "):
                taking = _lines.setdefault(line[7:], [])
            else:
                taking = _lines.setdefault("enum jw_code", []) if line == "enum jw_code" else None
    CODES.extend(line.split()[1] for line in _lines["enum jw_code"])


def program() -> Optional[str]:
    from importlib import metadata

    name = "jitwarm.exe" if os.name == "nt" else "jitwarm"
    try:
        files = metadata.files("jitwarm") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = os.path.abspath(str(file.locate()))
        if file.name == name and os.access(path, os.X_OK):
            return path
    beside = [os.path.dirname(sys.executable), os.path.join(os.path.dirname(_FOLDER), "bin")]
    return shutil.which(name, path=os.pathsep.join(beside)) or shutil.which(name)


def _open() -> Any:
    library = ctypes.CDLL(os.path.join(_FOLDER, "libjitwarm.dll" if os.name == "nt" else "libjitwarm.so"))
    pointer = ctypes.c_void_p
    for name, arguments in {
        "jw_system_open": 3, "jw_find": 3, "jw_check": 3, "jw_prime": 4, "jw_bake": 3,
    }.items():
        getattr(library, name).argtypes = [pointer] * arguments
        getattr(library, name).restype = ctypes.c_int
    for name in ("jw_system_free", "jw_found_free", "jw_check_result_free", "jw_prime_result_free", "jw_bake_result_free"):
        getattr(library, name).argtypes = [pointer]
        getattr(library, name).restype = None
    library.jw_targets_read.argtypes = [pointer, ctypes.c_char_p, pointer, pointer, ctypes.c_size_t, pointer]
    library.jw_version.restype = library.jw_verdict_name.restype = ctypes.c_char_p
    library.jw_target_sm.argtypes = [ctypes.c_char_p, struct("jw_target")]
    library.jw_driver_text.argtypes = [ctypes.c_char_p, pointer]
    return library


_read_table()
library = _open()
