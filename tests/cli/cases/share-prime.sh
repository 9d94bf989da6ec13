# prime --from, --back: only what no other machine has compiled is compiled here
has_command push || skip "no such command yet"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
start_registry "$work/registry"
place=oci://$site/good/lab

machine first
run 64 prime --back "$sample"
run 64 prime --insecure "$sample"
run 64 prime --from localhost/lab "$sample"
run 64 prime --from "$place" --target sm_86 --driver 550.163.01 -n "$sample"
run 0 key generate --no-passphrase --json
public=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$out")
run 64 prime --sign "$sample"
# A miss costs a request, a dry run none
run 1 prime -n --from "$place" --back --insecure "$sample"
[[ ! -s $log ]] || fail "a dry run asks"
run 0 prime --from "$place" --insecure --back --sign "$sample" --json
json 'd["compiled"] == 8 and "no pack of this plan" in d["not_from_registry"] and d["pushed"]["packs"][0]["entries"] == 8 and d["pushed"]["packs"][0]["signed_by"]'
# What is warm asks for nothing
: >"$log"
run 0 prime --from "$place" --insecure "$sample"
[[ ! -s $log ]] || fail "asks although all is warm"

# A registry that fails is said in one line, and the work goes on
without() { # KIND
	run 0 prime --from "oci://$site/$1/lab" --insecure --allow-unsigned --timeout 1s "$sample"
	err_has "nothing comes from the registry"
	[[ $(grep -c "$site" "$err") == 1 ]] || fail "not one line"
	app_compiles 0
}
refused() { run 0 prime --from oci://127.0.0.1:9/none --insecure "$sample"; }
lonely() {
	run 1 prime --from oci://127.0.0.1:9/none --insecure --back --timeout 1s "$sample"
	err_has "nothing was pushed"
	app_compiles 0
}
for kind in 503-forever wrong-digest silent 401-mute; do beside nobody without "$kind"; done
beside nobody refused
beside nobody lonely

# The next one compiles nothing, if it trusts the first
machine second
run 0 prime --from "$place" --insecure "$sample" --json
json 'd["compiled"] == 8 and "jitwarm key trust" in d["not_from_registry"]'
machine third
run 0 key trust "$public"
run 0 prime --from "$place" --insecure --back "$sample" --json
json 'd["compiled"] == 0 and d["from_registry"]["packs"][0]["import"]["added"] == 8 and "pushed" not in d'
app_compiles 0

# A part is taken, the rest compiled, and the whole pushed
place=oci://$site/good/part
machine part
run "0|1" prime --budget-size 200k "$sample" --from "$place" --insecure --back --json
json 'd["over_budget"] > 0 and 0 < d["pushed"]["packs"][0]["entries"] < 8'
machine rest
run 0 prime --from "$place" --insecure --allow-unsigned --back "$sample" --json
json '0 < d["compiled"] < 8 and d["compiled"] + d["from_registry"]["packs"][0]["import"]["added"] == 8'
json 'd["pushed"]["packs"][0]["entries"] == 8'
app_compiles 0
machine whole
run 0 prime --from "$place" --insecure --allow-unsigned "$sample" --json
json 'd["compiled"] == 0'
together
