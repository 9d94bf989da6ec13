#!/bin/bash
# index.sh BUILD-FOLDER   --index: wheels of a package index on this machine, honest and lying (index-server.py)
#
# Exit status 1 if a case fails, 77 where something is not at hand.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
jitwarm=$build/src/jitwarm
[ "$(uname -m)" = x86_64 ] || { echo "skipped: the wheels are for x86_64"; exit 77; }
# shellcheck source=tests/elsewhere/indexes.sh
. "$here/indexes.sh"

mkdir -p http/asked http/pure tmp
python3 - "$build/tests/framework/libsample_framework.so" <<'P'
import pathlib, sys, zipfile
code = pathlib.Path(sys.argv[1]).read_bytes()
def wheel(version, tag, member="asked/lib.so"):
    with zipfile.ZipFile(f"http/asked/asked-{version}-py3-none-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, code)
        archive.writestr(f"asked-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: asked\nVersion: {version}\n")
        archive.writestr(f"asked-{version}.dist-info/RECORD", f"{member},,\n")
for version in ("1.0", "1.0+cu121", "1.1", "1.1.post1", "1.2rc1", "1.5"):
    wheel(version, "manylinux2014_x86_64")
wheel("1.1.post1", "manylinux_2_28_x86_64", "asked/newer.so")
wheel("1.0", "win_amd64", "asked/lib.dll")
wheel("1.0", "manylinux2014_aarch64", "asked/arm.so")
wheel("0.9", "any")
wheel("3.0", "macosx_11_0_arm64")
open("http/asked/asked-4.0.1.tar.gz", "wb").write(b"source")
open("http/pure/pure-2.0-py3-none-any.whl", "wb").write(b"is never fetched")
P
serve http
site=http://127.0.0.1:$(cat http/port)
export TMPDIR=$scratch/tmp

ask() { # KIND WORD...
	PIP_INDEX_URL=$site/$1/simple timeout 120 "$jitwarm" "${@:2}" >out 2>err
}
clean() { [ -z "$(find tmp state home -mindepth 1 2>/dev/null)" ]; }
good() { # TEXT WHEEL KIND WORD...
	local text=$1 wheel=$2
	ask "$3" scan --target sm_86 --index "${@:4}"
	[ $? = 0 ] && [[ "$(head -n 1 out)" == "$wheel ("*"extras and dependencies are not looked at" ]] && grep -q "^$wheel:" out &&
		grep -q "to compile" out && ! grep -q jitwarm-run out err && clean && ok "$text" || fail "$text: $(cat out err; find tmp state home)"
}
bad() { # TEXT SAID KIND WORD...
	local text=$1 said=$2 got
	ask "$3" scan --target sm_86 --index "${@:4}"
	got=$?
	[ $got = 3 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$said" err && clean && ok "$text ($said)" || fail "$text: status $got, not “$said”: $(cat out err; find tmp state home)"
}
usage() { # SAID WORD...
	ask good "${@:2}"
	[ $? = 64 ] && grep -qF -- "$1" err && clean && ok "$1" || fail "usage, not “$1”: $(cat out err)"
}

good "the newest, with the newest glibc" asked-1.1.post1-py3-none-manylinux_2_28_x86_64.whl good asked
grep -q "asked/newer.so" out || fail "another one was read: $(cat out)"
good "1.0 means 1.0.*, with the highest label" asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl good asked==1.0
good "a label" asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl good asked==1.0+CU121
good "a post release" asked-1.1.post1-py3-none-manylinux_2_28_x86_64.whl good Asked==1.1.post1
good "a final one of three numbers" asked-1.1-py3-none-manylinux2014_x86_64.whl good asked==1.1.0
good "a pre-release that is named" asked-1.2rc1-py3-none-manylinux2014_x86_64.whl good asked==1.2rc1
good "a wheel for any platform" asked-0.9-py3-none-any.whl good asked==0.9
good "a wheel for Windows" asked-1.0-py3-none-win_amd64.whl good asked==1.0 --platform windows
good "a wheel for arm64" asked-1.0-py3-none-manylinux2014_aarch64.whl good asked==1.0 --platform linux-arm64
good "a redirect to another host" asked-1.0-py3-none-win_amd64.whl moved-away asked==1.0 --platform windows
mkdir folder && cp http/asked/asked-1.0-py3-none-win_amd64.whl folder
PIP_NO_INDEX=1 PIP_FIND_LINKS=folder ask good scan --index asked --platform windows --target sm_86
grep -q "^folder/asked-1.0-py3-none-win_amd64.whl:" out && [ -e folder/asked-1.0-py3-none-win_amd64.whl ] && ok "a folder of find-links, which stays" || fail "find-links: $(cat out err)"
ask good scan --index asked==1.0 --target sm_87
[ "$(head -n 1 out | cut -d' ' -f1)" = asked-1.0-py3-none-manylinux2014_aarch64.whl ] && ok "Jetson's platform" || fail "Jetson: $(cat out err)"
ask good scan --json --index asked==1.1 --target sm_86
grep -q '"path":.*"asked-1.1.post1-py3-none-manylinux_2_28_x86_64.whl"' out && ! grep -q jitwarm-run out && ok "--json names the wheel" || fail "--json: $(head -n 20 out; cat err)"

bad "withdrawn" "; its author has withdrawn (yanked) it" good asked==1.5
bad "no wheel for the platform" "for x86_64-linux; it has wheels for other platforms" good asked==3.0
bad "only the source" "no wheel asked==4.0.1 for x86_64-linux; it has only its source (sdist)" good asked==4.0.1
bad "no such version" "; the newest is 1.1" good asked==7
bad "no such package" "no wheel nothing for x86_64-linux" good nothing
bad "another hash" "its SHA-256 is " wrong-hash asked
bad "a wheel that breaks off" "cut-wheel/files/" cut-wheel asked
bad "a wheel without end" "sends more than" endless asked
PIP_TIMEOUT=1 bad "a slow one" "trickle/files/" trickle asked
good "the newest of a range" asked-1.1.post1-py3-none-manylinux_2_28_x86_64.whl good "asked>=1,<2"
good "the newest below" asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl good "asked<1.1"
good "a pre-release where nothing else fits" asked-1.2rc1-py3-none-manylinux2014_x86_64.whl good "asked>1.1,<1.5"
bad "nothing in the range" "no wheel asked>1.3,<1.5 for x86_64-linux" good "asked>1.3,<1.5"
usage "is neither NAME nor NAME==VERSION" scan --index "asked>=1,,<2"
usage "is neither NAME nor NAME==VERSION" scan --index "asked[x]"
usage "--index takes one package" scan --index
usage "is in arm64 machines with Linux alone" scan --index asked --target sm_87 --platform linux
usage "is in arm64 machines with Linux alone" scan --index asked --target sm_86,sm_87
usage "--platform is for --index" scan --platform windows asked

ask good lint --index asked==1.0 --gpus sm_86; got=$?
[ $got = 0 ] && grep -q "^asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl:" out && ! grep -q jitwarm-run out err && clean && ok lint || fail "lint: status $got: $(cat out err)"
ask good bake -o baked --index asked==1.0 --target sm_86 -n; got=$?
[ $got != 3 ] && grep -q "^asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl: asked/lib.so: .* to bake" out && ! grep -q jitwarm-run out err && ok bake || fail "bake: status $got: $(cat out err)"
rm -rf state home/.cache

# The table of docs/frameworks.md
mkdir -p copy/scripts copy/docs/ko
cp "$here/../../scripts/frameworks-table.py" copy/scripts
printf '%s\n' before '<!-- generated -->' '| wheel |' '|---|' '| asked==1.0 | 7 |' '| asked==7 | 8 |' '<!-- end -->' behind | tee copy/docs/ko/frameworks.md >copy/docs/frameworks.md
table() { PIP_INDEX_URL=$site/good/simple copy/scripts/frameworks-table.py "$@" "$jitwarm" >out 2>err; }
table; got=$?
[ $got = 1 ] && grep -q '^asked==1.0: .* (the table: 7)$' out && grep -qxF 'asked==7: no wheel asked==7.* for x86_64-linux; the newest is 1.1 (the table: 8)' out &&
	grep -q '^| asked==1.0 | 7 |' copy/docs/frameworks.md && ok "the table says what differs" || fail "the table: status $got: $(cat out err)"
table --write
[ $? = 0 ] && table && [ "$(cat out)" = "nothing differs" ] && cmp -s copy/docs/frameworks.md copy/docs/ko/frameworks.md && grep -qx behind copy/docs/frameworks.md &&
	grep -qE '^\| asked==1.0 (\| [0-9][^|]* ){9}\|$' copy/docs/frameworks.md && clean && ok "the table is written" || fail "the table: $(cat out err copy/docs/frameworks.md)"

python3 - copy/scripts/frameworks-table.py <<'P' && ok "cells of the table" || fail "cells of the table"
import runpy, sys
cell = runpy.run_path(sys.argv[1])["cell"]
def verdicts(**counts):
    return {**dict.fromkeys(("native", "compatible", "jit", "link", "nothing", "cannot"), 0), **counts}
def total(low=60, **values):
    return {"fails_to": 0, "driver_from": 455, "older_differ": False, "modules": 0, "left_out": 0, "forecast": {"start_seconds": {"low": low, "high": 120}}, **values}
runs, lacks, compiles = verdicts(native=2), verdicts(nothing=2), verdicts(jit=2)
for want, got in (("0", cell(total(), [runs])), ("0 · 580+", cell(total(driver_from=580, fails_to=575), [runs])), ("0 · 525+", cell(total(driver_from=525, older_differ=True), [runs])),
                  ("no code", cell(total(), [lacks])), ("no code", cell(total(driver_from=0, fails_to=580), [verdicts(cannot=1)])),
                  ("3 · 1-2 min", cell(total(modules=3), [compiles])), ("3 · up to 2 min · no code in 1 of 2", cell(total(0, modules=3), [compiles, lacks]))):
    assert want == got, (want, got)
P

PIP_INDEX_URL=$site/trickle/simple timeout -s KILL 60 "$jitwarm" scan --index asked --target sm_86 >out 2>err &
asking=$!
await sh -c 'find tmp -name "*.whl" | grep -q .' || fail "nothing is fetched"
kill -INT $asking; got=0; wait $asking || got=$?
[ $got = 1 ] && clean && ok "Ctrl-C leaves nothing" || fail "Ctrl-C: status $got: $(cat out err; find tmp)"

# Many packages in a file, in all three forms
hash=$(sha256sum http/asked/asked-1.1-py3-none-manylinux2014_x86_64.whl | cut -d' ' -f1)
cat >requirements.txt <<E
# asked==1.5
asked[x] == 1.1 \\
    --hash=sha256:$hash
pure
missing==1
asked==3.0 ; sys_platform == "darwin"
asked>=1
-r base.txt
own @ git+https://word@localhost/own
E
cat >pylock.toml <<E
lock-version = "1.0"
[[packages]]
name = "asked"
version = "1.0"
wheels = [
    { url = "https://localhost/asked-1.0-py3-none-win_amd64.whl", hashes = { sha256 = "$(sha256sum http/asked/asked-1.0-py3-none-win_amd64.whl | cut -d' ' -f1)" } },
    { url = "https://localhost/asked-1.0-py3-none-manylinux2014_x86_64.whl", hashes = { sha256 = "$(sha256sum http/asked/asked-1.0-py3-none-manylinux2014_x86_64.whl | cut -d' ' -f1)" } },
]
[[packages]]
name = "own"
directory = { path = "." }
E
echo '{"version": "1", "install": [{"is_direct": false, "metadata": {"name": "asked", "version": "1.1.post1"}}, {"is_direct": false, "metadata": {"name": "Asked", "version": "1.0"}}]}' >report.json
listed() { # STATUS WORD...
	ask good scan --target sm_86 "${@:2}"
	local got=$?
	[ $got = "$1" ] && clean && ! grep -q "word\|jitwarm-run" out err && ok "${*:2}" || fail "${*:2}: status $got: $(cat out err; find tmp state home)"
}
said() { # FILE TEXT...
	local text
	for text in "${@:2}"; do grep -qF -- "$text" "$1" || fail "not “$text”: $(cat out err)"; done
}
listed 1 --index -r requirements.txt
said out "asked-1.1-py3-none-manylinux2014_x86_64.whl, sm_86 (RTX 30): " "pure-2.0-py3-none-any.whl: no device code" "sm_86 (RTX 30), all together: "
said err "requirements.txt:5: $site/good/simple: no wheel missing==1 for " "requirements.txt:6: $site/good/simple: no wheel asked==3.0 for " \
	"requirements.txt:8: “-r base.txt” is left out: of pip's options and other lists none" "requirements.txt:9: “own @ git+https://…” is left out"
[ "$(wc -l <err)" = 4 ] || fail "not four lines: $(cat err)"
grep -q "pure-2.0" http/log && fail "a wheel for any platform was fetched"
[ "$(grep -c "GET /good/simple/pure/ " http/log)" = 1 ] || fail "pure was not asked for: $(cat http/log)"
listed 0 --index -r pylock.toml
said out "asked-1.0-py3-none-manylinux2014_x86_64.whl, sm_86 (RTX 30): "
said err "pylock.toml:9: “own @ directory” is left out"
listed 0 --index --platform windows -r pylock.toml
said out "asked-1.0-py3-none-win_amd64.whl, sm_86 (RTX 30): "
listed 0 --index -r report.json
[ "$(grep -c "whl, sm_86 (RTX 30): " out)" = 2 ] || fail "not two packages: $(cat out)"
listed 1 --json --index -r requirements.txt
python3 - out <<'P' && ok "--json of a list" || fail "--json of a list: $(cat out)"
import json, sys
document = json.load(open(sys.argv[1]))
rows = document["packages"]
assert [row["line"] for row in rows] == [2, 4, 5, 6, 7, 8, 9] and [row["asked"] for row in rows][:2] == ["asked==1.1", "pure"], rows
assert [("wheel" in row, "why" in row) for row in rows] == [(True, False)] * 2 + [(False, True)] * 2 + [(True, False)] + [(False, True)] * 2, rows
assert {file["path"] for file in document["files"]} == {rows[0]["wheel"], rows[4]["wheel"]} and document["totals"][0]["modules"] > 0, document
P
sed "s/$hash/${hash:1}0/" requirements.txt >changed.txt
listed 1 --index -r changed.txt
said err "changed.txt:2: " "; none of its files has a SHA-256 that the list names"
printf '%s\n' '--proxy=me:word@localhost:1' '--extra-index-url https://me:word@localhost/' asked==1.1 >options.txt
listed 0 --index -r options.txt
said err "options.txt:1: “--proxy …” is left out" "options.txt:2: “--extra-index-url …” is left out"
echo "-e ." >own.txt && listed 2 --index -r own.txt
for hostile in 'n\0u' '' '# nothing\n' '{"install": [' '{"install": {}}'; do
	printf '%b' "$hostile" >hostile.txt
	listed 3 --index -r hostile.txt
	[ "$(wc -l <err)" = 1 ] && grep -q "^jitwarm: .*hostile.txt: " err || fail "“$hostile”: not a line with the file's name: $(cat err)"
done
yes asked==1 | head -n 5000 >hostile.txt && listed 3 --index -r hostile.txt
listed 3 --index -r absent.txt
listed 64 -r requirements.txt
listed 64 --index -r requirements.txt asked

PIP_NO_INDEX=1 PIP_FIND_LINKS=folder listed 3 --index --platform windows -r pylock.toml
said err "; wheels of find-links have no hash that a list names"
# A wheel that is larger than the memory that it may take, stored and packed
PIP_NO_INDEX=1 PIP_FIND_LINKS=folder python3 - "$jitwarm" "$build/tests/framework/libsample_framework.so" <<'P' && ok "150 MB of memory" || fail "memory: $(cat out err)"
import pathlib, resource, subprocess, sys, zipfile
for way in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile("folder/large-1.0-py3-none-manylinux2014_x86_64.whl", "w", way, compresslevel=0) as archive:
        with archive.open("large/lib.so", "w") as member:
            member.write(pathlib.Path(sys.argv[2]).read_bytes())
            for _ in range(200):
                member.write(bytes(1 << 20))
    with open("out", "w") as out:
        subprocess.run([sys.argv[1], "scan", "--target", "sm_86", "--index", "large"], stdout=out, check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert " to compile" in open("out").read() and peak < 150 << 10, peak
P
rm -r folder

mkdir -p env/bin env/lib/python3.11/site-packages
printf 'home = /usr/bin\nversion = 3.11.2\n' >env/pyvenv.cfg
ask good check -e env asked==1.0
grep -qF "“jitwarm scan --index asked==1.0” asks the package index" err && ok "an unknown name's error proposes the line" || fail "the line: $(cat out err)"
exit $failed
