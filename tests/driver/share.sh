#!/bin/bash
# share.sh BUILD-FOLDER DRIVER-VERSION   a real driver on the phantom GPU, and a registry
#
# One machine primes the sample framework and pushes. Another one, with a state of its own, another host name and (as root)
# another account, pulls it, and its first start compiles nothing; so does a third one with prime --from.
# Exit status: 0; 1 if something does not hold; 77 if a driver is not at hand.
set -uo pipefail

[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/../accounts.sh"
need_driver "$version"
framework=$build/tests/framework
[ -e "$framework/libsample_framework.so" ] || { echo "the sample framework is not built"; exit 77; }
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|SSL_CERT_FILE|REGISTRY_AUTH_FILE|DOCKER_CONFIG|XDG_RUNTIME_DIR)=' | tr -d =)
export no_proxy='*'
server= open=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$scratch" ${open:+"$open"}' EXIT
mkdir "$scratch/registry" "$scratch/a" "$scratch/b"
python3 "$here/../share/registry.py" "$scratch/registry" >"$scratch/said" 2>&1 &
server=$!
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
	mkdir -m 777 "$open/b" "$open/c"
else
	open=$scratch/b
	mkdir "$open/b" "$open/c"
fi
elsewhere=()
unshare --uts true 2>/dev/null && elsewhere=(unshare --uts sh -c 'hostname elsewhere; exec "$@"' sh)
there() { timeout 600 "$root/scripts/with-driver.sh" -B "$build" -d "$version" sm_86 -- "${elsewhere[@]}" "${as[@]}" "$@" >"$scratch/out" 2>"$scratch/err"; }
for way in pull prime; do
	folder=$open/${way/pull/b}
	folder=${folder/prime/c}
	export HOME=$folder JITWARM_STATE=$folder/state CUDA_CACHE_PATH=$folder/cache
	there "$build/src/jitwarm" key trust "$public" || { cat "$scratch/err"; fail "key trust"; }
	if [ $way = pull ]; then
		there "$build/src/jitwarm" pull --insecure "$place" "$build/tests/framework/libsample_framework.so" || { cat "$scratch/out" "$scratch/err"; fail "pull, which was pushed as $(grep PUT.*manifests "$scratch/registry/log")"; }
	else
		there "$build/src/jitwarm" prime --from "$place" --insecure --json "$build/tests/framework/libsample_framework.so" || { cat "$scratch/err"; fail "prime"; }
		cp "$scratch/out" "$scratch/json"
		so 'd["compiled"] == 0 and d["from_registry"]["packs"][0]["import"]["added"] > 4'
	fi
	there "$build/tests/framework/framework-app" || { cat "$scratch/out" "$scratch/err"; fail "the application"; }
	tail -1 "$scratch/out" | grep -q '^compiled 0 of ' || { cat "$scratch/out"; fail "its first start compiled, after $way"; }
	(cd "$scratch/cache-a" && find . -type f ! -name index -exec cmp {} "$CUDA_CACHE_PATH/{}" \;) | grep -q . && fail "entries differ"
done
echo "warm under $version without compiling, after pull and after prime --from"
