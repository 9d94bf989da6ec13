# pull and push, with a registry that lies: one line, an exit status, nothing half imported
has_command push || skip "no such command yet"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
start_registry "$work/registry"
machine maker
run 0 prime "$sample"
run 0 key generate --no-passphrase --json
public=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$out")
JITWARM_PLAIN_HTTP=localhost run 0 push --sign "oci://$site/good/lab:v1" "$sample"
docker_file "$ann"

# lie STATUS KIND SAID: nothing is imported
lie() {
	machine "$2"
	JITWARM_PLAIN_HTTP=localhost run "$1" pull --allow-unsigned --timeout 2s "oci://$site/$2/lab:v1"
	err_has "$3"
	[[ $(grep -c '^jitwarm: .*: ' "$err") == 1 ]] || fail "not one line about it"
	err_has "$site/$2/lab"
	err_lacks "cret"
	nothing_imported
	nothing_left
}
refused_push() { JITWARM_PLAIN_HTTP=localhost run 3 push --timeout 2s "oci://$site/$1/mine-$1:v1" "$sample"; }
beside nobody lie 3 reset-always "sha256:"
beside nobody lie 3 503-forever "status 503"
beside nobody lie 3 short "sends"
beside nobody lie 3 silent ""
beside nobody lie 3 slow ""
for kind in 401-loop 503-forever redirect-loop html; do beside maker refused_push "$kind"; done
# Answers with some bytes changed, cut off, doubled or put in: what is imported is what was signed, or nothing is
signed=$work/machines/maker/cache mutants=$work/mutants
mkdir "$mutants"
mutated() { # SEED…
	local seed
	run 0 key trust "$public"
	for seed; do
		rm -rf "$CUDA_CACHE_PATH"
		JITWARM_PLAIN_HTTP=localhost run "0|3" pull --timeout 5s "oci://$site/mutate-$seed/lab:v1"
		if [[ $ended == 0 ]]; then
			diff -r -x index "$signed" "$CUDA_CACHE_PATH" >/dev/null || fail "something else than what was signed"
			: >"$mutants/$seed"
		else
			nothing_imported
			nothing_left
		fi
	done
}
count=$(rounds "${JITWARM_MUTATIONS:-20}" | wc -l)
# shellcheck disable=SC2046
for lane in 1 2 3; do ((lane > count)) || beside nobody mutated $(seq "$lane" 3 "$count"); done
lie 3 wrong-digest "other bytes"
lie 3 long "more than the"
lie 3 endless "more than"
lie 3 endless-manifest "more than"
lie 3 range-other "another range"
lie 3 redirect-loop "redirects more than 5 times"
lie 3 redirect-nowhere "address"
lie 3 redirect-file "address"
lie 3 redirect-named "only https"
lie 3 other-digest "another digest"
lie 3 html "html"
lie 3 deep ""
lie 3 huge "more than the"
lie 3 twice "two packs"
lie 3 image "no pack of jitwarm's"
lie 3 no-digest "without a SHA-256 digest"
lie 3 many "more than 256 layers"
lie 3 429-forever "try again in 3600 s"
lie 3 401-loop "status 401"
lie 3 401-mute "does not say how to log in"
lie 3 401-strange "does not know"
lie 3 401-long "WWW-Authenticate"
lie 3 realm-plain "only https"
for kind in none line html long endless; do lie 3 "token-$kind" "its realm"; done
# Nor is the registry's password given to a foreign place that asks
lie 3 foreign-401 "status 401"
[[ $(requests "GET /v2/foreign-401/lab/blobs.* Basic") == 0 ]] || fail "logged in for a foreign place"
! grep -q "Basic" "$work/registry/foreign-log" || fail "a foreign place was told who asks: $(cat "$work/registry/foreign-log")"
rm "$work/registry/foreign-log"
# Nobody is named in an address that a server gives
machine redirect-user
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/redirect-user/lab:v1"
DOCKER_CONFIG=$work/nobody lie 3 realm-named "its realm"
err_lacks "geheim"
[[ $(requests "bWFsbG9yeTpnZWhlaW0=") == 0 ]] || fail "a server's own name was used"
# A password goes by plain http to the registry's own port, and to another one only where that is named
lie 3 realm-port "JITWARM_PLAIN_HTTP=$foreign allows plain http"
docker_file '{"identitytoken": "identity of ann"}'
lie 3 realm-port "JITWARM_PLAIN_HTTP=$foreign allows plain http"
docker_file "$ann"
JITWARM_PLAIN_HTTP="localhost 127.0.0.1" run 3 pull --allow-unsigned "oci://$site/realm-port/lab:v1"
[[ ! -s $work/registry/foreign-log ]] || fail "another port was told who asks: $(cat "$work/registry/foreign-log")"
machine realm-named
JITWARM_PLAIN_HTTP="localhost $foreign" run 0 pull --allow-unsigned "oci://$site/realm-port/lab:v1"
grep -q "^GET /token?.* Basic" "$work/registry/foreign-log" || fail "the named port was not told"
rm "$work/registry/foreign-log"
DOCKER_CONFIG=$work/nobody JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/realm-port/lab:v1"
docker_file "$ann"
[[ $(requests "401-loop/lab") -le 3 ]] || fail "asked again and again: $(requests 401-loop)"
! grep -qE "Basic|Bearer" "$work/registry/foreign-log" 2>/dev/null || fail "a foreign place was told who asks"

# What can be mended is
for kind in reset range-ignored; do
	machine "$kind"
	JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/$kind/lab:v1" --json
	json 'd["traffic"]["resumed"] == 3 and d["packs"][0]["import"]["added"] == 8'
	app_compiles 0
done
# A name is no path, and a word no command to a terminal
for kind in titled noted; do
	machine "$kind"
	JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/$kind/lab:v1"
	app_compiles 0
	! grep -q $'\x1b' "$out" "$err" || fail "a terminal would obey"
done
[[ -z $(find "$work" -name 'evil*') ]] || fail "a title became a path"
# A signature that is taken away
machine trusting
run 0 key trust "$public"
JITWARM_PLAIN_HTTP=localhost run 3 pull "oci://$site/unsigned/lab:v1"
err_has "is not signed"
nothing_imported
[[ $(requests "GET /v2/unsigned/lab/blobs") == 0 ]] || fail "what is refused was downloaded first"
# Who trusts anybody is told all the same who has signed
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "oci://$site/good/lab:v1"
out_has "signed by"
# A tag that cannot be asked for is not replaced
machine maker
JITWARM_PLAIN_HTTP=localhost run 3 push "oci://$site/503-tags/lab:v1" "$sample"
err_has "status 503"
[[ $(requests "PUT /v2/503-tags/lab/manifests/v1") == 0 ]] || fail "what the tag names was replaced"
# An upload without a place, or one that is refused
machine maker
JITWARM_PLAIN_HTTP=localhost run 3 push "oci://$site/upload-nowhere/x" "$sample"
err_has "does not say where an upload goes"
JITWARM_PLAIN_HTTP=localhost run 3 push "oci://$site/upload-large/x" "$sample"
err_has "client_max_body_size"
err_one_line
[[ $(requests "PUT /v2/upload-large/x/") == 1 ]] || fail "what is refused was sent again"

# Ctrl-C (a server that sends a byte now and then would go on for an hour)
if ! is_wine; then
	machine stopped
	# shellcheck disable=SC2086
	JITWARM_PLAIN_HTTP=localhost $JITWARM pull --allow-unsigned --timeout 60s "oci://$site/slow/lab:v1" >"$out" 2>"$err" </dev/null &
	begun=$!
	await grep -q "GET /v2/slow/lab/blobs" "$log"
	sleep 0.5
	kill -INT "$begun"
	ended=0
	wait "$begun" || ended=$?
	[[ $ended == 130 ]] || fail "ended with $ended"
	err_has "interrupted"
	nothing_imported
	nothing_left
fi

together
[[ -n $(ls "$mutants") ]] || is_wine || fail "not one answer was sound: the test shows nothing"
