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
# A command without --target names the line that answers for another GPU, with what was typed; and no command that compiles if it compiles nothing.
while IFS='|' read -r words line; do
	# shellcheck disable=SC2086
	wrong "this command has no --target: “jitwarm check --target $line” answers for another GPU, “jitwarm make” compiles for it; see" $words
done <<'WORDS'
prime --target rtx5090 xgboost|rtx5090 xgboost
prime xgboost --target=rtx2080 numpy|rtx2080 xgboost numpy
prime --target|GPU
prime --taget X|X
prime --target h100 --dry-run -e env torch -j2|h100 --environment env torch
run --target h100 -e env -- python train.py|h100 --environment env
WORDS
for words in "doctor --target rtx3070 -e env" "status --gpu=rtx3070 --environment env"; do
	# shellcheck disable=SC2086
	wrong "this command has no --target: “jitwarm check --target rtx3070 --environment env” answers for another GPU; see" $words
done
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
check --platform windows|unknown option --platform: the files themselves are for one platform and Python; leave out --platform
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
wrong "no command is called “torch”; “jitwarm which torch” shows which releases run on your GPU, “jitwarm check torch” answers for what is installed here" torch
wrong "no command is called “mykern”; “jitwarm check mykern” answers for a file or a package, “jitwarm doctor mykern” for the text of an error" mykern
wrong "no command is called “apptainer” (did you mean “tune --print apptainer”?)" apptainer
# A line without a command is answered with the line that it means, whether it is in quotes or not.
on_windows() { if is_wine; then sed -E 's/[^ ]+==[^ ”]*/"&"/g' <<<"$1"; else echo "$1"; fi; } # its shells need quotes
while IFS='|' read -r words line; do
	line=$(on_windows "$line")
	# shellcheck disable=SC2086
	wrong "“$line” " $words
	wrong "“$line” " "$words"
done <<'WORDS'
does torch 2.8 work on rtx 5090?|jitwarm which --target rtx5090 torch==2.8
can i run pytorch on my gtx 1060|jitwarm which --target gtx1060 torch
is tensorflow 2.10 ok on a rtx 3070 with cuda 11.8|jitwarm which --target rtx3070 --driver 11.8 tensorflow==2.10
rtx 5090 torch 2.7.1 Windows|jitwarm which --target rtx5090 --platform windows torch==2.7.1
torch and vllm on H100, A100|jitwarm which --target H100,A100 torch vllm
install torch on rtx 3070 for me|jitwarm which --target rtx3070 torch
torch 2.8.0|jitwarm which torch==2.8.0
rtx5090|jitwarm which --target rtx5090 torch
GTX 1080 and A100|jitwarm check --target GTX1080,A100
WORDS
wrong "“jitwarm which torch --target rtx5090” shows" torch --target rtx5090
wrong "“$(on_windows "jitwarm which --target rtx5090 torch==2.8")”" which does torch 2.8 work on rtx 5090
wrong "“jitwarm doctor CUDA error 209” answers for the text of an error" CUDA error 209
wrong "“jitwarm check --target h100 --environment env torch” answers for it" doctor torch -e env h100
both=h100,a100
! is_wine || both=\"$both\"
wrong "“jitwarm check --target $both” answers for them" status h100 a100
wrong "no command is called “chekc” (did you mean “check”?)" chekc torch rtx5090
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
