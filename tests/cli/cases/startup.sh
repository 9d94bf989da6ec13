# startup and uninstall: units that systemd takes, runs that end at once where nothing has changed, everything taken back.
run 64 startup
run 64 prime --if-changed --target sm_86 --cache "$work/c"
run 64 prime --if-changed --sudo-user
is_wine && exit 0
unset XDG_CONFIG_HOME
units=$HOME/.config/systemd/user
cat >"$work/systemctl" <<'SCRIPT'
#!/bin/sh
echo "$*" >>"$0.log"
[ -z "$FAIL" ] || { echo "Failed to connect to bus" >&2; exit 1; }
SCRIPT
chmod +x "$work/systemctl"
export JITWARM_SYSTEMCTL=$work/systemctl JITWARM_SYSTEM_ROOT=$work/root XDG_RUNTIME_DIR=$work/run
mkdir -m 700 "$work/run"
site=$work/venv/lib/python3.11/site-packages
mkdir -p "$site/frame-1.2.dist-info" "$work/venv/bin" "$work/root/etc/systemd/system"
printf 'home = /usr\n' >"$work/venv/pyvenv.cfg"
ln -s /usr/bin/python3 "$work/venv/bin/python3"

run 1 startup status
out_has "not there"
run 0 startup enable --print "$site"
out_has "ExecStart="
[[ ! -e $units ]] || fail "--print writes"
export VIRTUAL_ENV=$work/venv
run 0 startup enable tensorflow
run 0 startup enable tensorflow
run 0 startup status --json
json 'd["schema"] == "jitwarm.startup/1" and d["enabled"] and len(d["items"]) == 3 and d["runs"] == []'
grep -q -e "--environment \"$work/venv\" -- \"tensorflow\"" "$units/jitwarm.service" || fail "the environment is not named"
grep -q "PathModified=$site" "$units/jitwarm.path" || fail "packages are not watched"
grep -q -e '--user enable --now jitwarm.timer jitwarm.path' "$work/systemctl.log" || fail "not enabled"
if command -v systemd-analyze >/dev/null; then
	(cd "$units" && SYSTEMD_UNIT_PATH=$units: systemd-analyze --user verify ./jitwarm.service ./jitwarm.timer ./jitwarm.path) >"$work/verify" 2>&1 || fail "systemd-analyze: $(cat "$work/verify")"
	! grep -q "jitwarm\.[a-z]*:" "$work/verify" || fail "systemd-analyze: $(cat "$work/verify")"
fi

# Units of the system
run 0 startup enable --service ollama --account ollama /usr/lib/ollama
run 0 startup status --service ollama
run 64 startup enable --service ../x
system=$work/root/etc/systemd/system
grep -q '^User=ollama' "$system/jitwarm@ollama.service.d/60-jitwarm.conf" || fail "not the service's account"
grep -q '^Before=%i.service' "$system/jitwarm@.service" || fail "not ordered before the service"
if command -v systemd-analyze >/dev/null && ((EUID == 0)); then
	SYSTEMD_UNIT_PATH=$system: systemd-analyze verify "$system/jitwarm@ollama.service" >"$work/verify" 2>&1
	! grep -q "jitwarm@[a-z]*\.service:" "$work/verify" || fail "systemd-analyze: $(cat "$work/verify")"
fi
run 0 startup disable --service ollama
[[ -z $(find "$system" -type f) ]] || fail "units of the system are left"

# Others' units stay; a system that does not answer is told of.
run 0 startup disable
[[ -z $(find "$units" -type f) ]] || fail "units are left"
printf '[Service]\nExecStart=/bin/true\n' >"$units/jitwarm.service"
run 3 startup enable
err_has "not jitwarm's"
run 0 startup disable
[[ -s $units/jitwarm.service ]] || fail "somebody else's unit was removed"
run 0 startup enable --replace
FAIL=1 run 1 startup enable
err_has "Failed to connect to bus"
err_has "to be run by hand"

# Runs: the second ends at once and does not start the driver.
program=$JITWARM
with_simdriver sm_86
unset VIRTUAL_ENV
mkdir "$work/lib" && cp "$sample" "$work/lib/"
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
# A driver that does not start makes no last run.
JITWARM=$program run 2 prime --if-changed "$sample"
JITWARM=$program run 2 prime --if-changed "$sample"
err_has "no NVIDIA"
touch -d '2001-01-01' "$work/lib/"*.so
run 0 prime --if-changed "$work/lib"
out_has "Changed: packages"
find "$work/cache" -mindepth 1 -delete
run 0 prime --if-changed --json "$work/lib"
json 'd["compiled"] > 0'
run 0 prime --if-changed --quiet "$work/lib"
out_empty
err_empty
run 3 prime --if-changed --json-log "$work/log/a.jsonl" "$work/nosuch"
[[ $(wc -l <"$work/log/a.jsonl") == 3 ]] || fail "the failure is not in the log"
run 0 startup status --json
json 'len(d["runs"]) == 5 and d["runs"][-1]["status"] == 3'
run 0 startup status
out_has "changed: packages"
run 3 prime --json-log "$work/lib/none/../../lib" "$work/lib"

# prime --tune sets what the results need, on the way.
export SHELL=/bin/bash
run 0 prime --tune "$work/lib"
[[ ! -e $HOME/.profile ]] || fail "settings that suffice were written"
CUDA_CACHE_MAXSIZE=1000000 run 0 prime --tune "$work/lib"
out_has written
grep -q 'CUDA_CACHE_MAXSIZE=.1073741824' "$HOME/.profile" || fail "prime --tune did not set it"

# uninstall: all of it but the live cache and keys.
mkdir -p "$JITWARM_STATE/keys" && : >"$JITWARM_STATE/keys/a.key" && : >"$JITWARM_STATE/mine.txt"
held() { (cd "$1" && find . -mindepth 1 ! -path ./jitwarm -printf '%p %y %s %T@\n' | sort); }
held "$work/cache" >"$work/before"
[[ -d $work/cache/jitwarm && $(grep -c ' f ' "$work/before") -gt 1 ]] || fail "there is no cache to be left: $(cat "$work/before")"
# Two more caches of ours: the usual one, and one that a setting names. In the latter somebody has put something into our folder.
(unset CUDA_CACHE_PATH && run 0 prime --quiet "$work/lib") || exit 1
run 0 tune --apply --scope shell --path "$work/other"
CUDA_CACHE_PATH=$work/other run 0 prime --quiet "$work/lib"
: >"$work/other/jitwarm/somebody's"
run 0 uninstall
out_has "removed    $work/cache/jitwarm"
out_has "removed    $HOME/.nv/ComputeCache/jitwarm"
out_lacks "$work/other"
[[ ! -e $work/cache/jitwarm && ! -e $HOME/.nv/ComputeCache/jitwarm && -e $work/other/jitwarm ]] || fail "our folders: $(find "$work" -name jitwarm)"
rm -r "$HOME/.nv"
[[ ! -e $HOME/.profile && -z $(find "$units" -type f) ]] || fail "something is left: $(find "$HOME" -type f)"
out_has "but for your keys"
[[ $(cd "$JITWARM_STATE" && find . -type f | sort | tr '\n' ' ') == "./keys/a.key ./mine.txt " ]] || fail "state: $(find "$JITWARM_STATE")"
held "$work/cache" | diff "$work/before" - || fail "the live cache was touched"
rm "$work/other/jitwarm/somebody's"
CUDA_CACHE_PATH=$work/other run 0 uninstall --json
json "'$work/other/jitwarm' in d['removed']"
run 0 uninstall --json
json 'd["schema"] == "jitwarm.uninstall/1"'
