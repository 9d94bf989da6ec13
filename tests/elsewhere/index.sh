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

mkdir -p http/asked tmp
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
rm -r folder
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
usage "is neither NAME nor NAME==VERSION" scan --index "asked>=1"
usage "is neither NAME nor NAME==VERSION" scan --index "asked[x]"
usage "--index takes one package" scan --index
usage "is in arm64 machines with Linux alone" scan --index asked --target sm_87 --platform linux
usage "is in arm64 machines with Linux alone" scan --index asked --target sm_86,sm_87
usage "--platform is for --index" scan --platform windows asked
usage "--index changes nothing here" bake --in-place --index asked

ask good lint --index asked==1.0 --gpus sm_86; got=$?
[ $got = 0 ] && grep -q "^asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl:" out && ! grep -q jitwarm-run out err && clean && ok lint || fail "lint: status $got: $(cat out err)"
ask good bake -o baked --index asked==1.0 --target sm_86 -n; got=$?
[ $got != 3 ] && grep -q "^asked-1.0+cu121-py3-none-manylinux2014_x86_64.whl: asked/lib.so: .* to bake" out && ! grep -q jitwarm-run out err && ok bake || fail "bake: status $got: $(cat out err)"
rm -rf state home/.cache

PIP_INDEX_URL=$site/trickle/simple timeout -s KILL 60 "$jitwarm" scan --index asked --target sm_86 >out 2>err &
asking=$!
await sh -c 'find tmp -name "*.whl" | grep -q .' || fail "nothing is fetched"
kill -INT $asking; got=0; wait $asking || got=$?
[ $got = 1 ] && clean && ok "Ctrl-C leaves nothing" || fail "Ctrl-C: status $got: $(cat out err; find tmp)"

mkdir -p env/bin env/lib/python3.11/site-packages
printf 'home = /usr/bin\nversion = 3.11.2\n' >env/pyvenv.cfg
ask good check -e env asked==1.0
grep -qF "“jitwarm scan --index asked==1.0” asks the package index" err && ok "an unknown name's error proposes the line" || fail "the line: $(cat out err)"
exit $failed
