# config NAME VALUE and --unset change one line, and only to a value that commands would accept.
root=$work/root
export JITWARM_SYSTEM_ROOT=$root XDG_CONFIG_HOME=$work/config
is_wine && skip "the files are in Windows' own folders"
machines=$root/etc/jitwarm/config mine=$XDG_CONFIG_HOME/jitwarm/config
holds() { [[ $(cat "$mine") == "$1" ]] || fail "the file holds: $(cat "$mine")"; }
unchanged() { cmp -s "$work/before" "$mine" || fail "the file has changed: $(cat "$mine")"; }

snapshot run 0 config jobs 4
holds "jobs = 4"
[[ $(stat -c %a "$mine" "$XDG_CONFIG_HOME/jitwarm" | paste -sd ' ') == "600 700" ]] || fail "rights: $(stat -c %a "$mine")"
run 0 config jobs
out_has "jobs             4 ($mine, line 1)"
[[ $(wc -l <"$out") == 1 ]] || fail "more than the setting that was named"
snapshot run 0 config key
snapshot run 0 config key --json

# Comments, other lines and the file's mode stay; of several lines for one name, the last one counts.
printf '# the lab\n; jobs = 9\njobs=1\n\n  jobs =  2\nmax-mem = 1G # not a comment\nnothing = x' >"$mine"
chmod 640 "$mine"
run 0 config jobs 8
holds $'# the lab\n; jobs = 9\njobs=1\n\njobs = 8\nmax-mem = 1G # not a comment\nnothing = x'
[[ $(stat -c %a "$mine") == 640 ]] || fail "rights: $(stat -c %a "$mine")"
snapshot run 0 config store no --json
holds $'# the lab\n; jobs = 9\njobs=1\n\njobs = 8\nmax-mem = 1G # not a comment\nnothing = x\nstore = no'
run 0 config --unset jobs
out_has "jobs is no longer set ($mine)"
holds $'# the lab\n; jobs = 9\n\nmax-mem = 1G # not a comment\nnothing = x\nstore = no'
snapshot run 0 config --unset jobs
# A wrong line does not prevent its correction, whatever its name.
snapshot run 0 config max-mem 512M
snapshot run 0 config --unset nothing
holds $'# the lab\n; jobs = 9\n\nmax-mem = 512M\nstore = no'
# The file is as Windows' editors write it.
printf '\xef\xbb\xbfjobs = 2\r\nstore = no\r\n' >"$mine"
run 0 config jobs 3
snapshot run 0 config key my lab
[[ $(cat "$mine") == $'\xef\xbb\xbfjobs = 3\r\nstore = no\r\nkey = my lab\r' ]] || fail "the file holds: $(od -c "$mine")"

# A setting that no command would accept is not written.
cp "$mine" "$work/before"
refused() { # WORDS ARGUMENT…
	run 64 config "${@:2}"
	err_has "$1"
	err_one_line
	unchanged
}
snapshot refused "jobs (config) takes a whole number up to 1024, not “x”" jobs x
snapshot refused "max-mem (config) takes a size such as 512M or 2G, not “lots”" max-mem lots
snapshot refused "max-mem (config) must be at least 64 MiB: “4” is 4 B" max-mem 4
snapshot refused "jobs (config) must be more than 0" jobs 0
snapshot refused "module-timeout (config) takes a time" module-timeout soon
snapshot refused "store (config) takes yes, no or the whole path of a folder, not “perhaps”" store perhaps
snapshot refused "language (config) takes en or ko, not “tlh”" language tlh
# A later command may run in another folder, where another account has a folder of that name.
snapshot refused "trusted-keys (config) takes the whole path of a folder, not “lab”" trusted-keys lab
refused "trusted-keys (config) takes the whole path of a folder, not “./lab”" trusted-keys ./lab
snapshot refused "compilers (config) takes the whole path of a folder, not “~/lab”" compilers "~/lab"
snapshot refused "no setting is called “job” (did you mean “jobs”?)" job 4
refused "no setting is called “job” (did you mean “jobs”?)" job
refused "no setting is called “maxmem” (did you mean “max-mem”?)" --unset maxmem
snapshot refused "“jitwarm config NAME VALUE” sets one" set jobs 4
snapshot refused "“jitwarm config NAME VALUE” sets one" "jobs=4"
snapshot refused "--unset removes a setting and takes no value" --unset jobs 4
snapshot refused "key needs a value of one line" key $'a\njobs = 1'
refused "key needs a value of one line" key ""
snapshot run 0 config store "$(native "$work/lab")"
snapshot run 0 config store no
snapshot run 0 config language ko
snapshot run 0 config --unset language

# A setting that takes precedence is named.
JITWARM_JOBS=2 snapshot run 0 config jobs 5
snapshot run 0 config --scope system jobs 6
[[ $(cat "$machines") == "jobs = 6" && $(stat -c %a "$machines") == 644 ]] || fail "the machine's file"
snapshot run 0 config --scope system --unset jobs

# A file that jitwarm would not read is not written to; a symlink's target is.
printf '\xff\xfej\0' >"$mine"
snapshot run 3 config jobs 4
mv "$mine" "$work/dotfile" && printf 'jobs = 1\n' >"$work/dotfile" && ln -s "$work/dotfile" "$mine"
snapshot run 0 config jobs 4
[[ -L $mine && $(cat "$work/dotfile") == "jobs = 4" ]] || fail "the link was replaced"
rm "$mine" && mkfifo "$mine"
snapshot run 3 config jobs 4
rm "$mine" && mkdir "$mine"
snapshot run 3 config jobs 4
rmdir "$mine"
if [[ $(id -u) == 0 ]]; then
	printf 'jobs = 1\n' >"$mine" && chmod 666 "$mine"
	snapshot run 2 config jobs 4
	holds "jobs = 1"
	rm "$mine"
fi

# If config is killed at any moment, the file is the old one or the new one.
for round in $(rounds 15); do
	printf '# %5000s\njobs = 1\n' "" >"$mine"
	begin config jobs 2
	sleep "0.00$((RANDOM % 10))"
	kill_begun
	[[ $(wc -c <"$mine") == 5012 && $(tail -n 1 "$mine") == jobs\ =\ [12] ]] || fail "half a file"
done
