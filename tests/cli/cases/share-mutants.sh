# prime --share https://…: nothing that a trusted key has not signed is taken, whatever a server makes of it; a proxy; Ctrl-C
# JITWARM_MUTATIONS: how often, eight answers each time (125 are a thousand)
has_command push || skip "no such command yet"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
server_program=objects.py
start_registry "$work/server"
machine signer
run 0 key generate --no-passphrase --json
public=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$out")
JITWARM_PLAIN_HTTP=localhost run 0 prime --share "http://$site/good" --sign "$sample" --json
json 'd["shared"]["placed"] == 8 and not d["notes"]'
machine trusting
run 0 key trust "$public"
prime() { # KIND: into an empty cache
	rm -rf "$CUDA_CACHE_PATH"
	JITWARM_PLAIN_HTTP="localhost shared.example" run 0 prime --share "$1" "$sample" --json
}
: >"$log"
prime "http://$site/good"
json 'd["compiled"] == 0 and d["shared"]["fetched"] == 8'
# Of each object the pack is another text than the signed one, or the signature is
for seed in $(rounds "${JITWARM_MUTATIONS:-2}"); do
	prime "http://$site/mutant-$seed"
	json 'd["compiled"] == 8 and d["shared"]["fetched"] == 0 and d["shared"]["refused"] == 8'
	nothing_left
done
app_compiles 0

# Through a proxy that the environment names
unset no_proxy
export http_proxy=http://$site
prime http://shared.example/good
json 'd["compiled"] == 0 and d["shared"]["fetched"] == 8'
[[ $(requests 'GET http://shared.example/good/v1/') -ge 16 ]] || fail "not through the proxy"
unset http_proxy
export no_proxy='*'

# Ctrl-C while the server is silent
if ! is_wine; then
	rm -rf "$CUDA_CACHE_PATH" && : >"$log"
	# shellcheck disable=SC2086
	JITWARM_PLAIN_HTTP=localhost $JITWARM prime --share "http://$site/silent" "$sample" >"$out" 2>"$err" </dev/null &
	begun=$!
	await grep -q "GET /silent/" "$log"
	kill -INT $begun
	ended=0
	wait $begun || ended=$?
	[[ $ended == 130 ]] || fail "ended with $ended: $(cat "$err")"
	nothing_imported
	nothing_left
fi
