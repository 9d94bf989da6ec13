# Wrong usage gives one line on standard error, which names the error and the help, and status 64.
wrong() {
	local say=$1
	shift
	run 64 "$@"
	out_empty
	err_one_line
	err_has "jitwarm: "
	err_has "$say"
	err_has "--help"
}
snapshot wrong "no command is called “prmie”" prmie
snapshot wrong "did you mean “help”" hepl
for words in "prime --target rtx5090 xgboost" "prime xgboost --target=rtx2080 numpy" "prime --target" "prime --taget X"; do
	# shellcheck disable=SC2086
	wrong "this command has no --target: “jitwarm scan” answers for another GPU, “jitwarm make” compiles for it" $words
done
snapshot wrong "unknown option --taget (did you mean --target?)" make --taget X
wrong "no command is called “torch”; “jitwarm check torch” answers for a file or a package, “jitwarm doctor torch” for the text of an error" torch
snapshot wrong "no command is called “docker” (did you mean “tune --print docker”?)" docker
wrong "unknown option --jsn (did you mean --json?)" help --jsn
snapshot wrong "unknown option -x" help -x
snapshot wrong "unknown option --nonsense; this command takes --json, --quiet, --help" key list --nonsense
snapshot wrong "unknown option -x; this command takes --target, --driver, --environment" check -x
snapshot wrong "“x”: uninstall removes all" uninstall x
for command in status "startup disable" "startup status" "key list" "store list" "cache list" "cache verify"; do
	# shellcheck disable=SC2086
	snapshot wrong "“x”: " $command x
done
snapshot wrong "--json takes no value" help --json=1
wrong "no command is called “nothing”" help nothing
snapshot wrong "--nonsense" --nonsense
snapshot run 64 help --jsn --json
snapshot run 64 nosuch --json
# After “--”, nothing is an option.
snapshot wrong "no command is called “--json”" help -- --json
