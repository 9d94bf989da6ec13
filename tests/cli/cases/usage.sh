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
# Another name of an option, in other tools or other commands, is the option; a value of an option without its name, and an option of
# another command, are named; so is the option that a value means.
while IFS='|' read -r words meant; do
	# shellcheck disable=SC2086
	wrong "$meant" $words
done <<'WORDS'
tune --k8s --target h100|unknown option --k8s (did you mean --print k8s?)
tune --docker|unknown option --docker (did you mean --print docker?)
which --windows torch|unknown option --windows (did you mean --platform windows?)
which --platform wsl torch|not “wsl” (did you mean linux?)
which --platform win torch|not “win” (did you mean windows?)
check --format json|unknown option --format (did you mean --json?)
scan --output=json x.so|unknown option --output (did you mean --json?)
check --platform windows|unknown option --platform, which is an option of “jitwarm scan”
prime --target rtx5090 x|unknown option --target, which is an option of “jitwarm check”
status --cuda 12|unknown option --cuda, which is an option of “jitwarm check”
-n prime frame|unknown option -n, which is an option of “jitwarm prime”
check -r requirements.txt|unknown option -r, which is an option of “jitwarm scan”, “jitwarm which”
prime --ask torch|unknown option --ask, which is an option of “jitwarm which”
which -e env torch|unknown option -e, which is an option of “jitwarm status”, “jitwarm check”, “jitwarm prime” and others
lint --format json x.whl|--format: it takes github, not “json” (did you mean --json?)
WORDS
for option in "lint --sm" "lint --arch" "scan --sm" "scan --compute-capability" "check --archs" "export -o x.jwpack --target" "lint --archs" "lint --cuda-arch"; do
	# shellcheck disable=SC2086
	run 64 $option nosuch x.so
	err_has "“nosuch” is n"
done
for option in "--size 4x" "--limit 4x"; do
	# shellcheck disable=SC2086
	wrong "--max-size takes a size such as 512M or 2G, not “4x”" tune $option
done
for option in "--os other" "--py other"; do
	# shellcheck disable=SC2086
	run 64 which $option torch
	err_has "not “other”"
done
for command in check find prime tune scan lint; do
	for option in --env --venv --prefix -e; do
		run 3 $command $option nosuch-environment
		err_has "nosuch-environment"
	done
done
snapshot wrong "unknown option --taget (did you mean --target?)" make --taget X
# A line without a command; unit-cli_words has more.
wrong "“jitwarm check mykern”" mykern
snapshot wrong "run “jitwarm which --target rtx5090 torch" does torch work on rtx 5090?
snapshot wrong "“jitwarm doctor”" why is it slow
snapshot wrong "“jitwarm doctor”" doctor why is it slow
snapshot wrong "“jitwarm doctor”" doctor "training takes minutes"
snapshot wrong "did you mean “cache list”" cache ls
# A GPU among the names, and an option without its dashes
snapshot wrong "“rtx5090” is a GPU: add --target rtx5090" check torch rtx 5090
snapshot wrong "“h100” is a GPU: add --gpus h100" lint x.whl h100
snapshot wrong "“h100” is a GPU: run “jitwarm check --target h100”" doctor torch -e env h100
snapshot wrong "“undo”: an option begins with dashes: --undo" tune undo
snapshot wrong "“cuda”: an option begins with dashes: --cuda" which torch cuda 11.8
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
