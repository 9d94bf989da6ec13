# pull, prime and push one after the other: only what no other machine has compiled is compiled here
has_command push || skip "no such command yet"
with_simdriver sm_86
. "$cases/../../share/lib.sh"
start_registry "$work/registry"
place=oci://$site/good/lab

machine first
run 64 prime --share-unsigned "$sample"
err_has "--share-unsigned is for the place that --share names"
run 0 key generate --no-passphrase --json
public=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$out")
run 64 prime --sign "$sample"
JITWARM_PLAIN_HTTP=localhost run 1 pull "$place" "$sample"
err_has "no pack of this plan"
run 0 prime "$sample" --json
json 'd["compiled"] == 8'
JITWARM_PLAIN_HTTP=localhost run 0 push --sign "$place" "$sample" --json
json 'd["packs"][0]["entries"] == 8 and d["packs"][0]["signed_by"]'

# The next one compiles nothing, if it trusts the first
machine second
JITWARM_PLAIN_HTTP=localhost run 3 pull "$place" "$sample"
err_has "jitwarm key trust"
run 0 prime "$sample" --json
json 'd["compiled"] == 8'
machine third
run 0 key trust "$public"
JITWARM_PLAIN_HTTP=localhost run 0 pull "$place" "$sample" --json
json 'd["packs"][0]["import"]["added"] == 8'
run 0 prime "$sample" --json
json 'd["compiled"] == 0'
app_compiles 0

# A part is taken, the rest compiled, and the whole pushed
place=oci://$site/good/part
machine part
run "0|1" prime --budget-size 200k "$sample" --json
json 'd["over_budget"] > 0'
JITWARM_PLAIN_HTTP=localhost run 1 push "$place" "$sample" --json
json '0 < d["packs"][0]["entries"] < 8'
machine rest
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "$place" "$sample" --json
json '0 < d["packs"][0]["import"]["added"] < 8'
run 0 prime "$sample" --json
json '0 < d["compiled"] < 8'
JITWARM_PLAIN_HTTP=localhost run 0 push "$place" "$sample" --json
json 'd["packs"][0]["entries"] == 8'
machine whole
JITWARM_PLAIN_HTTP=localhost run 0 pull --allow-unsigned "$place" "$sample"
run 0 prime "$sample" --json
json 'd["compiled"] == 0'
