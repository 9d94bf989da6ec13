# push and pull carry packs through Debian's docker-registry by skopeo, take no pack that is not trusted, and say what is missing.
has_command push || skip "no such command yet"
is_wine && { PATH= run 2 push oci://127.0.0.1:1/a "$sample"; exit 0; }
command -v docker-registry >/dev/null && command -v skopeo >/dev/null || skip "no docker-registry or skopeo"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
. "$cases/../../share/places.sh"
trap 'kill "${servers[@]}" 2>/dev/null' EXIT
start_registry "$work/registry"
varies tree ^registry/ # the registry's own files
site=$registry tag=$(basename "$sample")-sm_86-550.200.01
export JITWARM_PLAIN_HTTP=localhost
tags() { skopeo list-tags --tls-verify=false "docker://$site/$1" 2>/dev/null | tr -d ' ",' | sed '1,/Tags/d; /[]}]/d' | sort | paste -sd ' '; }

run 64 push
err_has "name a registry: oci://HOST/REPOSITORY, or set one for all commands: “jitwarm config registry oci://HOST/REPOSITORY”"
for bad in "" host http://host/a oci://host.x oci://host.x/ oci://Host.x/UPPER oci://host.x/a:-x oci://host.x/a:b:c oci://host.x/a@sha256:x oci://-x.y/a oci://registry/lab/cache \
	"oci://host.x/a b" oci://h%2fs.t/a oci://host.x/../a; do
	run 64 push "$bad"
	err_one_line
done

machine maker
run 3 push "oci://$site/lab/cache" "$sample"
err_has "the cache is empty: run “jitwarm prime” first"
run 0 prime "$sample"
run 0 key generate --json
public=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$out")

# An empty registry is no failure.
run 1 pull "oci://$site/lab/cache" "$sample"
err_has "$site/lab/cache is empty (no tag $tag): compile here with “jitwarm prime”, and upload the results with “jitwarm push”"
err_one_line
nothing_left
run 0 push --sign "oci://$site/lab/cache" "$sample" --json
json 'd["schema"] == "jitwarm.push/1" and len(d["packs"]) == 1 and d["packs"][0]["entries"] == 8 and d["packs"][0]["signed_by"]'
json 'd["packs"][0]["tag"] == "'"$tag"'" and d["packs"][0]["targets"] == "sm_86"'
nothing_left
# The commands name a tag, the whole cache, and several names in one tag.
run 0 push "oci://$site/lab/cache:v1" "$sample"
out_has "lab/cache:v1: 8 entries for sm_86"
run 0 push "oci://$site/lab/cache"
# A file that is no pack is not copied first, however large it claims to be.
truncate -s 1G "$work/sparse.jwpack"
(ulimit -f 100000 && run 3 push "oci://$site/lab/cache:sparse" "$work/sparse.jwpack" && err_has "sparse.jwpack: not a pack, or damaged") || exit 1
nothing_left
mkdir "$work/my lib" && cp "$sample" "$work/my lib/lib+x.so"
run 0 push "oci://$site/lab/cache" "$work/my lib/lib+x.so" "$sample"
[[ $(tags lab/cache) == "cache-sm_86-550.200.01 lib-x.so_$tag $tag v1" ]] || fail "tags: $(tags lab/cache)"

# Another machine takes nothing without trust, and everything with it; then it compiles nothing.
machine other
run 3 pull "oci://$site/lab/cache" "$sample"
err_has "jitwarm key trust"
err_one_line
nothing_imported
run 0 key trust "$public"
run 0 pull --dry-run "oci://$site/lab/cache" "$sample"
out_has "8 entries would be added"
nothing_imported
run 0 pull "oci://$site/lab/cache" "$sample" --json
json 'd["schema"] == "jitwarm.pull/1" and d["packs"][0]["import"]["added"] == 8 and d["packs"][0]["import"]["signed_by"] and not d["failed"]'
nothing_left
app_compiles 0
# Unsigned packs are taken only if that is allowed.
machine unsigned
run 3 pull "oci://$site/lab/cache:v1"
err_has "is not signed; upload a signed one"
nothing_imported
run 0 pull --allow-unsigned "oci://$site/lab/cache:v1"
app_compiles 0
varies text 'has no tag' # the registry lists its tags in any order
run 1 pull "oci://$site/lab/cache" torch
err_has "lab/cache has no tag torch-sm_86-550.200.01, but "
err_has "cache-sm_86-550.200.01"
err_has ": name one of these after a “:”;"
err_one_line

# A pack is pushed with its signature.
machine maker
run 64 push --sign "oci://$site/lab/packs:v1" "$work/lab.jwpack"
err_has "an existing pack cannot be signed"
run 3 push "oci://$site/lab/packs:v1" "$work/lab.jwpack"
run 0 export -o "$work/lab.jwpack" --sign
run 0 push "oci://$site/lab/packs" "$work/lab.jwpack"
out_has "lab/packs:lab-sm_86-550.200.01: 8 entries"
run 64 push "oci://$site/lab/packs:v1" "$work/lab.jwpack" "$sample"
machine packed
run 0 key trust "$public"
run 0 pull "oci://$site/lab/packs:lab-sm_86-550.200.01"
out_has "signed by"
app_compiles 0

# The tag and the state directory have letters that skopeo does not accept in the name of a layout.
run 0 push "oci://$site/lab/odd:_a..b" "$work/lab.jwpack"
JITWARM_STATE="$work/odd:state@here" run 0 pull --allow-unsigned --dry-run "oci://$site/lab/odd:_a..b"
out_has "8 entries"

# If there is no space, nothing is imported.
machine full
run 0 key trust "$public"
for number in 1 2 3 4 5 6; do printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other%d()\n{\n\tret;\n}\n' "$number" >"$work/other$number.ptx"; done
run 0 prime "$work"/other?.ptx
limit=$(($(find "$CUDA_CACHE_PATH" "$work/machines/other/cache" -path '*/?/?/*' -type f -printf '%s\n' | awk '{ sum += $1 - 28 } END { print sum }') - 100))
CUDA_CACHE_MAXSIZE=$limit run 3 pull "oci://$site/lab/cache" "$sample"
err_has "or free space with “jitwarm cache prune”"

# Strangers push an image, two packs, a changed pack, and a file that is not a pack.
machine stranger
mkdir -p "$work/strange/blobs/sha256"
# strange TAG LAYER-TYPE…: pushes an image whose layers are a few bytes each, or $pack if it exists
strange() {
	python3 - "$work/strange" "${pack-}" "$@" <<-'P' && skopeo --insecure-policy copy --quiet --dest-tls-verify=false "oci:$work/strange:$1" "docker://$site/lab/strange:$1" || fail "strange $1"
		import hashlib, json, sys
		folder, pack, tag, types = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
		def blob(data):
		    name = hashlib.sha256(data).hexdigest()
		    open(folder + "/blobs/sha256/" + name, "wb").write(data)
		    return {"digest": "sha256:" + name, "size": len(data)}
		data = open(pack, "rb").read() if pack else None
		manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		            "config": {"mediaType": "application/vnd.oci.empty.v1+json", **blob(b"{}")},
		            "layers": [{"mediaType": kind, **blob(data or b"layer %d" % i)} for i, kind in enumerate(types)]}
		index = {"schemaVersion": 2, "manifests": [{"mediaType": manifest["mediaType"], **blob(json.dumps(manifest).encode()),
		                                            "annotations": {"org.opencontainers.image.ref.name": tag}}]}
		json.dump(index, open(folder + "/index.json", "w"))
		open(folder + "/oci-layout", "w").write('{"imageLayoutVersion": "1.0.0"}')
	P
}
pack_type=application/vnd.jitwarm.pack.v1.tar+zstd
strange image application/vnd.oci.image.layer.v1.tar
strange two $pack_type $pack_type
strange none $pack_type
for name in image two; do
	run 3 pull --allow-unsigned "oci://$site/lab/strange:$name"
	err_has "lab/strange:$name: holds something other than a jitwarm pack"
done
run 3 pull --allow-unsigned "oci://$site/lab/strange:none"
err_has "not a pack"
cp "$work/lab.jwpack" "$work/cut.jwpack" && truncate -s -100 "$work/cut.jwpack"
pack=$work/cut.jwpack strange cut $pack_type
run 3 pull --allow-unsigned "oci://$site/lab/strange:cut"
nothing_imported
nothing_left

# Nobody listens, there is no TLS, a pull is killed, and neither carrier program is installed.
run 3 pull "oci://127.0.0.1:9/lab/cache:v1"
err_has "skopeo: "
err_one_line
JITWARM_PLAIN_HTTP='' run 3 pull "oci://$site/lab/cache:v1"
err_has "plain HTTP needs JITWARM_PLAIN_HTTP=$site"
# The server answers a TLS handshake without a status line.
python3 -u -m http.server --bind 127.0.0.1 0 --directory "$work/bin" >"$work/plain" 2>&1 &
plain=$!
await grep -q 'port [0-9]' "$work/plain"
port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$work/plain" | head -1)
JITWARM_PLAIN_HTTP='' run 3 pull "oci://127.0.0.1:$port/lab/cache:v1"
kill "$plain"
err_has "plain HTTP needs JITWARM_PLAIN_HTTP=127.0.0.1:$port"
# Ctrl-C and a kill end the carrier program, too, and leave only a folder that the next run removes.
mkdir "$work/slow" && printf '#!/bin/sh\necho $$ >"%s/pid"\nexec sleep 300\n' "$work/slow" >"$work/slow/skopeo" && chmod +x "$work/slow/skopeo"
has_begun() { [[ -s $work/slow/pid ]]; }
gone() { ! kill -0 "$(cat "$work/slow/pid")" 2>/dev/null; }
for signal in INT KILL; do
	rm -f "$work/slow/pid"
	PATH=$work/slow:$PATH timeout --foreground -s KILL 100 "$build/src/jitwarm" push "oci://$site/lab/cache:v1" "$work/lab.jwpack" >"$out" 2>"$err" </dev/null &
	begun=$! ended=0
	await has_begun
	pkill -$signal -P $begun || kill -$signal $begun
	wait $begun 2>/dev/null || ended=$?
	[[ $signal == KILL || $ended == 130 ]] || fail "ended with $ended: $(cat "$err")"
	await gone
done
# A registry's answer is limited in size before it is examined.
mkdir "$work/much" && printf '#!/bin/sh\nfor last; do :; done\nlayout=${last#oci:}\nmkdir -p "${layout%%:pack}"\ntruncate -s 20G "${layout%%:pack}/blob"\nexec sleep 100\n' >"$work/much/skopeo" && chmod +x "$work/much/skopeo"
PATH=$work/much:$PATH run 3 pull "oci://$site/lab/cache:v1"
err_has "$site/lab/cache: skopeo downloaded more than 18 GiB"
err_one_line
nothing_left
mkdir "$work/bare"
JITWARM="${JITWARM% *} env PATH=$work/bare ${JITWARM##* }" run 2 pull "oci://$site/lab/cache:v1"
err_has "a registry needs skopeo or oras, and neither is on PATH"

# One of two packs is signed; its signature does not count for the other.
with_simdriver sm_86,sm_90
machine pair
run 0 key trust "$public"
run 0 prime "$sample"
JITWARM_STATE=$work/machines/maker/state run 0 push --sign "oci://$site/lab/pair" "$sample"
run 0 export -o "$work/second.jwpack" --arch sm_90
run 0 push "oci://$site/lab/pair:${tag/sm_86/sm_90}" "$work/second.jwpack"
CUDA_CACHE_PATH=$work/machines/both run 1 pull "oci://$site/lab/pair" "$sample"
err_has "${tag/sm_86/sm_90}: is not signed; upload a signed one"
