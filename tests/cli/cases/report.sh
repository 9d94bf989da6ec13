# report: a page that holds all that it shows, whatever the names and files are that it shows
run 64 report -o -
with_simdriver sm_75,sm_86
export JITWARM_STORE=1
run 3 report "$work/none"
err_one_line
[ ! -e jitwarm-report.html ] || fail "a page of what is not there"
# A file that cannot be written is said before the work, which would end with another word: the named file is not there either.
mkdir folder
run 64 report -o "$work/folder" "$work/none"
err_has "Is a directory"
run 3 report -o "$work/no/such/report.html" "$work/none"
err_has "$work/no/such: "
err_lacks "$work/none"
echo old >kept.html
run 3 report -o "$work/kept.html" "$work/none"
[ "$(cat kept.html)" = old ] || fail "the page of before is gone"
cat >page.py <<'PYTHON'
"""page.py FILE EXPRESSION   what the page says: `text`, `tables` (rows of cells); and that nothing in it asks for anything"""
import html.parser, re, sys

class Page(html.parser.HTMLParser):
    void = {"meta", "br"}
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.tables, self.policy, self.style = [], "", [], "", ""
    def handle_starttag(self, tag, attrs):
        assert tag in "html head meta title style body main h1 h2 p b div table tr th td".split(), tag
        for name, value in attrs:
            assert name in ("lang", "charset", "id", "http-equiv", "content", "name", "class"), name
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in self.void:
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag
    def handle_data(self, data):
        if "style" in self.open:
            self.style += data
        else:
            self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data
    def handle_comment(self, data):
        raise AssertionError(data)

page = Page()
source = open(sys.argv[1], encoding="utf-8").read()
assert source.startswith("<!DOCTYPE html>\n")
page.feed(source)
page.close()
assert not page.open, page.open
assert page.policy.startswith("default-src 'none'; style-src 'unsafe-inline'"), page.policy
assert not re.search(r"url\(|@import|expression", page.style)
assert "prefers-color-scheme: dark" in page.style and "@media print" in page.style and "max-width" in page.style
assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", source)
text, tables = page.text, page.tables
sys.exit(0 if eval(sys.argv[2]) else 1)
PYTHON
page() { python3 page.py "$1" "$2" || fail "$1: not so: $2"; }

# Nothing yet
run 0 report -o "$work/first.html" "$sample"
out_has "first.html: written"
page first.html '"None is remembered" in text and "0 entries" in text'
page first.html 'tables[0][0][1:] == ["sm_75 (RTX 20, GTX 16, T4)", "sm_86 (RTX 30)"] or len(tables[0][0]) == 3'
page first.html '"8 modules to compile" in tables[0][1][1]'

# What `prime` has done
run 0 prime -j 2 "$sample"
run 0 report --json -o "$work/second.html" "$sample"
json 'd["schema"] == "jitwarm.report/1" and posix(d["file"]).endswith("second.html") and d["bytes"] == '"$(stat -c %s second.html)"
page second.html '"warm, 8 modules" in tables[0][1][1] and "16 entries" in text'
page second.html 'len(tables[1]) == 2 and tables[1][1][1:4] == ["16", "0", "0"] and "1 run saved" in text'
# What comes from the store is a run as well; a dry one, and one for another cache, are not.
rm -r "$work/cache"
run 1 prime --dry-run "$sample"
run 0 prime --cache "$work/other" --no-store "$sample"
run 0 prime "$sample"
run 0 report -o "$work/third.html" "$sample"
page third.html 'len(tables[1]) == 3 and tables[1][1][1:4] == ["0", "16", "0"]'
# Other GPUs; another cache
run 0 report -o "$work/other.html" --target sm_80,sm_90 --driver 550.163.01 --cache "$work/other" "$sample"
page other.html 'len(tables[0][0]) == 3 and "sm_80" in tables[0][0][1] and "to compile" in tables[0][1][1]'
# As the file's name is a link, what it leads to is replaced.
if ! is_wine; then
	echo old >"$work/target.html"
	ln -s target.html "$work/link.html"
	run 0 report -o "$work/link.html" "$sample"
	[[ -L link.html ]] || fail "the link was replaced"
	page target.html 'len(tables) == 2'
fi

# Hostile names: of a package, a file, a run
evil='<script>alert(1)</script>"&'\'
is_wine && evil='&lt;img src=x&gt;'
environment "$work/env" 1.0
site=$(site_of "$work/env")
printf 'Metadata-Version: 2.1\nName: %s\nVersion: <b>1\n' "$evil" >"$site/frame-1.0.dist-info/METADATA"
rm -r "$work/cache"
run 0 report -o "$work/evil.html" --environment "$work/env"
page evil.html 'tables[0][1][0].split()[0] in ("frame", "'"${evil//\"/\\\"}"'".split()[0])'
state=$JITWARM_STATE
# shellcheck disable=SC2016
python3 - "$state" "$evil" <<'PYTHON'
import json, sys
state, evil = sys.argv[1:]
evil += "\u202e\x1b[31m\u0085" + "x" * 5000
with open(state + "/runs-primed.jsonl", "a") as log:
    for run in ({"schema": "jitwarm.run/1", "time_s": 9e15, "seconds": 1e300, "saved_seconds": -5, "compiled": evil, "problem": evil},
                {"schema": "jitwarm.run/1", "time_s": evil, "seconds": evil, "saved_seconds": 1e308, "failed": -1},
                {"schema": evil}, [], evil, None):
        log.write(json.dumps(run) + "\n")
    log.write("{\n[[[[\n\x00\n")
PYTHON
run 0 report -o "$work/hostile.html" "$sample"
page hostile.html 'len(tables[-1]) == 5 and "\\x1b" in text and "\\u202e" in text'
rm "$state/runs-primed.jsonl"
mkdir "$state/runs-primed.jsonl"
run 0 report -o "$work/folders.html" "$sample"
page folders.html '"None is remembered" in text'
# A run is none the worse for it.
run 0 prime "$sample"
# No GPU: the rest is shown
if ! is_wine; then
	JITWARM=${JITWARM##* } JITWARM_STATE=$work/other-state JITWARM_PCI_DEVICES='' run 0 report -o "$work/bare.html" "$sample"
	page bare.html '"No GPU" in text and "no NVIDIA driver" in text and len(tables) <= 1'
fi
