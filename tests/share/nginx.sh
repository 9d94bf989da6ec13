#!/bin/bash
# nginx.sh BUILD-FOLDER   prime --share beside Debian's nginx with WebDAV: open, with names and passwords, with TLS, stopped
# Exit status 1 if a case fails, 77 where a program is not at hand.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
PATH=$PATH:/usr/sbin
for program in nginx htpasswd openssl python3; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
[[ $(nginx -V 2>&1) == *with-http_dav_module* ]] || { echo "skipped: nginx without WebDAV"; exit 77; }
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work" || exit 3
while read -r name; do unset "$name"; done < <(env | grep -oiE '^([a-z]*_proxy|CURL_CA_BUNDLE|SSL_CERT_FILE|SSL_CERT_DIR|NETRC|XDG_[A-Z_]*|CUDA_[A-Z_]*)=' | tr -d =)
export no_proxy='*' HOME=$work/home NO_COLOR=1 JITWARM_PLAIN_HTTP=localhost
mkdir home temp data
failed=0
fail() { cat out err 2>/dev/null; tail -n 5 error.log; echo "FAILED: $*"; failed=1 first=${first:-$*}; }
ok() { echo "ok: $*"; }
sample=$build/tests/framework/libsample_framework.so app=$build/tests/framework/framework-app
jw() { timeout 120 "$here/../../scripts/with-simdriver.sh" -B "$build" sm_86 -- "$build/src/jitwarm" "$@" >out 2>err </dev/null; }
machine() { mkdir -p "$work/$1"; export CUDA_CACHE_PATH=$work/$1/cache JITWARM_STATE=$work/$1/state; }
warm() { [[ $("$here/../../scripts/with-simdriver.sh" -B "$build" sm_86 -- "$app" 2>/dev/null) == *"compiled 0 of"* ]]; }
says() { python3 -c 'import json, sys; d = json.load(open("out")); sys.exit(not (eval(sys.argv[1])))' "$1"; }

# Its modules are loaded by the distribution's own nginx.conf alone, and not needed here.
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=here -addext subjectAltName=IP:127.0.0.1 2>/dev/null
htpasswd -cdb htpasswd ann 'se-cret' 2>/dev/null
read -r port tls < <(python3 -c 'import socket; s = [socket.create_server(("127.0.0.1", 0)) for _ in "ab"]; print(*(x.getsockname()[1] for x in s))')
# Where root starts it, its workers are root too: the folder is open to nobody else.
user=
[ "$(id -u)" != 0 ] || user='user root;'
cat >nginx.conf <<END
daemon off; master_process on; worker_processes 2; pid $work/pid; error_log $work/error.log; $user
events { worker_connections 256; }
http {
	access_log $work/access.log;
	client_body_temp_path temp; fastcgi_temp_path temp; proxy_temp_path temp; scgi_temp_path temp; uwsgi_temp_path temp;
	client_max_body_size 64m;
	server {
		listen 127.0.0.1:$port; listen 127.0.0.1:$tls ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem;
		root $work/data;
		dav_methods PUT; create_full_put_path on;
		location /closed/ { auth_basic here; auth_basic_user_file htpasswd; }
		location /readonly/ { alias $work/data/open/; limit_except GET { deny all; } }
	}
}
END
nginx -p "$work" -c "$work/nginx.conf" >nginx.log 2>&1 &
server=$!
end=$((SECONDS + 30))
until (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; do
	[ $SECONDS -lt $end ] && kill -0 $server 2>/dev/null || { cat nginx.log error.log; echo "FAILED: nginx does not start"; exit 1; }
	sleep 0.05
done
share() { local place=$1; shift; jw prime --share "$place" --share-unsigned "$sample" --json "$@"; }

machine maker
jw key generate --no-passphrase --json || fail "a key"
public=$(python3 -c 'import json; print(json.load(open("out"))["keys"][0]["public_key"])')
if share "http://127.0.0.1:$port/open" --sign && says 'd["compiled"] == 8 and d["shared"]["placed"] == 8'; then ok "put"; else fail "put"; fi
[ "$(find data/open/v1 -name '*.jwpack' | wc -l)" = 8 ] && [ "$(find data/open/v1 -name '*.minisig' | wc -l)" = 8 ] || fail "not there"
machine second
jw key trust "$public" || fail "key trust"
if jw prime --share "http://127.0.0.1:$port/open" "$sample" --json && says 'd["compiled"] == 0 and d["shared"]["fetched"] == 8' && warm; then ok "taken, signed"; else fail "not taken"; fi
# What cannot be put is compiled, and taken by nobody
machine readonly
if share "http://127.0.0.1:$port/readonly" && says 'd["compiled"] == 0 and d["shared"]["fetched"] == 8' && warm; then ok "only readable"; else fail "only readable"; fi
# Names and passwords
machine unnamed
if share "http://127.0.0.1:$port/closed" && says 'd["compiled"] == 8 and "401" in d["shared"]["trouble"]' && warm; then ok "without a name"; else fail "without a name"; fi
printf 'machine 127.0.0.1 login ann password se-cret\n' >home/.netrc
for machine in named again; do
	machine $machine
	share "http://127.0.0.1:$port/closed" && warm || fail "with a name"
done
if says 'd["compiled"] == 0 and d["shared"]["fetched"] == 8'; then ok "with a name"; else fail "with a name, $machine"; fi
# TLS
machine tls
if share "https://127.0.0.1:$tls/open" && says 'd["compiled"] == 8 and d["shared"]["trouble"]'; then ok "an unknown certificate is refused"; else fail "an unknown certificate"; fi
rm -rf "$CUDA_CACHE_PATH"
export SSL_CERT_FILE=$work/cert.pem
if share "https://127.0.0.1:$tls/open" && says 'd["compiled"] == 0 and d["shared"]["fetched"] == 8' && warm; then ok "over TLS"; else fail "over TLS"; fi
unset SSL_CERT_FILE
# It ends, and the next one goes on alone
kill $server
wait $server
machine alone
if share "http://127.0.0.1:$port/open" && says 'd["compiled"] == 8 and d["shared"]["trouble"]' && warm; then ok "alone"; else fail "alone"; fi
[ $failed = 0 ] || echo "FAILED: ${first-see above}"
exit $failed
