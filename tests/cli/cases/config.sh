# Settings: an option takes precedence over a variable, a variable over the account's file, and this file over the machine's.
with_simdriver sm_86
root=$work/root
export JITWARM_SYSTEM_ROOT=$root XDG_CONFIG_HOME=$work/config
is_wine && skip "the files are in Windows' own folders"
mkdir -p "$root/etc/jitwarm" "$XDG_CONFIG_HOME/jitwarm"
machines=$root/etc/jitwarm/config mine=$XDG_CONFIG_HOME/jitwarm/config
from() { json "{s['name']: (s.get('value'), s.get('from')) for s in d['settings']}['$1'] == $2"; }

snapshot run 0 config
out_has "$mine (no such file)" && out_has "$machines (no such file)"
printf '# the lab\n jobs = 3 \n\nmax-mem = 2G\n; more\nstore=no\n' >"$machines"
snapshot run 0 config --json
from jobs "('3', '$machines, line 2')"
from max-mem "('2G', '$machines, line 4')"
from key "(None, None)"
printf 'jobs = 2\nlanguage = en\n' >"$mine"
# One line for each setting says its value and origin, or its purpose.
snapshot run 0 config
out_has "jobs             2 ($mine, line 1)" && out_has "key              The key of --sign"
[[ $(wc -l <"$out") == 11 ]] || fail "not a line a setting"
run 0 config --json
from jobs "('2', '$mine, line 1')"
JITWARM_JOBS=1 run 0 config --json
from jobs "('1', 'JITWARM_JOBS')"
run 0 prime --json "$sample"
json 'd["workers"] == 2 and d["compiled"] == 8'
[[ $(find "$JITWARM_STATE/store" -name '*.jwpack' | wc -l) == 0 ]] || fail "store = no kept something"
rm -rf "$CUDA_CACHE_PATH"
JITWARM_JOBS=2 JITWARM_STORE=1 run 0 prime --json -j 1 "$sample"
json 'd["workers"] == 1'
[[ $(find "$JITWARM_STATE/store" -name '*.jwpack' | wc -l) == 1 ]] || fail "a variable does not come before the file"

# The folder of packs comes from the settings if the command names none.
mkdir -p "$work/none/packs" "$work/typed"
printf 'store = %s\n' "$work/none/packs" >"$mine"
rm -rf "$CUDA_CACHE_PATH" "$JITWARM_STATE/store"
JITWARM_STORE='' snapshot run 0 prime --json "$sample"
[[ $(find "$JITWARM_STATE/store" "$work/none/packs" -name '*.jwpack' | wc -l) == 2 ]] || fail "not in the store and in the folder"
rm -rf "$CUDA_CACHE_PATH" "$JITWARM_STATE/store"
JITWARM_STORE='' run 0 prime --json --store "$work/typed" --allow-unsigned "$sample"
json 'd["compiled"] == d["folder"]["placed"] == 8'
JITWARM_STORE='' run 0 prime --json --no-store "$sample"
json '"folder" not in d'

# An error names its file and line.
printf 'jobs = 3x\n' >"$mine"
snapshot run 64 prime "$sample"
JITWARM_JOBS=many snapshot run 64 config
run 0 prime -j 2 "$sample"
# The files are as Windows' editors and shells write them: a byte order mark is accepted; UTF-16 is refused with a message.
printf '\xef\xbb\xbfjobs = 2\r\n' >"$mine"
run 0 config --json
from jobs "('2', '$mine, line 1')"
err_empty
printf '\xff\xfej\0o\0b\0s\0' >"$mine"
run 0 config
err_has "the settings were not read: $mine: not UTF-8"
printf 'jobs\n' >"$mine"
snapshot run 64 status
snapshot run 0 config --help
printf 'store = perhaps\n' >"$mine"
JITWARM_STORE='' snapshot run 64 status
printf 'language = tlh\n' >"$mine"
LC_ALL=C.UTF-8 snapshot run 64 status
# A wrong command line has its place named, too, and so has the list of all help.
printf 'language = ko\n' >"$mine"
snapshot run 64 chek
snapshot run 64 check --jsn
snapshot run 0 --help
printf 'max_mem = 2G\nnothing = 1\n' >"$mine"
snapshot run 0 prime "$sample"
printf 'max-mem = lots\n' >"$mine"
snapshot run 64 prime "$sample"
snapshot run 64 prime --max-mem 2G "$sample"
# A key in the settings does not make exports signed.
printf 'key = nobody\n' >"$mine"
snapshot run 0 export -o "$work/x.jwpack"
[[ ! -e $work/x.jwpack.minisig ]] || fail "signed without --sign"

# folders that a settings file names
run 0 key generate mine
mkdir "$work/lab" && mv "$JITWARM_STATE/keys/mine.pub" "$work/lab/theirs.pub"
printf 'trusted-keys = %s\n' "$work/lab" >"$mine"
snapshot run 0 key list
JITWARM_TRUSTED_KEYS=$work/none snapshot run 0 key list

# Root does not read a settings file of root's that another account may write to.
printf 'jobs = 3\n' >"$mine"
chmod 666 "$mine"
if [[ $(id -u) == 0 ]]; then
	run 0 config --json
	err_has "other accounts may write to $mine"
	run '0|1|2' check "$sample"
	err_has "other accounts may write to $mine"
else
	run 0 config --json
	from jobs "('3', '$mine, line 1')"
fi
chmod 600 "$mine"
# Root does not read a settings file that is not a regular file either.
rm "$mine" && mkfifo "$mine"
run 0 config --json
err_has "the settings were not read: $mine"
rm "$mine" && mkdir "$mine"
run 0 config
err_has "the settings were not read: $mine"
