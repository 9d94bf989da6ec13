#!/bin/bash
# share.sh BUILD-FOLDER DRIVER-VERSION [XGBOOST-VERSION]   a real driver on the phantom GPU, a registry, a directory, a web server and an object store
#
# One machine primes the sample framework, shares it and pushes. Another one, with a state of its own, another host name and (as
# root) another account, pulls it, and its first start compiles nothing; so do others with prime --share from
# each place (a directory; nginx and moto where they are at hand). With XGBOOST-VERSION, this is done with that library, as
# tests/real/first_start.sh has unpacked it, and Debian's docker-registry; then the times are printed. It takes minutes.
# Exit status: 0; 1 if something does not hold; 77 if a driver or the library is not at hand.
set -uo pipefail

[ $# = 2 ] || [ $# = 3 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/../accounts.sh"
. "$here/../share/places.sh"
need_driver "$version"
xgboost=${3-} library=$build/tests/framework/libsample_framework.so limit=600
if [ -n "$xgboost" ]; then
	library=${JITWARM_FRAMEWORKS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/frameworks}/extracted/xgboost-$xgboost/xgboost/lib/libxgboost.so
	# Its training looks for a library by its own place.
	limit=3600 program=tests/real/train_xgboost around=${library%/xgboost/lib/*}
	command -v docker-registry >/dev/null || { echo "no docker-registry"; exit 77; }
else
	program=tests/framework/framework-app
fi
for file in "$library" "$build/$program"; do [ -e "$file" ] || { echo "no $file"; exit 77; }; done
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|AWS_[A-Z_0-9]*|SSL_CERT_FILE|REGISTRY_AUTH_FILE|DOCKER_CONFIG|XDG_RUNTIME_DIR)=' | tr -d =)
export no_proxy='*' JITWARM_PLAIN_HTTP=localhost
open=
trap 'for server in "${servers[@]}"; do kill "$server"; done; wait; rm -rf "$scratch" ${open:+"$open"}' EXIT
mkdir "$scratch/a" "$scratch/b"
if [ -n "$xgboost" ]; then
	start_registry "$scratch/registry" || { echo "no registry"; exit 77; }
else
	mkdir "$scratch/registry"
	python3 "$here/../share/registry.py" "$scratch/registry" >"$scratch/said" 2>&1 &
	servers+=($!)
	end=$((SECONDS + 60))
	until [ -s "$scratch/registry/port" ]; do [ $SECONDS -lt $end ] || { cat "$scratch/said"; echo "no registry"; exit 77; }; sleep 0.05; done
	registry=127.0.0.1:$(cat "$scratch/registry/port")
fi
place=oci://$registry/good/lab
ln -s "$library" "$scratch/a/"
first=$scratch/a/$(basename "$library")
tell() { [ -z "$xgboost" ] || echo "$*"; }

# The first machine
export JITWARM_STATE=$scratch/state-a CUDA_CACHE_PATH=$scratch/cache-a
jitwarm 0 key generate --no-passphrase
public=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$scratch/json")
# It compiles for each place: only what is compiled is put there. A web server's objects are a directory's, and XGBoost's, which take minutes,
# are the store's, too.
mkdir -p "$scratch/place"
declare -A places=()
start_dav "$scratch/dav" && places[web]=$dav/lab || places[directory]=$scratch/place
start_s3 "$scratch/s3" && places[store]=s3://lab/fleet
for way in "${!places[@]}"; do
	[ -z "$xgboost" ] || [ "$way" != store ] || continue
	rm -rf "$scratch/cache-a"
	jitwarm 0 prime --no-store --share "${places[$way]}" --sign "$first"
	so 'd["shared"]["placed"] == d["compiled"] > 4 and not d["shared"].get("trouble")'
	tell "the first one: $(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print("%d compiled and put there in %.1f s (%.1f s of processor time), %.1f MB" % (d["compiled"], d["seconds"], d["compile_cpu_seconds"], d["shared"]["placed_bytes"] / 1e6))' "$scratch/json"), $way"
done
jitwarm 0 push --sign "$place" "$first"
so 'not d["packs"][0]["missing"] and d["packs"][0]["entries"] > 4'
[ -z "${places[web]:-}" ] || cp -r "$scratch/dav/data/lab/." "$scratch/place"
if [ -n "$xgboost" ] && [ -n "${places[store]:-}" ]; then
	(cd "$scratch/place" && find v1 -type f -exec curl -sf -o /dev/null -T {} "$AWS_ENDPOINT_URL/lab/fleet/{}" \;) || fail "nothing can be put into the store"
fi

# The second one: everything that it needs where another account may read it, the framework at another path
as=()
if open=$(folder_for_all); then
	as=("${as_other[@]}")
	mkdir "$open/build" "$open/drivers"
	copy_for_all "$build" "$open/build" src/jitwarm tests/phantom/phantom{.so,-probe} tests/framework/libsample_framework.so "$program" &&
		cp -r "${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}/$version" "$open/drivers/" && chmod -R a+rX "$open/drivers" ||
		fail "copying for another account" # the library's name tells the driver's release: its links stay
	build=$open/build
	export JITWARM_DRIVERS=$open/drivers
	mode=777
else
	open=$scratch/b mode=700
fi
mkdir -m $mode "$open"/{pull,directory,web,store}
mv "$scratch/place" "$open/place" && chmod -R a+rX "$open/place"
places[directory]=$open/place
elsewhere=()
unshare --uts true 2>/dev/null && elsewhere=(unshare --uts sh -c 'hostname elsewhere; exec "$@"' sh)
there() { timeout $limit "$root/scripts/with-driver.sh" -B "$build" -d "$version" sm_86 -- "${elsewhere[@]}" "${as[@]}" "$@" >"$scratch/out" 2>"$scratch/err"; }
sample=$build/tests/framework/libsample_framework.so app=("$build/$program")
if [ -n "$xgboost" ]; then
	cp -rL "$around" "$open/lib" && chmod -R a+rX "$open/lib" || fail "copying XGBoost"
	sample=$open/lib/xgboost/lib/$(basename "$library")
	app+=("$sample")
fi
entries() { (cd "$CUDA_CACHE_PATH" && find . -type f -path './?/?/??????????????' -printf '%p %s %T@\n' | sort); }
# Nothing is compiled: no entry is added or written again, and the sample says so. XGBoost's training ends with 2 on the phantom, after all is loaded.
starts_warm() {
	local status=0 before
	before=$(entries)
	there "${app[@]}" || status=$?
	[ "$(entries)" = "$before" ] || { echo "entries were made"; return 1; }
	[ -z "$xgboost" ] || { [ $status = 2 ]; return; }
	[ $status = 0 ] && tail -1 "$scratch/out" | grep -q '^compiled 0 of '
}
for way in pull "${!places[@]}"; do
	folder=$open/$way
	export HOME=$folder JITWARM_STATE=$folder/state CUDA_CACHE_PATH=$folder/cache
	there "$build/src/jitwarm" key trust "$public" || { cat "$scratch/err"; fail "key trust"; }
	case $way in
	pull) more=(pull "$place" "$sample") good='d["packs"][0]["import"]["added"] > 4' ;;
	*) more=(prime --share "${places[$way]}" "$sample") good='d["compiled"] == 0 and d["shared"]["fetched"] > 4 and not d["shared"]["refused"]' ;;
	esac
	began=$(date +%s%N)
	there "$build/src/jitwarm" "${more[@]}" --json || { cat "$scratch/out" "$scratch/err"; fail "$way; the pack was pushed as $(grep PUT.*manifests "$scratch/registry/log" 2>/dev/null)"; }
	cp "$scratch/out" "$scratch/json"
	so "$good"
	tell "another one: $(entries | wc -l) entries in $((($(date +%s%N) - began) / 1000000)) ms, $way"
	starts_warm || { cat "$scratch/out" "$scratch/err"; fail "its first start failed or compiled, after $way"; }
	(cd "$scratch/cache-a" && find . -type f ! -name index -exec cmp {} "$CUDA_CACHE_PATH/{}" \;) | grep -q . && fail "entries differ"
done
echo "warm under $version without compiling, from: pull ${!places[*]}"
