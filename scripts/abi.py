#!/usr/bin/env python3
"""abi.py LIBRARY [--record | --against FILE]   what programs that were linked with libjitwarm.so depend on

Reads functions, structs and enumerations of LIBRARY (with debug information) by abidw, and compares them with data/abi.txt.
LIBRARY may be such a file, too.
Where they differ it says what differs and which version number to raise. --record writes the file, once that number is raised;
before the first release any change may be recorded.
Exit status: 0 the same or recorded, 1 different, 77 no abidw here.
"""
import glob, os, re, shutil, subprocess, sys, tempfile
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORD = os.path.join(ROOT, "data", "abi.txt")


def numbers():
    """The version and the number in the library's file name: ((0, 1, 0), 0)"""
    header = open(os.path.join(ROOT, "include/jitwarm/version.h")).read()
    version = tuple(int(re.search(rf"#define JW_VERSION_{part} +(\d+)", header)[1]) for part in ("MAJOR", "MINOR", "PATCH"))
    return version, int(re.search(r"set\(JITWARM_SOVERSION (\d+)\)", open(os.path.join(ROOT, "CMakeLists.txt")).read())[1])


class Library:
    def __init__(self, path):
        with tempfile.NamedTemporaryFile(suffix=".xml") as file:
            subprocess.run(["abidw", "--no-show-locs", "--out-file", file.name, path], check=True)
            root = ElementTree.parse(file.name).getroot()
        self.types, self.functions, self.wanted = {}, {}, []
        headers = glob.glob(os.path.join(ROOT, "include/jitwarm/*.h"))
        self.public = {name for header in headers for name in re.findall(r"^(?:struct|enum) (jw_\w+) \{", open(header).read(), re.M)}
        visible = {symbol.get("name") for symbol in root.find("elf-function-symbols")}
        for node in root.iter():
            if "id" in node.attrib and node.tag != "subrange" and \
                    not (node.get("id") in self.types and node.get("is-declaration-only")):
                self.types[node.get("id")] = node
            if node.tag == "function-decl" and node.get("name") in visible:
                self.functions[node.get("name")] = node
        if visible - set(self.functions):
            sys.exit("abi.py: no debug information on " + ", ".join(sorted(visible - set(self.functions))))

    def name(self, type_id):
        """As C writes it, as far as that can be read from left to right; notes what has to be described too"""
        node = self.types.get(type_id)
        if node is None:
            return "void"
        tag = node.tag
        if tag == "typedef-decl":  # abidw takes either of two names of one type
            return self.name(node.get("type-id"))
        if tag == "pointer-type-def":
            return self.name(node.get("type-id")) + " *"
        if tag == "qualified-type-def":
            return self.name(node.get("type-id")) + "".join(" " + word for word in ("const", "volatile") if node.get(word))
        if tag == "array-type-def":
            return self.name(node.get("type-id")) + "".join("[%s]" % range_.get("length") for range_ in node.iter("subrange"))
        if tag == "function-type":
            return self.signature(node)
        if tag in ("class-decl", "union-decl", "enum-decl"):
            kind = {"class-decl": "struct", "union-decl": "union", "enum-decl": "enum"}[tag]
            if node.get("name") in self.public:
                self.wanted.append(type_id)
            return f"{kind} {node.get('name')}"
        # "long int", "long unsigned int", "_Bool": compilers differ
        words = sorted(node.get("name").replace("_Bool", "bool").split(), key=lambda word: word not in ("unsigned", "signed"))
        return " ".join(word for word in words if word != "int" or not set(words) & {"long", "short"})

    def signature(self, node):
        parameters = [self.name(p.get("type-id")) if not p.get("is-variadic") else "..." for p in node.findall("parameter")]
        return "%s (%s)" % (self.name(node.find("return").get("type-id")), ", ".join(parameters) or "void")

    def describe(self):
        """{("function", name) | ("struct", name, size) | ("enum", name): [lines]}"""
        described = {("function", name): [self.signature(node)] for name, node in sorted(self.functions.items())}
        while self.wanted:
            node = self.types[self.wanted.pop()]
            enum = node.tag == "enum-decl"
            key = ("enum" if enum else "struct", node.get("name"))
            if key in described:
                continue
            described[key] = []
            if enum:
                described[key] = [f"{e.get('value')} {e.get('name')}" for e in node.findall("enumerator")]
            else:
                for member in node.findall("data-member"):
                    variable = member.find("var-decl")
                    described[key].append("%d %s: %s" % (int(member.get("layout-offset-in-bits")) // 8, variable.get("name"),
                                                         self.name(variable.get("type-id"))))
                described[key].append("%d end" % (int(node.get("size-in-bits")) // 8))
        return described


def text_of(described):
    version, soversion = numbers()
    lines = ["# What programs depend on, as scripts/abi.py reads it (docs/library.md)",
             "version %d.%d.%d %d" % (*version, soversion)]
    for kind, name in sorted(described):
        lines += [f"{kind} {name}"] + ["\t" + line for line in described[kind, name]]
    return "\n".join(lines) + "\n"


def read(path):
    described, recorded = {}, None
    for line in open(path):
        line = line.rstrip("\n")
        if line.startswith("\t"):
            described[key].append(line[1:])
        elif line.startswith("version "):
            recorded = (tuple(int(n) for n in line.split()[1].split(".")), int(line.split()[2]))
        elif not line.startswith("#"):
            key = tuple(line.split(" ", 1))
            described[key] = []
    return described, recorded


def may_grow(described, name):
    """Whether programs do not know how large it is: it begins with its size, or only the library makes it, one by one"""
    if described["struct", name][0] == "0 size: unsigned long":
        return True
    made = any(f"struct {name} * *" in lines[0] for key, lines in described.items() if key[0] == "function")
    held = re.compile(rf": struct {name}( const)?( \*|\[|$)")
    return made and not any(held.search(line) for key, lines in described.items() if key[0] == "struct" for line in lines)


def compare(old, new):
    """Lines on what breaks programs, and on what is added"""
    breaks, adds = [], []
    for key, was in old.items():
        what, now = " ".join(key), new.get(key)
        if now is None:
            breaks.append(f"{what} is gone")
        elif now == was:
            continue
        elif key[0] == "function":
            breaks.append(f"{what}: was {was[0]}, is {now[0]}")
        elif key[0] == "enum":
            gone = [line for line in was if line not in now]
            (breaks if gone else adds).append(f"{what}: {', '.join(gone)} changed" if gone else f"{what} has more constants")
        else:
            end = int(was[-1].split()[0])
            grown = now[:len(was) - 1] == was[:-1] and all(int(line.split()[0]) >= end for line in now[len(was) - 1:])
            if grown and may_grow(old, key[1]):
                adds.append(f"{what} has more members at its end")
            else:
                differ = [line for line in was if line not in now]
                breaks.append(f"{what}: " + ("grows, and programs know its size" if grown else "changed: " + "; ".join(differ)))
    adds += [f"{' '.join(key)} is new" for key in new if key not in old]
    return breaks, adds


def main():
    arguments = sys.argv[1:]
    if not arguments or "--help" in arguments:
        print(__doc__.strip())
        return 0 if arguments else 64
    described = arguments[0].endswith(".txt")
    if not described and not shutil.which("abidw"):
        print("skipped: abidw is missing (Debian: abigail-tools)")
        return 77
    record = arguments[2] if arguments[1:2] == ["--against"] else RECORD
    new = read(arguments[0])[0] if described else Library(arguments[0]).describe()
    old, (version, soversion) = read(record) if os.path.exists(record) else ({}, ((0, 0, 0), -1))
    breaks, adds = compare(old, new)
    for line in breaks + adds:
        print(line)
    now_version, now_soversion = numbers()
    unreleased = re.search(r"^## %d\.%d\.%d \(unreleased\)" % now_version, open(os.path.join(ROOT, "CHANGELOG.md")).read(), re.M)
    raised = now_soversion > soversion if breaks else now_version[:2] > version[:2]
    if "--record" in arguments:
        if (breaks or adds) and not raised and not (unreleased and version in (now_version, (0, 0, 0))):
            print("Not recorded: raise the version first.")
        else:
            open(record, "w").write(text_of(new))
            return 0
    if breaks:
        print("Programs that were linked with %d.%d.%d break: " % version +
              ("" if raised else "raise JITWARM_SOVERSION (CMakeLists.txt) and JW_VERSION_MAJOR (version.h), or JW_VERSION_MINOR "
               "while MAJOR is 0; ") + "then scripts/abi.py LIBRARY --record")
    elif adds:
        print("More than %d.%d.%d has: " % version + ("" if raised else "raise JW_VERSION_MINOR (version.h); ") +
              "then scripts/abi.py LIBRARY --record")
    if unreleased and (breaks or adds):
        print("(%d.%d.%d is not released: recording is enough.)" % now_version)
    return 1 if breaks or adds else 0


if __name__ == "__main__":
    sys.exit(main())
