#!/bin/bash
# image.sh BUILD-FOLDER [FILE]   the image of scripts/make-image.py in Debian's docker-registry, and a node that runs it
#
# FILE: an image of scripts/package.sh instead of one that is made here. With a read-only root and as any user, for each machine whose programs
# run here, it says its version, scans and checks.
# The image goes into the registry and back by skopeo. In its files alone, with a driver's library where NVIDIA's toolkit mounts it,
# the arguments of packaging/kubernetes/daemonset.yaml fill a cache from a pack, with which the sample application starts warm.
# The program is that of build/linux-x86_64 (scripts/build-linux.sh) if that exists, which makes at most 10 MB; else the build's.
# Exit status 1 if a case fails, 77 if root or a program is missing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || [ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) root=$(cd "$here/../.." && pwd)
for program in docker-registry skopeo python3; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces"; exit 77; }
/usr/bin/python3 -c 'import yaml' 2>/dev/null || { echo "skipped: no PyYAML"; exit 77; }
! grep -q __asan < <(nm -D "$build/src/jitwarm" 2>/dev/null) || { echo "skipped: a program with sanitizers"; exit 77; }
. "$here/places.sh"
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"
work=$(mktemp -d)
trap 'kill "${servers[@]}" 2>/dev/null; wait; emulate_end; rm -rf "$work"' EXIT
cd "$work" || exit 3
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|REGISTRY_AUTH_FILE|DOCKER_CONFIG|XDG_[A-Z_]*|CUDA_[A-Z_]*)=' | tr -d =)
export no_proxy='*' HOME=$work/home NO_COLOR=1
mkdir home
fail() { cat out err 2>/dev/null; echo "FAILED: $*"; exit 1; }
port=$(free_port)
site=127.0.0.1:$port
printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "%s"}\n' "$work/data" "$site" >registry.yml
docker-registry serve registry.yml >registry.log 2>&1 &
servers+=($!)
await_port "$port" $! registry.log || exit 77

release=${2:+$(realpath "$2")}
program=$root/build/linux-x86_64/jitwarm most=10000000
if [ ! -x "$program" ]; then
	program=$work/jitwarm most=
	strip -o "$program" "$build/src/jitwarm" || fail "strip"
fi
if [ -n "$release" ]; then
	mkdir image && tar -xf "$release" -C image || fail "$release"
else
	"$root/scripts/make-image.py" image amd64 "$program" / >out 2>err || fail "make-image.py"
	"$root/scripts/make-image.py" again amd64 "$program" / >out && diff -r image again >err || fail "not the same bytes again"
fi
skopeo --insecure-policy copy --all --dest-tls-verify=false oci:image:latest "docker://$site/jitwarm:latest" >out 2>err || fail "the image is not pushed"
# taken ARCHITECTURE FOLDER: puts the files of the registry's image into a folder, and their size into `size`
taken() {
	skopeo --insecure-policy --override-arch "$1" copy --src-tls-verify=false "docker://$site/jitwarm:latest" "oci:back-$1:latest" >out 2>err || fail "the image for $1 does not come back"
	size=$(/usr/bin/python3 - "back-$1" "$2" "$1" <<'PYTHON'
import json, pathlib, sys, tarfile
back, node, architecture = sys.argv[1:]
read = lambda digest: pathlib.Path(back, "blobs/sha256", digest[7:])
manifest = json.loads(read(json.loads(pathlib.Path(back, "index.json").read_text())["manifests"][0]["digest"]).read_text())
config = json.loads(read(manifest["config"]["digest"]).read_text())
config["config"]["Entrypoint"] == ["/jitwarm"] and config["architecture"] == architecture or exit(1)
for layer in manifest["layers"]:
    with tarfile.open(read(layer["digest"])) as archive:
        archive.extractall(node)
        print(sum(member.size for member in archive))
PYTHON
	) || fail "the image for $1 that came back"
}
# anyone NODE ARGUMENT...: runs the program with a read-only root, as a user that the image lacks
anyone() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'node=$1 && shift && mount --bind /proc "$node/proc" && mount --rbind "$node" "$node" && mount -o remount,ro,bind "$node" &&
		exec env -i HOME=/tmp PATH=/ "$(command -v chroot)" --userspec=12345:12345 "$node" /jitwarm "$@"' sh "$@" >out 2>err
}
sample=$build/tests/framework/libsample_framework.so
taken amd64 node
amd64_size=$size
[ -z "$most" ] || [ "$size" -le $most ] || fail "more than $most bytes: $size"
architectures=(amd64)
if [ -n "$release" ] && emulate_begin; then
	taken arm64 node-arm64
	architectures+=(arm64)
fi
for architecture in "${architectures[@]}"; do
	node=node
	[ $architecture = amd64 ] || node=node-$architecture
	mkdir -p $node/proc && cp -L "$sample" $node/sample.so
	anyone $node --version && anyone $node scan --target sm_86 /sample.so || fail "read-only, as any user: $architecture"
	grep -q '^sm_86 (RTX 30): up to 8 modules (' out || fail "scan: $architecture"
	anyone $node check --target sm_86 --driver 550.163.01 /sample.so
	[ $? = 1 ] || fail "check: $architecture"
	rm $node/sample.so
done

if command -v umoci >/dev/null; then
	umoci unpack --rootless --image back-amd64:latest bundle >out 2>err && cmp bundle/rootfs/jitwarm "$program" >>err || fail "umoci does not unpack it"
fi

# A machine makes the pack.
sim() { "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$@" >out 2>err; }
export CUDA_CACHE_PATH=$work/maker/cache JITWARM_STATE=$work/maker/state
sim "$build/src/jitwarm" prime "$sample" && sim "$build/src/jitwarm" key generate --json || fail "the maker"
public=$(python3 -c 'import json; print(json.load(open("out"))["keys"][0]["public_key"])')
sim "$build/src/jitwarm" export --sign -o "$work/lab.jwpack" "$sample" || fail "export"

# The node has the toolkit's files, and runs the DaemonSet's init containers.
cp -L "$build/tests/simdriver/lib/libcuda.so.1" "$(echo node/usr/lib/*/libc.so.6 | sed 's|[^/]*$||')libcuda.so.1"
mkdir -p node/proc node/dev node/var/cache/jitwarm
sim env || fail "the environment"
/usr/bin/python3 - "$root/packaging/kubernetes/daemonset.yaml" "$public" <<'PYTHON' >said 2>err || { cat said; fail "the DaemonSet's init containers"; }
import pathlib, shutil, subprocess, sys, yaml
manifest, public = sys.argv[1:]
simulated = [line.split("=", 1) for line in open("out").read().splitlines() if line.startswith(("SIMDRIVER_GPUS=", "JITWARM_PCI_DEVICES="))]
for container in yaml.safe_load(open(manifest))["spec"]["template"]["spec"]["initContainers"]:
    if "/oras:" in container["image"]:
        # oras is not at hand, so its work is done here.
        folder = "node" + container["args"][2]
        pathlib.Path(folder).mkdir(parents=True)
        for name in "lab.jwpack", "lab.jwpack.minisig":
            shutil.copy(name, folder)
        continue
    words = [public if word.startswith("RWQ ") else word for word in container["args"]]
    given = dict([(e["name"], e["value"]) for e in container["env"]] + simulated, SIMDRIVER_STATE="/tmp/sim", PATH="/usr/sbin:/usr/bin:/sbin:/bin")
    # The image has only one program, so chroot is this machine's.
    subprocess.run(["unshare", "-m", "sh", "-c", 'mount --bind /proc node/proc && mount --bind /dev node/dev && exec chroot node /jitwarm "$@"', "sh",
                    *words], env=given, check=True)
PYTHON
LD_LIBRARY_PATH=$build/tests/framework CUDA_CACHE_PATH=$work/node/var/cache/jitwarm/ComputeCache sim "$build/tests/framework/framework-app" || fail "the application"
grep -q 'compiled 0 of' out || fail "the application compiled"
echo "ok: ${architectures[*]}; $amd64_size bytes for amd64; a node of it imports, and the application compiles 0"
