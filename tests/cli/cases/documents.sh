# Prints the kinds of documents that no other case prints, so that they are validated like all others (tests/documents).
differs_for WINDOWS differs_for SANITIZERS snapshot run 0 --version --json
snapshot run 64 help nosuch --json
COLUMNS=80 snapshot run 0 help prime --json
snapshot run 0 completion bash --json
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' >"$work/kernel.ptx"
run 0 scan --json --target sm_86 --driver 12.4 "$work/kernel.ptx"
with_simdriver sm_86
run "0|2" status --json
run 0 prime --json "$sample"
run 0 run --json --record r.json "$sample" -- "$app"
run 0 cache list --json
run 0 cache verify --json
run 0 check --json "$sample"
run 1 check --json --cache "$work/empty" "$sample"
