# push and pull, with an honest registry
has_command push || skip "no such command yet"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
start_registry "$work/registry"

# Names
machine maker
run 64 push
run 64 push localhost/lab
err_has "oci://"
for bad in oci://host oci://host/UPPER oci://host/a..b oci://host/a:b:c oci://host/a:-x oci://ann:pw@host/a oci://host/a@sha256:abc oci://host:0/a \
	"oci://host/a@sha256:$(printf '%064d' 0)" oci://host/../a "oci://host/a b" oci://h%2fst/a; do
	run 64 push "$bad"
done
JITWARM_PLAIN_HTTP=localhost run 3 push "oci://$site/good/lab" "$sample"
err_one_line
run 3 push "oci://$site/good/lab" "$sample"

# By the plan's own tag
run 0 prime "$sample"
run 0 key generate --no-passphrase
JITWARM_PLAIN_HTTP=localhost run 0 push --sign "oci://$site/good/lab" "$sample" --json
json 'd["schema"] == "jitwarm.push/1" and len(d["packs"]) == 1 and d["packs"][0]["plan"][:2] == "p-" and len(d["packs"][0]["plan"]) == 42'
json 'd["packs"][0]["entries"] == 8 and not d["packs"][0]["missing"] and d["traffic"]["blobs_sent"] == 3 and not d["packs"][0]["there"]'
public=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["packs"][0]["public_key"])' "$out")
# … also where a name leads to no file, which the exit status says
JITWARM_PLAIN_HTTP=localhost run 1 push --sign "oci://$site/good/lab" "$sample" "$work/none.so" --json
json 'd["packs"][0]["there"] and not d["packs"][0]["missing"]'
err_has "none.so: "
# … and twice: nothing is uploaded again
JITWARM_PLAIN_HTTP=localhost run 0 push --sign "oci://$site/good/lab" "$sample" --json
json 'd["packs"][0]["there"] and d["traffic"]["sent_bytes"] == 0 and d["traffic"]["requests"] == 1'
# A human tag beside it is the same manifest
JITWARM_PLAIN_HTTP=localhost run 0 push --sign "oci://$site/good/lab:frame-1.0" "$sample" --json
json 'd["tag"] == "frame-1.0" and d["traffic"]["blobs_sent"] == 0'

# A signature of what the file was before is not published: nobody could pull it
run 0 export -o "$work/stale.jwpack" --sign
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/stale" "$work/stale.jwpack"
cp "$work/stale.jwpack.minisig" "$work/former.minisig"
run 0 export -o "$work/stale.jwpack" --best
mv "$work/former.minisig" "$work/stale.jwpack.minisig"
: >"$log"
JITWARM_PLAIN_HTTP=localhost run 3 push "oci://$site/good/stale" "$work/stale.jwpack"
err_has "stale.jwpack.minisig: is not the signature of this file"
[[ $(requests .) == 0 ]] || fail "the registry was asked: $(cat "$log")"
JITWARM_PLAIN_HTTP=localhost run 0 push --sign "oci://$site/good/stale" "$work/stale.jwpack"

# Another machine: nothing without trust, all with it
machine other
JITWARM_PLAIN_HTTP=localhost run 3 pull "oci://$site/good/lab" "$sample"
err_has "jitwarm key trust"
err_one_line
nothing_imported
[[ $(requests "GET /v2/good/lab/blobs") == 1 ]] || fail "more than the signature was downloaded"
run 0 key trust "$public"
JITWARM_PLAIN_HTTP=localhost run 0 pull --dry-run "oci://$site/good/lab" "$sample"
out_has "8 entries would be added"
nothing_imported
# The driver tells its CUDA version itself: its release (550) does not say 13.0
JITWARM_STATE=$(native "$work/asked") SIMDRIVER_CUDA=13000 JITWARM_PLAIN_HTTP=localhost run "0|1|3" pull "oci://$site/good/empty" "$sample"
grep -Eq '"cuda":[[:space:]]*13000' "$work/asked/devices.json" || fail "the driver was not asked"
: >"$log"
JITWARM_PLAIN_HTTP=localhost run 0 pull "oci://$site/good/lab" "$sample" --json
json 'd["schema"] == "jitwarm.pull/1" and d["packs"][0]["import"]["added"] == 8 and d["packs"][0]["import"]["signed_by"] and not d["missed"]'
[[ $(requests "manifests") == 1 ]] || fail "one request does not tell whether there is one: $(cat "$log")"
nothing_left
app_compiles 0
# What was warm here and has to go for it is cold again
machine full
run 0 key trust "$public"
for number in 1 2 3 4 5 6; do printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other%d()\n{\n\tret;\n}\n' "$number" >"$work/other$number.ptx"; done
run 0 prime "$work"/other?.ptx
limit=$(($(find "$CUDA_CACHE_PATH" "$work/machines/other/cache" -path '*/?/?/*' -type f -printf '%s\n' | awk '{ sum += $1 - 28 } END { print sum }') - 100))
CUDA_CACHE_MAXSIZE=$limit JITWARM_PLAIN_HTTP=localhost run 3 pull "oci://$site/good/lab" "$sample"
err_has "or make room with “jitwarm cache prune”"
machine other
# A miss is one request, and no failure of the registry
: >"$log"
JITWARM_PLAIN_HTTP=localhost run 1 pull "oci://$site/good/empty" "$sample"
err_has "no pack of this plan: p-"
err_has "“jitwarm prime” compiles it here, and then “jitwarm push” puts it there"
[[ $(requests .) == 1 ]] || fail "a miss takes more than a request"
JITWARM_PLAIN_HTTP=localhost run 1 pull "oci://$site/good/lab:nothing"
JITWARM_PLAIN_HTTP=localhost run 64 pull "oci://$site/good/lab"
err_has "name the packages or files that the pack is for, or its tag: oci://HOST/REPOSITORY:TAG"
nobody_there() {
	JITWARM_PLAIN_HTTP=localhost run 3 pull "oci://127.0.0.1:9/good/lab:v1" --timeout 2s
	err_one_line
}
no_https() { run 3 pull "oci://$site/good/lab" "$sample" --timeout 2s; }
# A registry that is busy is asked again.
busy() { # KIND
	JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/$1/again" "$sample"
	machine "again-$1"
	JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/$1/again" "$sample"
}
beside nobody nobody_there
beside nobody no_https
for kind in 429 503; do beside maker busy "$kind"; done

# By tag, and by digest
machine by-tag
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/good/lab:frame-1.0" --json
json 'len(d["packs"]) == 1'
digest=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["packs"][0]["digest"])' "$out")
app_compiles 0
machine by-digest
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/good/lab@$digest"
app_compiles 0
# Of an index of 200 each comes in time, and all together do not
machine index-slow
JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned --timeout 500ms "oci://$site/index-slow/lab:many"
err_has "its manifests took more than 10 s, 20 times --timeout; give it more time"
app_compiles 8

# All that the cache holds
machine maker
JITWARM_PLAIN_HTTP=localhost run 64 push "oci://$site/good/whole"
err_has "or a tag by which a pull finds the whole cache"
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/whole:all" --json
json 'len(d["packs"]) == 1 and d["packs"][0]["entries"] == 8'
machine whole
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/good/whole:all"
app_compiles 0

# A pack, with the signature that it has
machine maker
run 0 export -o "$work/lab.jwpack" --sign
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/packs:v1" "$work/lab.jwpack"
JITWARM_PLAIN_HTTP=localhost run 64 push "oci://$site/good/packs:v1" "$work/lab.jwpack" "$sample"
JITWARM_PLAIN_HTTP=localhost run 3 push "oci://$site/good/packs:v1" "$work/none.jwpack"
# … but none without its PTX, nor where one is there already
thin=$cases/../../data/features/pack-1-thin.jwpack
JITWARM_PLAIN_HTTP=localhost run 3 push "oci://$site/good/packs:thin" "$(native "$thin")"
err_has "it requires “thin”"
machine other
JITWARM_PLAIN_HTTP=localhost run 0 pull "oci://$site/good/packs:v1"
out_has "signed by"
err_lacks "signed under"
python3 - "http://$site/v2/good/packs" "$thin" <<'P' || fail "no thin pack in the registry"
import hashlib, json, sys, urllib.request
def ask(way, data=None, method="GET"):
    return urllib.request.urlopen(urllib.request.Request(sys.argv[1] + way, data, {"Content-Type": manifest["mediaType"] if data else ""}, method=method))
manifest = {}
manifest = json.load(ask("/manifests/v1"))
pack = open(sys.argv[2], "rb").read()
manifest["layers"][0].update(digest="sha256:" + hashlib.sha256(pack).hexdigest(), size=len(pack))
where = ask("/blobs/uploads/", b"", "POST").headers["Location"].split("/good/packs")[1]
ask(where + "&digest=" + manifest["layers"][0]["digest"], pack, "PUT")
ask("/manifests/thin", json.dumps(manifest).encode(), "PUT")
P
machine thin
JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/good/packs:thin"
err_has "it requires “thin”"
nothing_imported
nothing_left

# Two architectures are an index, whoever comes first; each machine takes its own
machine maker
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/both:v1" "$sample"
one=$JITWARM
with_simdriver sm_70
machine volta
JITWARM_PLAIN_HTTP=localhost run 2 pull --allow-unsigned "oci://$site/good/both:v1"
run 0 prime "$sample"
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/both:v1" "$sample"
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/both:v1" "$sample" --json
json 'd["traffic"]["sent_bytes"] == 0'
machine volta-too
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/good/both:v1" --json
json 'len(d["packs"]) == 1 and d["packs"][0]["targets"] == "sm_70" and d["packs"][0]["import"]["refused"] == 0'
with_simdriver sm_86
machine ampere-too
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/good/both:v1" --json
json 'len(d["packs"]) == 1 and d["packs"][0]["targets"] == "sm_86"'
app_compiles 0
# … and one with GPUs of both kinds takes both
with_simdriver sm_70,sm_86
machine both
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/good/both:v1" --json
json 'sorted(p["targets"] for p in d["packs"]) == ["sm_70", "sm_86"] and all(p["import"]["added"] for p in d["packs"])'
with_simdriver sm_86
# … also where one machine's push meets another's
machine maker
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/tag-race/race:v1" "$sample"
machine race
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/good/race:v1"

# A pack with fewer entries does not take a fuller one's place
machine part
run "0|1" prime --budget-size 200k "$sample"
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/lab" "$sample" --json
json 'd["packs"][0]["fuller"] and d["packs"][0]["entries"] == 8'
JITWARM_PLAIN_HTTP=localhost run 1 push "oci://$site/good/part" "$sample" --json
json 'd["packs"][0]["missing"] > 0 and d["packs"][0]["entries"] + d["packs"][0]["missing"] == 8'

# How many a pack has is the word of whoever may push: more than its plan has keeps nobody from pushing the whole.
machine maker
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/part" "$sample" --json
json 'd["packs"][0]["entries"] == 8 and not d["packs"][0]["fuller"] and not d["packs"][0]["there"]'
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/lies" "$sample" --json
lie() { # ENTRIES
	python3 - "$site" "$out" "$1" <<-'END' || fail "the registry cannot be lied to"
		import json, sys, urllib.request
		url = "http://%s/v2/good/lies/manifests/%s" % (sys.argv[1], json.load(open(sys.argv[2]))["packs"][0]["plan"])
		kind = "application/vnd.oci.image.manifest.v1+json"
		text = urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": kind})).read().decode()
		text = json.loads(text)
		text["annotations"]["io.jitwarm.entries"] = sys.argv[3]
		urllib.request.urlopen(urllib.request.Request(url, json.dumps(text).encode(), {"Content-Type": kind}, method="PUT"))
	END
}
lie 99999
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/lies" "$sample" --json
json 'not d["packs"][0]["fuller"] and not d["packs"][0]["there"]'
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/good/lies" "$sample" --json
json 'd["packs"][0]["there"]'
machine part
lie 99999
JITWARM_PLAIN_HTTP=localhost run 1 push "oci://$site/good/lies" "$sample" --json
json 'not d["packs"][0]["fuller"]'

# Names and passwords: from docker's file, from podman's, from a helper, for a token or as they are
machine maker
for kind in basic bearer; do
	JITWARM_PLAIN_HTTP=localhost run 3 push "oci://$site/$kind/auth" "$sample"
	err_lacks "cret"
done
err_has "status 401"
docker_file "$ann"
for kind in basic bearer bearer-expires; do
	machine maker
	JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/$kind/auth" "$sample"
	machine "auth-$kind"
	JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/$kind/auth" "$sample"
	app_compiles 0
done
docker_file '{"identitytoken": "identity of ann"}'
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/bearer/auth" "$sample"
docker_file '{"auth": "YW5uOmJhZA=="}'
JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
err_one_line
docker_file '{"auth": "!"}'
JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
err_has "config.json"
# One that cannot be read may hold a name, too
rm "$work/docker/config.json"
mkdir "$work/docker/config.json"
JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
err_has "config.json"
rmdir "$work/docker/config.json"
unset DOCKER_CONFIG
printf '{"auths": {"%s/basic": %s, "%s": {"auth": "YW5uOmJhZA=="}}}\n' "$site" "$ann" "$site" >"$work/auth.json"
REGISTRY_AUTH_FILE=$(native "$work/auth.json")
export REGISTRY_AUTH_FILE
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
unset REGISTRY_AUTH_FILE
if ! is_wine; then
	mkdir -p "$work/docker" "$work/bin"
	printf '{"credHelpers": {"%s": "jw-test"}}\n' "$site" >"$work/docker/config.json"
	export DOCKER_CONFIG=$work/docker
	helper=$work/bin/docker-credential-jw-test
	help() { printf '#!/bin/sh\n%s\n' "$1" >"$helper"; chmod 755 "$helper"; }
	old=$PATH
	program_path=$work/bin:$PATH
	help 'read -r server; [ "$1 $server" = "get '"$site"'" ] && printf "{\"ServerURL\":\"x\",\"Username\":\"ann\",\"Secret\":\"se:cret\"}"'
	# A folder of /tmp is sticky: root's own program there is root's alone
	JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
	help 'echo "credentials not found in native keychain"; exit 1'
	JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
	err_has "docker login"
	help 'exit 7'
	JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
	err_has "exit status 7"
	help 'cat /dev/zero'
	JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
	printf '{"credsStore": "none-such"}\n' >"$work/docker/config.json"
	JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
	err_has "docker-credential-none-such is not on PATH"
	printf '{"credsStore": "../../bin/sh"}\n' >"$work/docker/config.json"
	JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
	err_has "not the name of a credential helper"
	ln -sf config.json "$work/docker/config.json" # leads to itself
	JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
	err_has "config.json: "
	rm "$work/docker/config.json"
	program_path=$old
	if [[ $(id -u) == 0 ]]; then # root runs no program that another may replace
		printf '{"credsStore": "jw-test"}\n' >"$work/docker/config.json"
		help 'touch "'"$work"'/ran"; exit 1'
		chown 65534 "$helper"
		program_path=$work/bin:$PATH
		JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
		err_has "is not run as root"
		[[ ! -e $work/ran ]] || fail "another account's helper ran as root"
		# … and its own with no program of a folder of PATH
		mkdir "$work/theirs"
		mv "$helper" "$work/theirs/sh"
		printf '#!/usr/bin/env sh\nexit 7\n' >"$helper"
		chmod 755 "$helper"
		program_path=$work/theirs:$work/bin:$PATH
		JITWARM_PLAIN_HTTP=localhost run 3 pull --allow-unsigned "oci://$site/basic/auth" "$sample"
		err_has "exit status 7"
		[[ ! -e $work/ran ]] || fail "another account's shell ran as root"
		program_path=$old
	fi
	unset DOCKER_CONFIG
fi

# Uploads: each blob in one request, begun anew where that breaks off, to a foreign place
docker_file "$ann"
machine maker
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/fresh/uploads" "$sample" --json
json 'd["traffic"]["blobs_sent"] == 2 and d["traffic"]["requests"] == 8'
[[ $(requests "POST /v2/fresh/uploads/blobs/uploads/ ") == 2 && $(requests "PUT /v2/fresh/uploads/blobs/uploads/") == 2 ]] || fail "not in one request"
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/upload-cut/uploads2" "$sample" --json
json 'd["traffic"]["blobs_sent"] == 2 and d["traffic"]["requests"] == 12'
[[ $(requests "PUT /v2/upload-cut/uploads2/blobs/uploads/") == 4 ]] || fail "not again"
# Whatever scope the registry's first challenge names, the token is for this repository
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/bearer/uploads3" "$sample"
grep -q "^GET /token?.*scope=repository%3Abearer%2Fuploads3%3Apull%2Cpush" "$work/registry/log" || fail "no token for it: $(grep token "$work/registry/log" | tail -3)"
JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/upload-foreign/uploads4" "$sample"
grep -q '^PUT .* - -$' "$work/registry/foreign-log" || fail "nothing came to the foreign place: $(cat "$work/registry/foreign-log")"
! grep -qE "Basic|Bearer" "$work/registry/foreign-log" || fail "the foreign place was told who asks"
for name in uploads uploads2 uploads4; do
	machine "pull-$name"
	JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/good/$name" "$sample"
	app_compiles 0
done
# Storage elsewhere is not told either
for kind in foreign foreign-auth; do
	machine maker
	JITWARM_PLAIN_HTTP=localhost run 0 push "oci://$site/$kind/stored" "$sample"
	machine "from-$kind"
	JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/$kind/stored" "$sample"
	app_compiles 0
done
grep -q '^GET ' "$work/registry/foreign-log" || fail "nothing came from the foreign storage"
! grep -qE "Basic|Bearer" "$work/registry/foreign-log" || fail "the storage was told who asks"

together

# https, and whose certificate counts. Where SSL_CERT_FILE names some, libcurl itself looks at the chain, on Windows too. Else the system does:
# Wine's schannel takes any chain. Neither Wine nor Mbed TLS 2.28 finds an address among a certificate's names.
command -v openssl >/dev/null || exit 0
certificate() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$1" -days 2 -subj /CN=here -addext subjectAltName=IP:127.0.0.1,DNS:localhost 2>/dev/null
}
certificate "$work/other.pem" && certificate "$work/cert.pem" || exit 0
cat "$work/key.pem" "$work/cert.pem" >"$work/both.pem"
start_registry "$work/tls" "$work/both.pem"
machine maker
site=localhost:${site#*:}
tls_refused() {
	run 3 push "oci://$site/good/tls" "$sample"
	err_one_line
}
is_wine || tls_refused
# A host that may be asked by plain http proves itself where it is asked by https
is_wine || {
	: >"$log"
	machine unproven
	JITWARM_PLAIN_HTTP="$site" run "0|1|3" prime --share "https://$site/place" --share-unsigned "$sample"
	[[ $(requests place) == 0 ]] || fail "without a certificate to trust: $(cat "$log")"
	machine maker
}
SSL_CERT_FILE=$(native "$work/other.pem") tls_refused
SSL_CERT_FILE=$(native "$work/cert.pem")
export SSL_CERT_FILE
run 0 push "oci://$site/good/tls" "$sample"
machine tls
run 0 pull --allow-unsigned "oci://$site/good/tls" "$sample"
app_compiles 0
is_wine && exit 0
# from https to plain http, even where that host may be asked so
machine plain
JITWARM_PLAIN_HTTP="$foreign" run 3 pull --allow-unsigned "oci://$site/foreign/tls" "$sample"
err_has "redirects from https to plain http"
nothing_imported
