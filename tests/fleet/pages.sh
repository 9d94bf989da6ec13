#!/bin/bash
# pages.sh BUILD-FOLDER   the commands of docs/many-machines.md, docs/containers.md and packaging/kubernetes, word for word
#
# /mnt/jitwarm and /packs are in memory; oras and aws are scripts here, which copy files; “tensorflow” is the sample framework, and the driver is
# the simulated one. Exit status 1 if a page does not do what it says, 77 if root or a program is missing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) root=$(cd "$here/../.." && pwd)
/usr/bin/python3 -c 'import yaml' 2>/dev/null || { echo "skipped: no PyYAML"; exit 77; }
if [ "${PAGES_INSIDE:-}" != 1 ]; then
	unshare -m true 2>/dev/null || { echo "skipped: this needs root, and mount namespaces"; exit 77; }
	PAGES_INSIDE=1 exec unshare -m "$0" "$@"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
while read -r name; do unset "$name"; done < <(env | grep -oiE '^(XDG_[A-Z_]*|CUDA_[A-Z_]*|JITWARM_[A-Z_]*)=' | grep -v JITWARM_PTXAS | tr -d =)
export NO_COLOR=1 JITWARM_PTXAS=${JITWARM_PTXAS:-$HOME/.cache/jitwarm/ptxas}
fail() { cat out err 2>/dev/null; echo "FAILED: $*"; exit 1; }

mount -t tmpfs none /mnt && mkdir /mnt/jitwarm /mnt/packs || exit 77

# The simulated driver has the name and the stamp of a real one, for which the build server compiles.
mkdir -p sim/tests
cp -rL "$build/tests/simdriver" sim/tests/
(cd sim/tests/simdriver/lib && rm libcuda.so libcuda.so.1 && mv libcuda.so.* libcuda.so.550.163.01 && ln -s libcuda.so.550.163.01 libcuda.so.1)
sed -i 's/Feb 29 2024/Apr  8 2025/g; s/23:59:58/12:10:18/g' sim/tests/simdriver/lib/libcuda.so.550.163.01
export SIMDRIVER_VERSION=550.163.01 SIMDRIVER_STAMP='Apr  8 2025 12:10:18'

# “tensorflow” is in the active environment.
site=$work/env/lib/python3.11/site-packages
mkdir -p "$site"/tensorflow{,-1.dist-info} bin
cp "$build/tests/framework/libsample_framework.so" "$site/tensorflow/"
printf 'Name: tensorflow\nVersion: 1\n' >"$site/tensorflow-1.dist-info/METADATA"
printf 'tensorflow/libsample_framework.so,,\n' >"$site/tensorflow-1.dist-info/RECORD"
printf 'home = /usr/bin\n' >env/pyvenv.cfg
export VIRTUAL_ENV=$work/env
printf '#!/bin/sh\nexec "%s" -B "%s" sm_86 -- "%s" "$@"\n' "$root/scripts/with-simdriver.sh" "$work/sim" "$build/src/jitwarm" >bin/jitwarm
# A registry and a bucket are folders.
cat >bin/oras <<'S'
#!/bin/sh
case $1 in
push) mkdir -p "$KEPT/$2" && shift 2 && cp -- "$@" "$KEPT/registry.example/lab:sm_86-550" ;;
pull) cp -- "$KEPT/$2"/* . ;;
esac
S
cat >bin/aws <<'S'
#!/bin/sh
from=$3 to=$4
case $from in s3:*) from=$KEPT/$from ;; *) to=$KEPT/$to && mkdir -p "$to" ;; esac
cp -- "$from" "$to"
S
chmod +x bin/*
export KEPT=$work/kept
PATH=$work/bin:$PATH

# machine NAME: begins, or continues on, a machine with a home of its own. Only a part of the copied library's stamps is replaced; one compile
# shows which stamp the driver uses.
machine() {
	export HOME=$work/$1 CUDA_CACHE_PATH=$work/$1/cache JITWARM_STATE=$work/$1/state
	mkdir -p "$HOME/here" && cd "$HOME/here" || exit 3
	jitwarm prime --quiet --no-store --cache "$work/probe-$1" "$root/ptx/sample_small.ptx" >out 2>err || fail "prime on $1"
}
# page SECTION WHERE: runs the lines of this section of a page that are typed at WHERE, in order; each must succeed
page() {
	cat "$root/docs/many-machines.md" "$root/docs/containers.md" | python3 -c 'import re, sys
page, found = sys.stdin.read(), []
for part in re.split(r"^##+ ", page, flags=re.M):
    if part.startswith(sys.argv[1] + "\n"):
        found += [b for b in re.findall(r"^```console\n(.*?)^```", part, re.M | re.S) if b.startswith("# " + sys.argv[2])]
print("\n".join(line[2:] for block in found for line in block.splitlines() if line.startswith("$ ")).replace("RWQ…", sys.argv[3]))
sys.exit(len(found) != 1)' "$1" "$2" "${public:-}" >"$work/lines" || fail "no page has one block of commands “$1”: “$2”"
	: >out
	while read -r line; do eval "$line" >>out 2>err </dev/null || fail "$1: $2: $line: status $?"; done <"$work/lines"
}
# The simulated linker cannot link the output of NVIDIA's compiler on the build server, so only compiled modules count.
warm() { "$root/scripts/with-simdriver.sh" -B "$work/sim" sm_86 -- "$build/tests/framework/framework-app" >start 2>&1; grep -q '^compiled 0 of' start || { cat start; fail "$1: not warm"; }; }
took() { grep -qE '^8 entries added|^Taken from the folder of packs: 8 entries|already' out && ! grep -q '^Compiled' out || fail "$1 compiled"; }

machine first
page Keys "once, on the machine that compiles"
jitwarm key list --json >out 2>err || fail "key list"
public=$(python3 -c 'import json; print(json.load(open("out"))["keys"][0]["public_key"])')
page "A folder" "on every machine, first on one"
for section in "A registry" "A bucket"; do
	page "$section" "after each update, on the machine that compiles"
	machine "other-$section"
	page Keys "once, on each other machine"
	page "$section" "after each update, on each other machine"
	took "$section"
	warm "$section"
	machine first
done
machine other
page Keys "once, on each other machine"
page "A folder" "on every other machine"
took "a laptop"
warm "a laptop"
[ "$(find /mnt/jitwarm -name '*.jwpack' | wc -l)" = 1 ] || fail "the folder has not one pack"

rm -r /mnt/jitwarm && mkdir /mnt/jitwarm
for job in 1 2; do
	machine job$job
	export JITWARM_KEY=$work/first/state/keys/default.key # the job's secret key
	page "CI jobs" "at the start of each job"
	unset JITWARM_KEY
done
took "a job"
warm "a job"
[ "$(find /mnt/jitwarm -name '*.minisig' | wc -l)" = 1 ] || fail "the folder has not one signed pack"

# typed FILE WORDS: the command of a manifest's container, with a folder for its volume
typed() {
	/usr/bin/python3 -c 'import sys, shlex, yaml
pod = yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]
command = (pod.get("initContainers") or pod["containers"])[0]["command"]
print((command[2] if command[0] == "sh" else shlex.join(command)).replace("/packs", "/mnt/packs"))' "$root/packaging/kubernetes/$1.yaml" >command || fail "$1.yaml"
	sh -c "$(cat command)" >out 2>err || fail "$1.yaml"
}
machine primes
JITWARM_KEY=$work/first/state/keys/default.key typed job
machine pod
JITWARM_TRUST=$public typed deployment
took "a pod"
warm "a pod"

# The page's “compiler fetch” finds it here.
if [ -x "$JITWARM_PTXAS/12.4/ptxas" ]; then
	machine server
	cp -r "$work"/first/state/{keys,trusted} "$JITWARM_STATE"
	page "A pack" "after each update, on the build server"
	cp tensorflow.jwpack* "$work"
	machine container
	jitwarm key trust "$public" >out 2>err && jitwarm import "$work/tensorflow.jwpack" >>out 2>>err || fail "import"
	took "a container"
	warm "a container"
fi
echo "ok: the commands of docs/many-machines.md, docs/containers.md and packaging/kubernetes"
