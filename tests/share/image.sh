#!/bin/bash
# image.sh BUILD-FOLDER   the image of scripts/make-image.py in Debian's docker-registry, and a node that runs it
#
# The image goes into the registry and back by skopeo. In its files alone, with a driver's library where NVIDIA's toolkit mounts it,
# the arguments of packaging/kubernetes/daemonset.yaml fill a cache from a pack in the registry, with which the sample application starts warm.
# The program is that of build/linux-x86_64 (scripts/build-linux.sh) where it is there, which makes at most 10 MB; else the build's.
# Exit status 1 if a case fails, 77 where root or a program is missing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) root=$(cd "$here/../.." && pwd)
for program in docker-registry skopeo python3; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces"; exit 77; }
/usr/bin/python3 -c 'import yaml' 2>/dev/null || { echo "skipped: no PyYAML"; exit 77; }
! grep -q __asan < <(nm -D "$build/src/jitwarm" 2>/dev/null) || { echo "skipped: a program with sanitizers"; exit 77; }
. "$here/places.sh"
work=$(mktemp -d)
trap 'kill "${servers[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work" || exit 3
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|REGISTRY_AUTH_FILE|DOCKER_CONFIG|XDG_[A-Z_]*|CUDA_[A-Z_]*)=' | tr -d =)
export no_proxy='*' HOME=$work/home NO_COLOR=1 JITWARM_PLAIN_HTTP=localhost
mkdir home
fail() { echo "FAILED: $*"; cat out err 2>/dev/null; exit 1; }
port=$(free_port)
site=127.0.0.1:$port
printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "%s"}\n' "$work/data" "$site" >registry.yml
docker-registry serve registry.yml >registry.log 2>&1 &
servers+=($!)
await_port "$port" $! registry.log || exit 77

program=$root/build/linux-x86_64/jitwarm most=10000000
if [ ! -x "$program" ]; then
	program=$work/jitwarm most=
	strip -o "$program" "$build/src/jitwarm" || fail "strip"
fi
"$root/scripts/make-image.py" "$program" image >out 2>err || fail "make-image.py"
size=$(cat out)
read -r packed unpacked < <(sed -E 's/.*: ([0-9]+) bytes packed, ([0-9]+) unpacked/\1 \2/' out)
[ -z "$most" ] || [ "$unpacked" -le $most ] || fail "more than $most bytes"
"$root/scripts/make-image.py" "$program" again >out && diff -r image again >err || fail "not the same bytes again"
skopeo --insecure-policy copy --dest-tls-verify=false oci:image:latest "docker://$site/jitwarm:latest" >out 2>err || fail "the image is not pushed"
skopeo --insecure-policy copy --src-tls-verify=false "docker://$site/jitwarm:latest" oci:back:latest >out 2>err || fail "the image does not come back"
/usr/bin/python3 - <<'PYTHON' || fail "the image that came back"
import json, pathlib, tarfile
read = lambda digest: pathlib.Path("back/blobs/sha256", digest[7:])
manifest = json.loads(read(json.loads(pathlib.Path("back/index.json").read_text())["manifests"][0]["digest"]).read_text())
json.loads(read(manifest["config"]["digest"]).read_text())["config"]["Entrypoint"] == ["/usr/bin/jitwarm"] or exit(1)
for layer in manifest["layers"]:
    tarfile.open(read(layer["digest"])).extractall("node")
PYTHON

if command -v umoci >/dev/null; then
	umoci unpack --rootless --image back:latest bundle >out 2>err && cmp bundle/rootfs/usr/bin/jitwarm "$program" >>err || fail "umoci does not unpack it"
fi

# A machine makes the pack
sample=$build/tests/framework/libsample_framework.so
sim() { "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$@" >out 2>err; }
export CUDA_CACHE_PATH=$work/maker/cache JITWARM_STATE=$work/maker/state
sim "$build/src/jitwarm" prime "$sample" && sim "$build/src/jitwarm" key generate --no-passphrase --json || fail "the maker"
public=$(python3 -c 'import json; print(json.load(open("out"))["keys"][0]["public_key"])')
sim "$build/src/jitwarm" push --sign "oci://$site/lab/cache:torch-sm_86-550.163.01" "$sample" || fail "push"

# The node: the toolkit's part, and what the DaemonSet's init containers say
cp -L "$build/tests/simdriver/lib/libcuda.so.1" "$(echo node/usr/lib/*/libc.so.6 | sed 's|[^/]*$||')libcuda.so.1"
mkdir -p node/proc node/dev node/var/cache/jitwarm
sim env || fail "the environment"
/usr/bin/python3 - "$root/packaging/kubernetes/daemonset.yaml" "$public" "$site" <<'PYTHON' >said 2>err || { cat said; fail "the DaemonSet's init containers"; }
import json, pathlib, shutil, subprocess, sys, yaml
manifest, public, site = sys.argv[1:]
simulated = [line.split("=", 1) for line in open("out").read().splitlines() if line.startswith(("SIMDRIVER_GPUS=", "JITWARM_PCI_DEVICES="))]
for container in yaml.safe_load(open(manifest))["spec"]["template"]["spec"]["initContainers"]:
    if "/oras:" in container["image"]:
        # As oras does, which is not at hand: each layer under its title
        folder, name = container["args"][2], container["args"][3].replace("registry.example", site)
        subprocess.run(["skopeo", "--insecure-policy", "copy", "--quiet", "--src-tls-verify=false", "docker://" + name, "oci:pulled:x"], check=True)
        blob = lambda digest: pathlib.Path("pulled/blobs/sha256", digest[7:])
        manifest = json.loads(blob(json.loads(pathlib.Path("pulled/index.json").read_text())["manifests"][0]["digest"]).read_text())
        pathlib.Path("node" + folder).mkdir(parents=True)
        for layer in manifest["layers"]:
            shutil.copy(blob(layer["digest"]), "node" + folder + "/" + layer["annotations"]["org.opencontainers.image.title"])
        continue
    words = [public if word.startswith("RWQ ") else word.replace("registry.example", site) for word in container["args"]]
    given = dict([(e["name"], e["value"]) for e in container["env"]] + simulated, JITWARM_PLAIN_HTTP="localhost", SIMDRIVER_STATE="/tmp/sim", PATH="/usr/sbin:/usr/bin:/sbin:/bin")
    # The image has no program but one: chroot is this machine's.
    subprocess.run(["unshare", "-m", "sh", "-c", 'mount --bind /proc node/proc && mount --bind /dev node/dev && exec chroot node /usr/bin/jitwarm "$@"', "sh",
                    *words], env=given, check=True)
PYTHON
CUDA_CACHE_PATH=$work/node/var/cache/jitwarm/ComputeCache sim "$build/tests/framework/framework-app" || fail "the application"
grep -q 'compiled 0 of' out || fail "the application compiled"
echo "ok: $size; a node of it imports, and the application compiles 0"
