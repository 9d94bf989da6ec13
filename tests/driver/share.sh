#!/bin/bash
# share.sh BUILD-FOLDER DRIVER-VERSION   a real driver on the phantom GPU, a registry, a directory, a web server and an object store
#
# One machine primes the sample framework, pushes, and shares it. Another one, with a state of its own, another host name and (as
# root) another account, pulls it, and its first start compiles nothing; so do others with prime --from and prime --share from
# each place (a directory; nginx and moto where they are at hand).
# Exit status: 0; 1 if something does not hold; 77 if a driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/../accounts.sh"
. "$here/../share/places.sh"
need_driver "$version"
framework=$build/tests/framework
[ -e "$framework/libsample_framework.so" ] || { echo "the sample framework is not built"; exit 77; }
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|AWS_[A-Z_0-9]*|SSL_CERT_FILE|REGISTRY_AUTH_FILE|DOCKER_CONFIG|XDG_RUNTIME_DIR)=' | tr -d =)
export no_proxy='*'
open=
trap 'for server in "${servers[@]}"; do kill "$server"; done; wait; rm -rf "$scratch" ${open:+"$open"}' EXIT
mkdir "$scratch/registry" "$scratch/a" "$scratch/b"
python3 "$here/../share/registry.py" "$scratch/registry" >"$scratch/said" 2>&1 &
servers+=($!)
end=$((SECONDS + 60))
until [ -s "$scratch/registry/port" ]; do [ $SECONDS -lt $end ] || { cat "$scratch/said"; echo "no registry"; exit 77; }; sleep 0.05; done
place=oci://127.0.0.1:$(cat "$scratch/registry/port")/good/lab
cp "$framework"/{libsample_framework.so,framework-app} "$scratch/a"

# The first machine
export JITWARM_STATE=$scratch/state-a CUDA_CACHE_PATH=$scratch/cache-a
jitwarm 0 prime "$scratch/a/libsample_framework.so"
jitwarm 0 key generate --no-passphrase
public=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$scratch/json")
jitwarm 0 push --insecure --sign "$place" "$scratch/a/libsample_framework.so"
so 'not d["packs"][0]["missing"] and d["packs"][0]["entries"] > 4'
# It compiles once more for each place: only what is compiled is put there. A web server's objects are a directory's.
mkdir -p "$scratch/place"
declare -A places=()
start_dav "$scratch/dav" && places[web]=$dav/lab || places[directory]=$scratch/place
start_s3 "$scratch/s3" && places[store]=s3://lab/fleet
for way in "${!places[@]}"; do
	rm -rf "$scratch/cache-a"
	jitwarm 0 prime --no-store --share "${places[$way]}" --insecure --sign "$scratch/a/libsample_framework.so"
	so 'd["shared"]["placed"] == d["compiled"] > 4 and not d["shared"].get("trouble")'
done
[ -z "${places[web]:-}" ] || cp -r "$scratch/dav/data/lab/." "$scratch/place"

# The second one: everything that it needs where another account may read it, the framework at another path
as=()
if open=$(folder_for_all); then
	as=("${as_other[@]}")
	mkdir "$open/build" "$open/drivers"
	copy_for_all "$build" "$open/build" src/jitwarm tests/phantom/phantom{.so,-probe} tests/framework/{libsample_framework.so,framework-app} &&
		cp -r "${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}/$version" "$open/drivers/" && chmod -R a+rX "$open/drivers" ||
		fail "copying for another account" # the library's name tells the driver's release: its links stay
	build=$open/build
	export JITWARM_DRIVERS=$open/drivers
	mode=777
else
	open=$scratch/b mode=700
fi
mkdir -m $mode "$open"/{pull,prime,directory,web,store}
mv "$scratch/place" "$open/place" && chmod -R a+rX "$open/place"
places[directory]=$open/place
elsewhere=()
unshare --uts true 2>/dev/null && elsewhere=(unshare --uts sh -c 'hostname elsewhere; exec "$@"' sh)
there() { timeout 600 "$root/scripts/with-driver.sh" -B "$build" -d "$version" sm_86 -- "${elsewhere[@]}" "${as[@]}" "$@" >"$scratch/out" 2>"$scratch/err"; }
app=$build/tests/framework/framework-app sample=$build/tests/framework/libsample_framework.so
for way in pull prime "${!places[@]}"; do
	folder=$open/$way
	export HOME=$folder JITWARM_STATE=$folder/state CUDA_CACHE_PATH=$folder/cache
	there "$build/src/jitwarm" key trust "$public" || { cat "$scratch/err"; fail "key trust"; }
	case $way in
	pull) more=(pull --insecure "$place" "$sample") good='d["packs"][0]["import"]["added"] > 4' ;;
	prime) more=(prime --from "$place" --insecure "$sample") good='d["compiled"] == 0 and d["from_registry"]["packs"][0]["import"]["added"] > 4' ;;
	*) more=(prime --share "${places[$way]}" --insecure "$sample") good='d["compiled"] == 0 and d["shared"]["fetched"] > 4 and not d["shared"]["refused"]' ;;
	esac
	there "$build/src/jitwarm" "${more[@]}" --json || { cat "$scratch/out" "$scratch/err"; fail "$way; the pack was pushed as $(grep PUT.*manifests "$scratch/registry/log")"; }
	cp "$scratch/out" "$scratch/json"
	so "$good"
	there "$app" || { cat "$scratch/out" "$scratch/err"; fail "the application"; }
	tail -1 "$scratch/out" | grep -q '^compiled 0 of ' || { cat "$scratch/out"; fail "its first start compiled, after $way"; }
	(cd "$scratch/cache-a" && find . -type f ! -name index -exec cmp {} "$CUDA_CACHE_PATH/{}" \;) | grep -q . && fail "entries differ"
done
echo "warm under $version without compiling, from: pull prime ${!places[*]}"
