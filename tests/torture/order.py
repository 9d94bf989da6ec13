#!/usr/bin/env python3
"""order.py BUILD [NAME]...

What promises to survive a power cut is written in an order: torture.so records the calls of each command, and they are compared with
the table below. “A, then B”: A's bytes were synced before A had its name, its folder after that, and only then B was done.
“A, then B, False”: A was done before B, and a power cut may take both.
"""
import os, re, shutil, sys, tempfile

names, sys.argv = sys.argv[2:], sys.argv[:2]
import torture as t

LIBRARY, UNITS = "site/sample/lib.so", "home/.config/systemd/user/"
ENTRY = r"cache/[0-9a-f]/[0-9a-f]/[0-9a-f]{14}"
TUNE = ["tune", "--apply", "--scope", "shell", "--max-size"]


def systemd(place):
    os.makedirs(place.dir + "/bin")
    with open(place.dir + "/bin/systemctl", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n")
    os.chmod(place.dir + "/bin/systemctl", 0o755)
    t.SETTINGS.update(PATH=place.dir + "/bin:" + os.environ["PATH"], XDG_RUNTIME_DIR=place.dir + "/tmp")


def shared(place):
    os.makedirs(place.dir + "/shared")


KEY, EXPORT = ["key", "generate"], ["export", "-o", "@/a.jwpack"]
# name: (the set-up, the command, [(what lasts, before what)]). "" means: at the end. %s is the group in the second, since threads work side
# by side.
ORDERS = {
    "export": ([t.prime, KEY], EXPORT + ["--sign"], [("a.jwpack", "rename a.jwpack.minisig"), ("a.jwpack.minisig", "")]),
    "store": ([], ["prime", t.sample], [(r"state/store/sm_86-[\w.-]+\.jwpack", "")]),
    "key": ([], KEY, [("state/keys/default.pub", "rename state/keys/default.key"), ("state/trusted/default.pub", "rename state/keys/default.key"),
                      ("state/keys/default.key", "")]),
    "trust": ([KEY], ["key", "trust", "@/state/keys/default.pub", "again"], [("state/trusted/again.pub", "")]),
    "tune": ([TUNE + ["2GiB"]], TUNE + ["3GiB"], [("home/.config/jitwarm/shell.conf", "")]),
    "startup": ([systemd, t.install], ["startup", "enable", "@/site"],
                [(UNITS + "jitwarm." + kind, "fork .*") for kind in ("service", "timer", "path")]),
    "folder": ([KEY, shared], ["prime", "--store", "@/shared", t.sample],
               [(r"%s\.minisig", r"rename (shared/.*\.jwpack)"), (r"shared/.*\.jwpack", "")]),
}


def read(place, log):
    """[(call, path, what was its name before)]; paths are below the place's folder"""
    made, numbers = [], []
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            number, call, path = line.rstrip("\n").split(" ", 2)
            path = os.path.relpath(path, place.dir) if path.startswith(place.dir) else path
            if call == "from":
                # Another process may have acted in between.
                at = next(i for i in reversed(range(len(made))) if made[i][0] == "rename" and numbers[i] == number and made[i][2] is None)
                made[at] = (*made[at][:2], path)
            else:
                made.append((call, path, None))
                numbers.append(number)
    return made


def is_lasting(made, at):
    """Whether what was created, renamed or removed by that call outlasts a power cut after all of these calls."""
    call, path, _ = made[at]
    names = {path}
    for one, name, before in reversed(made[:at + 1]):
        if one == "rename" and name in names:
            names.add(before)
    last = [one for one, name, _ in made if name in names and one in ("write", "resize", "create", "fsync")]
    return (call == "unlink" or last[-1:] == ["fsync"]) and ("fsync", os.path.dirname(path) or ".", None) in made[at:]


def wrong(made, what, then, lasts=True):
    until = len(made)
    if then:
        until, match = next(((i, match) for i, (call, path, _) in enumerate(made) if (match := re.fullmatch(then, call + " " + path))), (None, None))
    if until is None:
        return "“%s” is not done" % then
    if then and match.groups():
        what %= re.escape(match[1])
    changed = [i for i, (call, path, _) in enumerate(made[:until])
               if call in ("create", "rename", "unlink") and re.fullmatch(what, path) or re.fullmatch(what, call + " " + path)]
    if not changed:
        return "“%s” is not changed before “%s”" % (what, then or "the end")
    return None if not lasts or is_lasting(made[:until], changed[-1]) else "“%s” need not be on disk before “%s”" % (what, then or "the end")


def main():
    root, bad = tempfile.mkdtemp(prefix="jitwarm-order."), []
    for name in names or ORDERS:
        setup, command, rules = ORDERS[name]
        place, log = t.Place(root + "/" + name), root + "/" + name + ".log"
        os.makedirs(root + "/" + name)
        t.SETTINGS.clear()
        t.prepare(place, t.Case(command, t.always, setup))
        wanted = {"TORTURE": "count", "TORTURE_LOG": log, "TORTURE_CALLS": "create,write,rename,fsync,unlink,resize,fork,mode"}
        status, out, err = place.run(command, dict(wanted, TORTURE_WORKERS="1") if name == "folder" else wanted)
        found = [wrong(read(place, log), *rule) for rule in rules] if status in (0, 1) else [(status, out, err)]
        for one in filter(None, found):
            bad.append("%s: %s" % (name, one))
    print("\n".join(["%d commands, %d wrong orders" % (len(names or ORDERS), len(bad)), *bad]))
    shutil.rmtree(root)
    return 1 if bad else 0


sys.exit(main())
