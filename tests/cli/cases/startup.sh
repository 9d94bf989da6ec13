# startup and uninstall: runs end at once if nothing has changed, and everything is undone.
snapshot run 64 startup
snapshot run 64 make --if-changed --target sm_86 -o "$work/c/"

if ! is_wine; then
	unset XDG_CONFIG_HOME
	units=$HOME/.config/systemd/user
	mkdir -p "$work/bin"
	printf '#!/bin/sh\n' >"$work/bin/systemctl" && chmod +x "$work/bin/systemctl"
	export PATH=$work/bin:$PATH JITWARM_SYSTEM_ROOT=$work/root XDG_RUNTIME_DIR=$work/run
	mkdir -m 700 "$work/run"
fi
# The second run ends at once and does not start the driver.
program=$JITWARM
with_simdriver sm_86
mkdir "$work/lib" "$work/log" && cp "$sample" "$work/lib/"
run 0 prime --if-changed --json-log "$work/log/a.jsonl" --json "$work/lib"
json 'd["compiled"] > 0'
SIMDRIVER_LOG=$work/driver.log run 0 prime --if-changed --json-log "$work/log/a.jsonl" --json "$work/lib"
[[ ! -s $work/driver.log ]] || fail "the driver was started"
json 'd["skipped"] and d["compiled"] == 0'
python3 - "$work/log/a.jsonl" <<'PYTHON' || fail "the log: $(cat "$work/log/a.jsonl")"
import json, sys
a, b = map(json.loads, open(sys.argv[1]))
assert a["changed"] == "first run" and a["compiled"] == a["modules"] > 0 and not a["skipped"] and a["status"] == 0
assert b["skipped"] and b["changed"] == "" and b["status"] == 0
PYTHON
# A run whose driver does not start is not remembered as done.
if ! is_wine; then # Wine always has nvcuda.dll
	JITWARM=$program run 2 prime --if-changed "$sample"
	JITWARM=$program run 2 prime --if-changed "$sample"
	err_has "no NVIDIA"
fi
# Nor is a run that could read nothing.
for _ in 1 2; do
	run 3 prime --if-changed "$work/none.so"
	out_lacks "hing has changed"
done
# Nor is a run that left modules uncompiled.
for _ in 1 2; do
	CUDA_CACHE_PATH=$work/small CUDA_CACHE_MAXSIZE=1000 snapshot run 1 prime --if-changed --no-store "$sample"
done
touch -d '2001-01-01' "$work/lib/"*
run 0 prime --if-changed "$work/lib"
out_has "Changed: packages"
# Every kind of file that prime would read is noticed as new.
for name in k2.ptx.zst UPPER.PTX libx.so.12; do
	cp "$sample" "$work/lib/$name"
	run 0 prime --if-changed "$work/lib"
	out_has "Changed: packages"
done
echo >"$work/lib/readme.txt"
differs_for WINDOWS snapshot run 0 prime --if-changed --json "$work/lib"
json 'd["skipped"]'
# Leftovers of a killed run are removed even if nothing is compiled.
mkdir -p "$JITWARM_STATE/runs/999999999-1" && : >"$JITWARM_STATE/runs/999999999-1.lock"
run 0 prime "$work/lib"
[[ -z $(ls "$JITWARM_STATE/runs") ]] || fail "left by a killed run: $(ls "$JITWARM_STATE/runs")"
# A run follows if entries were lost, cut or rewritten, or if the index would make the driver wipe the cache, but not for a new entry.
entry() { find "$work/cache" -path "$work/cache/?/?/*" -type f | sort | sed -n "$1p"; }
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry later()\n{\n\tret;\n}\n' >"$work/later.ptx"
run 0 prime "$work/later.ptx"
run 0 prime --if-changed --json "$work/lib"
json 'd["skipped"]'
rm "$(entry 1)"
run 0 prime --if-changed --json "$work/lib"
json 'd["compiled"] == 1'
cut=$(entry 2)
touch -r "$cut" "$work/time" && truncate -s -1 "$cut" && touch -r "$work/time" "$cut"
differs_for WINDOWS snapshot run 0 prime --if-changed --json "$work/lib"
touch "$(entry 3)"
run 0 prime --if-changed "$work/lib"
out_has "Changed: cache"
rm "$work/cache/index"
snapshot run 0 prime --if-changed "$work/lib"
run 0 prime --if-changed --json "$work/lib"
json 'd["skipped"]'
find "$work/cache" -mindepth 1 -delete
run 0 prime --if-changed --json "$work/lib"
json 'd["compiled"] > 0'
run 0 prime --if-changed --quiet "$work/lib"
out_empty
err_empty
run 3 prime --if-changed --json-log "$work/log/a.jsonl" "$work/nosuch"
[[ $(wc -l <"$work/log/a.jsonl") == 3 ]] || fail "the failure is not in the log"
run 0 startup enable "$work/lib"
differs_for WINDOWS snapshot run 0 startup status --json
json 'len(d["runs"]) == 5 and d["runs"][-1]["status"] == 3'
differs_for WINDOWS snapshot run 0 startup status
out_has "changed: cache"
differs_for WINDOWS snapshot run '3|64' prime --json-log "$work/lib/none/../../lib" "$work/lib"

# prime --tune also sets what the results need.
# settings: prints the lasting settings, on Linux those in a file that the session and login shells load
settings() {
	if is_wine; then simulated reg query 'HKCU\Environment' 2>/dev/null; else cat "$HOME"/.config/environment.d/* 2>/dev/null; fi | grep CUDA_CACHE
}
export SHELL=/bin/bash
run 0 prime --tune "$work/lib"
[[ -z $(settings) ]] || fail "settings that suffice were written: $(settings)"
CUDA_CACHE_MAXSIZE=1000000 run 0 prime --tune "$work/lib"
out_has written
grep -q 'CUDA_CACHE_MAXSIZE.*1073741824' < <(settings) || fail "prime --tune did not set it: $(settings)"

# A directory that is named for this run alone is not set for every program.
CUDA_CACHE_MAXSIZE=1000000 run 0 prime --tune --cache "$work/named" "$work/lib"
grep -q named < <(settings) && fail "prime --cache --tune: $(settings)"

# uninstall removes everything but the live cache and keys.
mkdir -p "$JITWARM_STATE/keys" && : >"$JITWARM_STATE/keys/a.key" && : >"$JITWARM_STATE/mine.txt"
held() { (cd "$1" && find . -mindepth 1 -printf '%p %y %s %T@\n' | sort); }
held "$work/cache" >"$work/before"
[[ $(grep -c ' f ' "$work/before") -gt 1 ]] || fail "there is no cache to be left: $(cat "$work/before")"
is_wine || snapshot run 0 config max-mem 4G
# -n lists what would go, and changes nothing.
homes=("$JITWARM_STATE")
is_wine || homes+=("$HOME") # under Wine that is this machine's, on which others work
every() { find "${homes[@]}" -type f -printf '%p %s %T@\n' | sort; }
every >"$work/every"
before=$(settings)
differs_for WINDOWS snapshot run 0 uninstall -n
out_has "Nothing was changed (--dry-run)"
is_wine || out_has "to remove  $units/jitwarm.timer"
sed -nE 's/^(to remove |to restore|removed|restored|left) +//p' "$out" | sort >"$work/would"
every | diff "$work/every" - || fail "uninstall -n has changed something"
[[ $(settings) == "$before" ]] || fail "uninstall -n has changed settings"
differs_for WINDOWS snapshot run 0 uninstall
sed -nE 's/^(removed|restored|left) +//p' "$out" | sort | diff "$work/would" - || fail "uninstall -n has told something else"
[[ -z $(settings) ]] || fail "settings are left: $(settings)"
if ! is_wine; then
	out_has "removed    $units/jitwarm.timer"
	out_has "removed    $HOME/.config/jitwarm/config"
	[[ ! -e $HOME/.config/jitwarm ]] || fail "settings are left: $(find "$HOME/.config/jitwarm")"
	[[ ! -e $HOME/.profile && -z $(find "$units" -type f) ]] || fail "something is left: $(find "$HOME" -type f)"
fi
out_has "except your keys"
[[ $(cd "$JITWARM_STATE" && find . -type f | sort | tr '\n' ' ') == "./keys/a.key ./mine.txt " ]] || fail "state: $(find "$JITWARM_STATE")"
held "$work/cache" | diff "$work/before" - || fail "the live cache was touched"
snapshot run 0 uninstall --json
# The folder holds compilers of “compiler fetch”, a killed fetch's leftovers, and a user's file.
if ! is_wine; then # Windows keeps them in the state folder
	compilers=$HOME/.cache/jitwarm/ptxas
	mkdir -p "$compilers/12.4" "$compilers/13.0.88" "$compilers/.new-1f" "$compilers/mine" "$work/named/12.4"
	: >"$compilers/12.4/ptxas"
	JITWARM_PTXAS=$work/named run 0 uninstall
	[[ -e $work/named/12.4 && -e $compilers/12.4 ]] || fail "uninstall removes what JITWARM_PTXAS names, or another folder"
	run 0 uninstall
	out_has "removed    $compilers"
	[[ $(ls -A "$compilers") == mine ]] || fail "compilers: $(ls -A "$compilers")"
	rmdir "$compilers/mine" && mkdir -p "$compilers/12.4"
	run 0 uninstall
	[[ ! -e $HOME/.cache/jitwarm ]] || fail "an empty folder is left: $(find "$HOME/.cache")"
	run 0 uninstall
	out_lacks "$compilers"
fi
run 1 startup status
run 0 uninstall --json
json 'd["schema"] == "jitwarm.uninstall/1"'
