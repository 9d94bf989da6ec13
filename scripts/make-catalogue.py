#!/usr/bin/env python3
"""make-catalogue.py [--check | --current | --formats FILE | --missing [FOLDER...]]   brings po/*.po up to date with the sources

--check    writes nothing; ends with 1 where a message has no translation, a translation breaks its format, a command lacks its quotes, an entry is fuzzy or there twice, or more than one translation in ten is of a message that the sources no longer have
--current  the same, and where a catalogue is not as this script writes it
--formats FILE  only what is wrong in that catalogue itself
--missing  prints what po/ko.po lacks (of sources below these folders), and how many

Each format is translated where a text is made with it (src/cli/language.h), whatever function does so. So they need no mark in the
sources: each literal that reads as prose is a message, unless where it stands says otherwise (the tables below)."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PO = ROOT / "po"
# Files that print documents for programs, scripts and manual pages
EXCLUDED_FILES = re.compile(r"src/cli/document\.|src/cli/constraints_file\.|src/which/constraint_row\.|cmd_worker|cmd_completion|src/driver/(child|collect|environment|protocol|task|task_nvrtc|worker)\.")
EXCLUDED_CALLS = re.compile(r"^(CLI_SETTING|str\w+|mem(cmp|mem)|text_(starts|ends|same|equal_fold)|os_env\w*|options_\w+|os_run|fopen|cJSON_\w+|"
                            r"json_\w+|assert|static_assert|_Static_assert|has_argument|suggest_\w+)$")
EXCLUDED_FIELDS = {"usage", "examples", "name", "alias", "value", "choices", "words", "path", "key", "variable", "schema"}
SHOWN_FIELDS = {"summary", "description", "help", "text", "set", "keep", "no_operands", "title"}
SHOWN_CALLS = re.compile(r"^(next_step\w*|output_(line|line_command|note|warning|error|count)|warn_of_setting|EVIDENCE|table_cell|TEXT_COUNT|text_count|error_set|error_prefix|error_fill\w*|language_text|progress_start|text_format|text_append)$")
COUNTS = {"TEXT_COUNT", "text_count", "output_count"}
# Formats that base/text.c builds at run time
UNITS = ["Do", "%.1f s", "%u s", "%u min %u s", "%s ms", "%s s", "%s min", "%s h", "%s to %s", "about %s"]
# Formats of conversions alone, and words of a list
PIECES = {"src/cli/verdict_table.c": ["compile", "%zu of %s", " (%s of PTX)"], "src/cli/commands/cmd_scan.c": ["%s (%s, %llu piece of code)", "%s (%s, %llu pieces of code)", "%s (%s, %llu piece of code, some damaged)",
                                        "%s (%s, %llu pieces of code, some damaged)"],
          "src/cli/commands/cmd_which.c": ["fail: %s", "fails: %s", "%s on %s, %s, %s%s"], "src/cli/commands/cmd_cache.c": ["%s: empty", "built “%s”"], "src/cli/progress.c": ["%s left"], "src/setup/setting_sources.c": ["process"],
          "src/cli/cli.c": ["see “jitwarm %s%s--help”"],
          "src/code/code_file.c": ["a cubin", "a wheel"], "src/find/places.c": ["folder", "program"],
          "src/cli/commands/cmd_doctor.c": ["Driver  %s", "GPU     %s (%s)", "Probe   %s", "Process %d (%s): %s%s%s"],
          "src/cli/commands/cmd_key.c": ["no"], "src/cli/commands/cmd_run.c": ["  %s of %s"], "src/cli/commands/cmd_tune.c": ["unset %s"],
          "src/cli/commands/cmd_watch.c": ["; loaded: "], "src/cli/commands/cmd_prime.c": ["%s%s%s at 0x%llx (%s): %s", "%s left: %s.", "Predicted: "], "src/cli/pack_report.c": ["accepted", "refused"],
          "src/driver/installed_compilers.c": ["%s; so"],
          "src/pack/import_check.c": ["%s: entry %016llx: %s", "%s: entry %016llx"], "src/doctor/findings.c": [", and %s"],
          "src/plan/build.c": ["%s and %s"],
          "src/cli/commands/cmd_lint.c": ["over %s", "over", "within", "error", "notice", "warning"],
          "src/cli/commands/cmd_status.c": [" at "], "src/driver/worker.c": ["an error without a name"],
          "src/driver/cuda_errors.c": ["%s%s is %s"], "src/setup/apply.c": ["restored", "left"]}
# The C library's texts for calls that fail (src/os/posix)
ERRORS = ["Operation not permitted", "No such file or directory", "Input/output error", "Permission denied", "Device or resource busy", "File exists",
          "Invalid cross-device link", "No such device", "Not a directory", "Is a directory", "Invalid argument", "Too many open files",
          "Too many open files in system", "Text file busy", "File too large", "No space left on device", "Read-only file system", "Broken pipe",
          "File name too long", "Directory not empty", "Too many levels of symbolic links", "Disk quota exceeded", "Stale file handle",
          "Cannot allocate memory", "Resource temporarily unavailable", "Operation not supported", "Bad file descriptor", "No locks available",
          "Connection refused", "Connection timed out", "no such file or directory", "permission denied", "exec format error"]
# Texts that programs read, and names that are the same in every language
KEPT = re.compile(r"error code: |(sudo )?(chown|chmod|rm) [^“”]*%s|(chown root|chmod go-w) -- %s|rm -r --%s| setsid -w setpriv .*|mingw-w64 gcc |jitwarm: out of memory.*|```text|if status is-login|reg query .*|Generated by .*|jitwarm keeps this name while it works|(un)?trusted comment: |%sminisign .*|%ssignature from .*|"
                  r"Volatile Environment|(User )?Shell Folders|JIT cache \(jitwarm startup\)|Warm the NVIDIA driver's JIT cache \(jitwarm startup\)|"
                  r" *jitwarm( [a-z]+){1,2}( --[a-z-]+| DIR| FILE| sh| rtx4090)*( ?%\w+| 0x%llx| \(all users\))?|Accept: .*|%s.{1,2}jitwarm.{0,7}|"
                  r"(cuda|opencl|other|load|link|nvjitlink|exec|sudo|env|(lib)?[Tt]riton|libnvrtc\.|libpjrt|libnvidia-opencl|libnvoptix|nvptxjitcompiler|"
                  r"bash|d?ash|m?ksh|zsh|busybox|fish|native|GPU|from|insecure-host|default|carrying)|https://.*|up to %s %s|"
                  r".*NVIDIA GPU Computing Toolkit.*|Cuda compilation tools, release ")
# Parts of English sentences, whose conversions a translation leaves out (%3$.0s)
GRAMMAR = {"is", "are", "was", "were", "them", "the", "would be"}
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[A-Za-z_]\w*|[0-9][\w.]*|\.\.\.|\S', re.S)
CONVERSION = re.compile(r"%(?:(\d+)\$)?([-+ #0']*)(\d+|\*)?(\.(?:\d+|\*))?(hh|h|ll|l|z|j|t)?([diuxXcsfgep%])")
Message = collections.namedtuple("Message", "id plural")


def tokens(source):
    # Tables of documents for programs
    source = re.sub(r"^(static )?const struct json_(field|table) .*?;$", "", source, flags=re.M | re.S)
    source = re.sub(r"^[ \t]*#[ \t]*(?!define)(?:[^\n\\]|\\.)*", "", source, flags=re.M | re.S)
    source = source.replace("\\\n", " \n")
    return [match.group() for match in TOKEN.finditer(source) if not match.group().startswith(("/*", "//"))]


def literals(source):
    """(text, names of the calls around it from outside in, number of the argument, field, the tokens before and after)"""
    calls, found, at, every = [], [], 0, tokens(source)
    while at < len(every):
        token = every[at]
        if token in ("(", "[", "{"):
            before = every[at - 1] if at else ""
            calls.append([before if token == "(" and re.match(r"[A-Za-z_]\w*$", before) else "", 0])
        elif token in (")", "]", "}"):
            if calls:
                calls.pop()
        elif token == "," and calls:
            calls[-1][1] += 1
        elif token[0] == '"':
            text, begin = "", at
            while at < len(every) and (every[at][0] == '"' or every[at].startswith("PRI")):
                text += every[at][1:-1] if every[at][0] == '"' else {"u": "llu", "x": "llx", "d": "lld"}[every[at][3]]
                at += 1
            field = every[begin - 2] if begin >= 3 and every[begin - 1] == "=" and every[begin - 3] == "." else ""
            if not field and begin >= 1:
                back = begin
                while back > begin - 12 and back > 3 and every[back] not in (";", "{", ","):
                    if every[back] == "=" and every[back - 2] == ".":
                        field = every[back - 1]
                    back -= 1
            found.append((text, [call[0] for call in calls], calls[-1][1] if calls else 0, field, begin, every))
            at -= 1
        at += 1
    return found


def prose(text, shown):
    plain = CONVERSION.sub(" ", text).replace("\\n", "\n")
    letters = len(re.findall(r"[A-Za-z]", plain))
    words = re.findall(r"(?<![\w./=$<@:-])[A-Za-z][a-z']+(?![\w/=(<@])", plain)
    if KEPT.fullmatch(text) or text in GRAMMAR or plain.count("\n") > 1 and not shown and not re.match(r"[A-Z][^[<]*\.$", plain):
        return False
    if re.search(r"\\x[1e]|^[<#\s]*[<#!>{]|\$\{|@[NP]|\\t|\[char\]|^\\*\w*\\\\|^[a-z_/.%-]+\.(so|dll|json)", text):
        return False
    if re.search("^--|=%s|%s=", text) and not shown and len(words) < 3:
        return False
    label = shown and bool(re.match(r" *[A-Z][A-Za-z]+:?  ?", text))
    if len(re.findall(r"%[^%]*?s", text)) and letters < 6 and len(words) < 2 and not label:
        return False
    return letters >= 3 - label and (len(words) >= 2 or (shown and len(words) >= 1) or label)


def extract():
    """{message: places}"""
    messages = collections.OrderedDict()
    names = {name for file in (ROOT / "src/cli").rglob("*.[ch]") for name in re.findall(r'CLI_[A-Z]+\(\s*"([\w-]+)"', file.read_text())} - {"json", "help"}
    for file in sorted((ROOT / "src").rglob("*.[ch]")):
        name = str(file.relative_to(ROOT))
        excluded = EXCLUDED_FILES.search(name)
        every = literals(file.read_text())
        for at, (text, calls, _, field, begin, source) in enumerate(every):
            call = calls[-1] if calls else ""
            if excluded and not SHOWN_CALLS.match(call) and (field not in SHOWN_FIELDS or "/document." in name):
                continue
            if call in COUNTS and "%" not in text and not text.startswith(" "):
                if source[begin + 1:begin + 3][:1] == [","] and at + 1 < len(every) and every[at + 1][4] == begin + 2:
                    add = Message("%llu " + text, "%llu " + every[at + 1][0])
                    messages.setdefault(add, []).append(name)
                continue
            if field in EXCLUDED_FIELDS or any(EXCLUDED_CALLS.match(one) for one in calls if one):
                continue
            if call.startswith("CLI_") and source[begin - 1] == "(" or text in names and not SHOWN_CALLS.match(call):
                continue
            shown = field in SHOWN_FIELDS or bool(SHOWN_CALLS.match(call)) or field == "titles"
            if call == "language_text":
                messages.setdefault(Message(text, None), []).append(name)
                continue
            # Lines that are collected in a buffer are printed one by one.
            text = text[:-2] if text.endswith("\\n") and text.count("\\n") == 1 else text
            if prose(text, shown):
                messages.setdefault(Message(text, None), []).append(name)
        for titles in re.findall(r"\.titles = \{([^}]*)\}", file.read_text()):
            for title in re.findall(r'"([^"]+)"', titles):
                messages.setdefault(Message(title, None), []).append(name)
    for text in UNITS:
        messages.setdefault(Message(text, None), []).append("src/base/text.c")
    for line in (ROOT / "data/errors.tsv").read_text().splitlines()[1:]:
        number, name, _, _, *texts = line.replace('"', '\\"').split("\t")
        for text in (*([] if int(number) or " " not in name else [name]), *filter(None, texts)):
            messages.setdefault(Message(text, None), []).append("data/errors.tsv")
    for name, texts in PIECES.items():
        for text in texts:
            messages.setdefault(Message(text, None), []).append(name)
    for text in ERRORS:
        messages.setdefault(Message(text, None), []).append("src/os/posix/posix.c")
    seen = {}
    for message in list(messages):
        if message.id in seen and seen[message.id] is None or message.id in seen and not message.plural:
            del messages[message]
        else:
            seen[message.id] = message.plural
    return messages


def quoted(text):
    """As msgcat writes it: one line where it is short, else pieces behind an empty one."""
    if len(text) < 100 and "\\n" not in text:
        return f'"{text}"'
    pieces = re.findall(r"(?:[^\\\s]|\\[^n]|(?<=\S) |^ +)*?(?:\\n|(?:[^\\ ]|\\[^n])+ *|$)|.", text)
    lines, line = [], ""
    for piece in pieces:
        if line and len(line) + len(piece) > 100:
            lines.append(line)
            line = ""
        line += piece
        if piece.endswith("\\n"):
            lines.append(line)
            line = ""
    lines += [line] if line else []
    return '""\n' + "\n".join(f'"{line}"' for line in lines)


def read_po(path):
    """{msgid: msgstr} in the order of the file; the head is under ''."""
    texts, current, entry = collections.OrderedDict(), None, {}
    for line in path.read_text().splitlines() + [""]:
        match = re.match(r'(msgid|msgid_plural|msgstr(?:\[0\])?) "(.*)"$', line)
        if match:
            if match.group(1) == "msgid":
                if entry:
                    if entry["msgid"] in texts:
                        sys.exit(f"{path}: “{entry['msgid']}” is there twice")
                    texts[entry["msgid"]] = entry.get("msgstr", "")
                entry = {}
            current = match.group(1).replace("[0]", "")
            entry[current] = match.group(2)
        elif line.startswith('"') and current:
            entry[current] += line[1:-1]
        elif line.startswith("#,") and "fuzzy" in line:
            sys.exit(f"{path}: a fuzzy entry")
    if entry:
        texts[entry["msgid"]] = entry.get("msgstr", "")
    return texts


def render(messages, head, texts):
    parts = [head.rstrip("\n")]
    for message, places in messages.items():
        lines = ["#: " + " ".join(sorted(set(places)))]
        if "%" in message.id and is_format(message.id):
            lines.append("#, c-format")
        lines.append(f"msgid {quoted(message.id)}")
        if message.plural:
            lines.append(f"msgid_plural {quoted(message.plural)}")
        lines.append(f"{'msgstr[0]' if message.plural else 'msgstr'} {quoted(texts.get(message.id, ''))}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def head_of(path):
    return path.read_text().split("\n\n", 1)[0]


def kinds(text):
    """The conversions of a format: by position, each with what it takes. Width and precision do not matter."""
    found, at = {}, 0
    for match in CONVERSION.finditer(text):
        if match.group(6) == "%":
            continue
        at += 1
        found[int(match.group(1) or at)] = match.group(6)
    return found


def is_format(text):
    """Not so: a text with a name such as %LOCALAPPDATA%, which is printed as it is."""
    return "%" not in CONVERSION.sub("", text)


# Commands that are copied. The lines of a terminal break outside quotes alone (src/cli/terminal.c), so a command stands in quotes; one that
# is a message of its own is printed on one line.
COMMANDS = "|".join(sorted(set(re.findall(r"\tX\(([a-z]+)", (ROOT / "src/cli/cli.c").read_text()))))
COMMAND = re.compile(rf"(?<![\w/-])(?:jitwarm (?:{COMMANDS})\b|(?:sudo|env|kill|taskkill|chown|chmod|grep) -|(?:kill|taskkill|sudo) %|"
                     rf"sudo (?:chown|chmod|systemctl|loginctl|jitwarm|-)|docker run\b|pip3? install\b|(?:systemctl|loginctl) [a-z%-])")


def broken(text):
    """The commands that a narrow terminal would break"""
    return COMMAND.findall(re.sub("“[^”]*”", "", text).lstrip(": ")[1:])


def problems(message, text):
    """A translation may move arguments and leave them out, but not change what they are."""
    if not text:
        return []
    if not is_format(message.id):
        return [] if text.count("%") == message.id.count("%") and text.isprintable() else [f"“{message.id}”: other signs % in “{text}”"]
    wanted = kinds(message.plural or message.id)
    given = kinds(text)
    mixed = {bool(match.group(1)) for match in CONVERSION.finditer(text) if match.group(6) != "%"}
    wrong = [f"%{at}${kind}" for at, kind in given.items() if wanted.get(at) != kind]
    left = re.sub(r"%%", "", CONVERSION.sub("", text))
    if wrong or len(mixed) > 1 or "%" in left or (not any(mixed) and len(given) != len(wanted)):
        return [f"“{message.id}” has another format than “{text}”"]
    if text.strip(" ") == "" or ("\\n" in message.id[-2:]) != ("\\n" in text[-2:]):
        return [f"“{message.id}”: the end of “{text}”"]
    if broken(text):
        return [f"“{message.id}”: in “{text}” a command lacks its quotes: {broken(text)}"]
    if not text.isprintable():
        return [f"“{message.id}”: a control character"]
    if "십시오" in text: # po/glossary.ko.md
        return [f"“{message.id}”: -세요, not -십시오"]
    return []


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--formats"]:
        found = [problem for text, said in read_po(pathlib.Path(arguments[1])).items() if text
                 for problem in (problems(Message(text, None), said) if said else [f"no translation: {text}"])]
        print("\n".join(found))
        return int(bool(found))
    messages = extract()
    if arguments and arguments[0] not in ("--check", "--current", "--missing"):
        sys.exit(__doc__)
    failures = 0
    for message in messages:
        if broken(message.id):
            print(f"{messages[message][0]}: “{message.id}”: a command lacks its quotes: {broken(message.id)}")
            failures += 1
    outputs = {}
    for path in sorted(PO.glob("*.po")):
        texts = read_po(path)
        outputs[path] = render(messages, head_of(path), texts)
        for message in messages:
            for problem in problems(message, texts.get(message.id, "")):
                print(f"{path.name}: {problem}")
                failures += 1
        stale = [text for text in texts if text and texts[text] and text not in {message.id for message in messages}]
        if stale:
            print(f"{path.name}: {len(stale)} translations of messages that are gone: run scripts/make-catalogue.py")
            failures += 10 * len(stale) > len(texts) and not arguments == []
        missing = [message for message in messages if not texts.get(message.id)]
        if arguments[:1] in (["--check"], ["--current"]):
            for message in missing:
                print(f"{path.name}: no translation: {message.id}")
            failures += len(missing)
        if arguments[:1] == ["--missing"]:
            for message in missing:
                if not arguments[1:] or any(place.startswith(tuple(arguments[1:])) for place in messages[message]):
                    print(f"{messages[message][0]}\t{message.id}")
        print(f"{path.name}: {len(messages) - len(missing)} of {len(messages)} messages", file=sys.stderr)
    for path, text in outputs.items():
        if arguments[:1] == ["--current"]:
            if path.read_text() != text:
                print(f"{path.name} is not current: run scripts/make-catalogue.py")
                failures += 1
        elif not arguments:
            path.write_text(text)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
