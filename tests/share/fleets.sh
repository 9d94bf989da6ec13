#!/bin/bash
# fleets.sh BUILD-FOLDER   the commands of docs/many-machines.md and docs/containers.md, word for word
#
# In a network of its own, registry.example is Debian's docker-registry with TLS, and /mnt/jitwarm is in memory; “tensorflow” is the sample
# framework, and the driver is the simulated one. Exit status 1 if a page does not do what it says, 77 if root or a program is missing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) root=$(cd "$here/../.." && pwd)
PATH=$PATH:/usr/sbin
for program in docker-registry openssl python3 ip; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
if [ "${FLEETS_INSIDE:-}" != 1 ]; then
	unshare -mn true 2>/dev/null || { echo "skipped: this needs root, and namespaces for network and mounts"; exit 77; }
	FLEETS_INSIDE=1 exec unshare -mn "$0" "$@"
fi
. "$here/places.sh"
work=$(mktemp -d)
trap 'kill "${servers[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work" || exit 3
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|SSL_CERT_DIR|REGISTRY_AUTH_FILE|DOCKER_CONFIG|XDG_[A-Z_]*|CUDA_[A-Z_]*|JITWARM_[A-Z_]*)=' | grep -v JITWARM_PTXAS | tr -d =)
export no_proxy='*' NO_COLOR=1 SSL_CERT_FILE=$work/cert.pem JITWARM_PTXAS=${JITWARM_PTXAS:-$HOME/.cache/jitwarm/ptxas}
fail() { cat out err 2>/dev/null; echo "FAILED: $*"; exit 1; }

ip link set lo up || { echo "skipped: no network"; exit 77; }
printf '127.0.0.1 localhost registry.example\n' >hosts
mount --bind hosts /etc/hosts
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=here \
	-addext subjectAltName=DNS:registry.example 2>/dev/null
printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:443", tls: {certificate: cert.pem, key: key.pem}}\n' "$work/data" >registry.yml
docker-registry serve registry.yml >registry.log 2>&1 &
servers+=($!)
await_port 443 $! registry.log || exit 77
# the folder that the jobs mount
mount -t tmpfs none /mnt && mkdir /mnt/jitwarm || exit 77

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
chmod +x bin/jitwarm
PATH=$work/bin:$PATH

machine() { export HOME=$work/$1; export CUDA_CACHE_PATH=$HOME/cache JITWARM_STATE=$HOME/state; mkdir -p "$HOME"; }
# Only a part of the copied library's stamps is replaced; one compile shows which stamp the driver uses.
confirm() { jitwarm prime --cache "$work/probe-$1" "$root/ptx/sample_small.ptx" >out 2>err || fail "prime on $1"; }
# page SECTION WHERE: runs the lines of this section of a page that are typed at WHERE, in order; each must succeed
page() {
	cat "$root/docs/many-machines.md" "$root/docs/containers.md" | python3 -c 'import re, sys
page, found = sys.stdin.read(), []
for part in re.split(r"^##+ ", page, flags=re.M):
    if part.startswith(sys.argv[1] + "\n"):
        found += [b for b in re.findall(r"^```console\n(.*?)^```", part, re.M | re.S) if b.startswith("# " + sys.argv[2])]
print("\n".join(line[2:] for block in found for line in block.splitlines() if line.startswith("$ ")).replace("RWQ…", sys.argv[3]))
sys.exit(len(found) != 1)' "$1" "$2" "${public:-}" >lines || fail "no page has one block of commands “$1”: “$2”"
	: >out
	while read -r line; do eval "$line" >>out 2>err </dev/null || fail "$1: $2: $line: status $?"; done <lines
}
# The simulated linker cannot link the output of NVIDIA's compiler on the build server, so only compiled modules count.
warm() { "$root/scripts/with-simdriver.sh" -B "$work/sim" sm_86 -- "$build/tests/framework/framework-app" >start 2>&1; grep -q '^compiled 0 of' start || { cat start; fail "$1: not warm"; }; }
took() { grep -qE '^8 entries added|^8 modules from the shared folder|already' out && ! grep -q '^Compiled' out || fail "$1 compiled"; }

machine first
page Keys "once, on the machine that compiles"
page "A registry" "after each update, on the machine that compiles"
jitwarm key list --json >out 2>err || fail "key list"
public=$(python3 -c 'import json; print(json.load(open("out"))["keys"][0]["public_key"])')
machine other
confirm other
page Keys "once, on each other machine"
page "A registry" "after each update, on each other machine"
took "a laptop"
warm "a laptop"

machine job1
cp -r "$work/first/state" "$JITWARM_STATE" && rm -rf "$JITWARM_STATE"/runs # the job's secret key
page "CI jobs" "at the start of each job"
machine job2
cp -r "$work/first/state" "$JITWARM_STATE"
page "CI jobs" "at the start of each job"
took "a job"
warm "a job"
[ "$(find /mnt/jitwarm -name '*.jwpack' | wc -l)" = 8 ] || fail "the folder has not eight objects"

# The page's “compiler fetch” finds both of them here, since this network has no index.
if [ -x "$JITWARM_PTXAS/12.4/ptxas" ] && [ -e "$JITWARM_PTXAS/12.4/libnvJitLink.so.12" ]; then
	machine server
	cp -r "$work/first/state" "$JITWARM_STATE"
	rm -rf data/docker
	page "A pack" "after each update, on the build server"
	# the Deployment's init container, as on the page
	machine pod
	confirm pod
	/usr/bin/python3 -c 'import sys, yaml
print(yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]["initContainers"][0]["command"][2])' "$root/packaging/kubernetes/deployment.yaml" >command || fail "deployment.yaml"
	JITWARM_TRUST=$public sh -c "$(cat command)" >out 2>err || fail "the init container"
	took "a pod"
	warm "a pod"
fi
echo "ok: the commands of docs/many-machines.md and docs/containers.md"
