#!/bin/bash
# real.sh BUILD-FOLDER   jitwarm beside Debian's docker-registry and skopeo: open, with names and passwords, with TLS
# Exit status 1 if a case fails, 77 if a program is not at hand.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
for program in docker-registry skopeo htpasswd openssl python3; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
work=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 3
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|CURL_CA_BUNDLE|SSL_CERT_FILE|SSL_CERT_DIR|REGISTRY_AUTH_FILE|DOCKER_CONFIG|XDG_[A-Z_]*|CUDA_[A-Z_]*)=' | tr -d =)
export no_proxy='*' HOME=$work/home NO_COLOR=1 JITWARM_PLAIN_HTTP=localhost
mkdir home
failed=0
fail() { cat out err 2>/dev/null; echo "FAILED: $*"; failed=1 first=${first:-$*}; }
ok() { echo "ok: $*"; }
sample=$build/tests/framework/libsample_framework.so app=$build/tests/framework/framework-app
sim() { local gpu=$1; shift; "$here/../../scripts/with-simdriver.sh" -B "$build" "$gpu" -- "$@"; }
gpu=sm_86
jw() { timeout 120 "$here/../../scripts/with-simdriver.sh" -B "$build" $gpu -- "$build/src/jitwarm" "$@" >out 2>err </dev/null; }
machine() { mkdir -p "$work/$1"; export CUDA_CACHE_PATH=$work/$1/cache JITWARM_STATE=$work/$1/state; }
warm() { [[ $(sim $gpu "$app" 2>/dev/null) == *"compiled 0 of"* ]]; }

# serve NAME [LINES OF ITS http SECTION AND AFTER IT]: starts a registry on a free port, at $site
serve() {
	local port end=$((SECONDS + 30))
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	site=127.0.0.1:$port
	printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp:\n  addr: %s\n%s\n' "$work/$1-data" "$site" "${2-}" >"$1.yml"
	docker-registry serve "$1.yml" >"$1.log" 2>&1 &
	servers+=($!)
	until (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; do
		[ $SECONDS -lt $end ] || { cat "$1.log"; echo "skipped: docker-registry does not start"; exit 77; }
		sleep 0.05
	done
}
copy() { skopeo --insecure-policy copy --src-tls-verify=false --dest-tls-verify=false "$@" >out 2>err; }

machine maker
jw prime "$sample" || fail "prime"
jw key generate --json || fail "a key"
public=$(python3 -c 'import json; print(json.load(open("out"))["keys"][0]["public_key"])')

serve open
jw push --sign "oci://$site/lab/cache:v1" "$sample" || fail "push"
skopeo inspect --raw --tls-verify=false "docker://$site/lab/cache:v1" >out 2>err || fail "skopeo inspect"
python3 -c 'import json; d = json.load(open("out")); assert d["artifactType"] == "application/vnd.jitwarm.pack.v1" and len(d["layers"]) == 2, d' || fail "not the manifest"
# An image that skopeo has copied elsewhere can be pulled from there.
copy "docker://$site/lab/cache:v1" "docker://$site/copied/cache:v2" || fail "skopeo copy"
for place in lab/cache:v1 copied/cache:v2; do
	machine "${place//[\/:]/-}"
	jw key trust "$public"
	if jw pull "oci://$site/$place" && warm; then ok "$place"; else fail "pull $place"; fi
done
# Each of two architectures has a tag, and each machine takes its own.
machine maker
jw push "oci://$site/lab/both" "$sample" || fail "push of one architecture"
gpu=sm_70
machine volta
jw prime "$sample" && jw push "oci://$site/lab/both" "$sample" || fail "push of another architecture"
for gpu in sm_70 sm_86; do
	machine "both-$gpu"
	if jw pull --allow-unsigned "oci://$site/lab/both" "$sample" && warm; then ok "$gpu"; else fail "pull for $gpu"; fi
done

# with names and passwords
htpasswd -Bbn ann 'se:cret' >htpasswd 2>/dev/null
serve closed "auth: {htpasswd: {realm: here, path: $work/htpasswd}}"
machine maker
if jw push "oci://$site/lab/cache" "$sample"; then fail "pushed without a name"; else ok "refused"; fi
skopeo login --tls-verify=false --authfile "$work/auth.json" -u ann -p se:cret "$site" >out 2>err || fail "skopeo login"
export REGISTRY_AUTH_FILE=$work/auth.json
jw push "oci://$site/lab/cache" "$sample" || fail "push with a name"
machine named
if jw pull --allow-unsigned "oci://$site/lab/cache" "$sample" && warm; then ok "with a name"; else fail "pull with a name"; fi
unset REGISTRY_AUTH_FILE

# with TLS
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=here -addext subjectAltName=IP:127.0.0.1 2>/dev/null
export JITWARM_PLAIN_HTTP=
serve tls "  tls: {certificate: $work/cert.pem, key: $work/key.pem}"
machine maker
if jw push "oci://$site/lab/cache" "$sample"; then fail "an unknown certificate"; else ok "an unknown certificate is refused"; fi
export SSL_CERT_FILE=$work/cert.pem
jw push "oci://$site/lab/cache" "$sample" || fail "push over TLS"
machine tls
if jw pull --allow-unsigned "oci://$site/lab/cache" "$sample" && warm; then ok "over TLS"; else fail "pull over TLS"; fi
[ $failed = 0 ] || echo "FAILED: ${first-see above}"
exit $failed
