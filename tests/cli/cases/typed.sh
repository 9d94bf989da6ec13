# The words that people type first work, or the answer is the line to type.
with_simdriver sm_86
differs_for WINDOWS snapshot run 0 version
out_has "jitwarm "
COLUMNS=80 snapshot run 0 "/?"
# The account's Python outside the environment lacks what the environment has.
is_wine || {
	env_less=$work/plain/bin:$PATH
	empty_environment "$work/plain" && rm "$work/plain/pyvenv.cfg"
	program_path=$env_less snapshot run 3 check nowhere
}
# A standard input that is not read, or empty.
run 64 which --target rtx4090 -
err_has "“jitwarm which -r -” reads a list from the standard input"
run 64 scan --target sm_86 - <"$sample"
err_has "this command does not read the standard input: name a file"
# Options have the names of other tools' options.
for option in "--max-time 5m" "--require sm_86"; do
	# shellcheck disable=SC2086
	run "0|1" lint --gpus sm_86 $option "$sample"
done
# A typing error in another name of a project is that project's package.
for name in pytroch tf; do
	run 3 which --target h100 $name
	err_has "did you mean t" && err_has "“jitwarm which --target h100 t"
done
# The values of an option are words of any case.
run 0 which --target rtx5090 --platform Linux --python 3.12 torch
out_has "Linux x86-64"
run 64 which --target rtx5090 --platform Windowses torch
err_has "it takes linux, linux-aarch64 or windows, not “Windowses”"
cp "$sample" "a lib.so"
snapshot run 64 "a lib.so"
! is_wine && err_has "“jitwarm check 'a lib.so'”"
snapshot run 64 check a lib.so
# A file that cannot be read is not reported as nothing to compile.
head -c 5000 "$sample" >cut.so
differs_for WINDOWS snapshot run 3 prime cut.so
err_has "cut.so: the file is cut off" && out_empty
# Capital letters do not make another word.
snapshot run 64 check --JSON frame
# The option for a GPU works under any command's name for it; the key is not a file.
snapshot run 0 lint --target rtx2080 "$sample"
snapshot run 3 key trust nowhere.pub
# A driver that finds no GPU is not reported as a machine without a driver.
CUDA_VISIBLE_DEVICES=9 snapshot run 2 status
run 64 help prme
err_has "did you mean “prime”?"
mkdir undo
differs_for WINDOWS snapshot run "0|1|2" tune undo
err_lacks "dashes"
rmdir undo
snapshot run 64 compiler fetch 12.4.1
run 64 check --driver x550 "$sample"
err_has "“x550” is neither a CUDA version"
# A command that takes only a version says so of a file; the others say what is wrong with it.
echo text >text.txt
for command in check scan find lint "which torch"; do
	for file in ./text.txt ./none text.txt; do
		# shellcheck disable=SC2086
		snapshot run 64 $command --driver $file
	done
done
snapshot run 3 make --target sm_86 --driver ./text.txt -o made/ "$sample"
snapshot run 2 make --target sm_86 --driver "$sample" -o made.jwpack "$sample"
run 64 scan --gpu 4090ti "$sample"
err_has "“4090ti” is not a known GPU" && err_has "(did you mean rtx4090?)"
for other in rx7900xtx 9070xt mi300x "Radeon RX 6800" gfx1100; do
	snapshot run 64 scan --gpu "$other" "$sample"
done
run 64 scan --gpu arch86 "$sample"
err_has "“arch86” is not a known GPU"
run 64 which nvcr.io/nvidia/pytorch:25.01-py3
err_has "is an image of containers: run “jitwarm check” inside the container"
err_one_line
# An error's text may lack its quotes, and have numbers that other commands take for GPUs.
run 0 doctor RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB
out_has "CUDA_ERROR_OUT_OF_MEMORY"
run 0 doctor sm_120 is not compatible with the current PyTorch installation
out_has "no code for the GPU"
# Names are no text, and a text has few names.
run 64 doctor why is nothing fast
err_has "“why is nothing fast”: neither names nor an error that doctor knows; “jitwarm doctor” examines this machine"
err_one_line
run 64 doctor why is "$sample" so
err_has "; “jitwarm doctor "
err_has "” examines what is installed"
run 64 which --target withrtx3070 tensorflow
# On PyPI, torch's wheels for Windows have no device code.
snapshot run 0 which torch==2.4 --cuda 12 --gpu 3060 --platform linux
snapshot run 0 which torch==2.4 --cuda 12.1.105 --gpu 3060 --platform linux
snapshot run 3 which pytorch --gpu 3060
# cmd and PowerShell pass a folder's last backslash as a quote.
if is_wine; then
	run 0 check "/?"
	out_has "Usage: jitwarm check"
	# This is so even if the drive has a folder whose name is one letter.
	# shellcheck disable=SC2086
	${JITWARM% *} cmd /c "(if not exist C:\\r mkdir C:\\r) & C: & $(native "${JITWARM##* }") check /?" </dev/null >"$out" 2>"$err" || fail "status $?"
	out_has "Usage: jitwarm check"
	run 64 check 'C:\t" --json'
	err_has 'C:\t" --json: no file can have a quote in its name: drop the last backslash before the quote'
fi
# A command after “run” needs no “--”.
is_wine || {
	snapshot run 3 run sh -c "echo seen -q; exit 3"
	snapshot run 0 run "$sample" -- sh -c "echo seen"
}

# The environment is named, active, the project's, or that of PATH.
environment "$work/project/.venv" 1.0
unset VIRTUAL_ENV CONDA_PREFIX
mkdir -p "$work/project/src/deep"
cd "$work/project/src/deep" || fail "no folder"
snapshot run 1 check frame
out_has "up to 8 of 8 modules, up to "
[[ $(wc -l <"$out") == 2 ]] || fail "a cold check says more than two lines"
if [[ $(id -u) == 0 ]] && ! is_wine; then # in /tmp anybody may have made it
	chown 65534 "$work/project/.venv" && snapshot run 3 check frame && chown 0 "$work/project/.venv"
fi
environment "$work/active" 2.0
VIRTUAL_ENV=$(native "$work/active") run 1 check frame
err_lacks "is used"
run 1 check -e "$(native "$work/active")" frame
err_lacks "is used"
out_has "Next: jitwarm prime --environment $(native "$work/active") frame"
# A printed path can be pasted into cmd: none mixes slashes and backslashes.
VIRTUAL_ENV=$(native "$work/active") run '0|1|2' doctor --no-probe frame
out_has "$(native "$(site_of "$work/active")/frame/lib/$(basename "$sample")")"
# A project means its .venv; options of every command, and -e, may come first.
run 1 check -e "$work/project" frame
err_lacks "is used"
out_has "up to 8 of 8 modules"
snapshot run 1 -e "$work/active" --json check frame
# A printed command is about the environment that was named
snapshot run "0|1" -e "$work/active" status
for option in "-e $work/active" "--env=$(native "$work/active")" "--environment $work/active" "-e$(native "$work/active")"; do
	# shellcheck disable=SC2086
	differs_for WINDOWS snapshot run 1 $option
	out_has "frame 2.0"
done
snapshot run 0 -q cache list
snapshot run 0 --help check
# The text of an error: doctor explains it, other commands take it for a name
for typed in 222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION "the provided PTX was compiled with an unsupported toolchain."; do
	snapshot run 0 doctor "$typed"
	snapshot run 3 check "$typed"
done
snapshot run 0 doctor RuntimeError: no kernel image is available for execution on the device
# A line of CMake begins as an option does.
run 0 doctor "-- The CUDA compiler identification is unknown"
out_has "error: CMake: "
snapshot run 0 --json doctor "error 803"
snapshot run 2 doctor "error 2090"
snapshot run 3 doctor 223x
snapshot run 64 doctor --fix "error 209"
# A pipe; of a long log the end, where the error is
{ seq 200000 && printf 'RuntimeError: CUDA error:\0 no kernel\n    image is available\n' && seq 100; } >"$work/log"
input=$work/log run 0 doctor -
out_has "CUDA_ERROR_NO_BINARY_FOR_GPU (209)"
{ echo "CUDA error 222" && seq 200000; } >"$work/log"
input=$work/log run 2 doctor -
run 2 doctor -
err_has "the standard input is empty"
# A file and a package are what they are, whatever they are called.
(cd "$work" && printf '.version 8.0\n.target sm_50\n.address_size 64\n' >222 && run "0|1|2" doctor 222 && out_lacks "error: ") || exit 1
snapshot run 64 --json prmie
snapshot run 64 -q cache lst
snapshot run 64 -e "$work/active" frame
# jitwarm never uses another environment than the named one.
for inside in lib "pyvenv.cfg"; do
	snapshot run 64 check -e "$work/active/$inside" frame
done
run 64 check -e "$sample" frame
err_has "not an environment; “jitwarm find” lists"
# The folder around an environment, such as that of ComfyUI's portable version, names the environment.
mkdir -p portable/python_embeded/Lib/site-packages && touch portable/python_embeded/python.exe
run 64 check -e portable
err_has "--environment portable: not an environment (did you mean --environment portable"
err_has "python_embeded?)"
snapshot run 3 check pytorch
# "lib" is taken for a missing folder rather than for the beginning of a package's name.
for name in libcst flash-attn sympy; do
	mkdir "$(site_of "$work/project/.venv")/${name//-/_}-1.0.dist-info"
	printf 'Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n' $name >"$(site_of "$work/project/.venv")/${name//-/_}-1.0.dist-info/METADATA"
done
snapshot run 3 check lib
snapshot run 3 check numpy
snapshot run 3 check libcts
snapshot run 3 check flash
# An environment has the name under which conda lists it.
is_wine || {
	export HOME=$work/conda-home
	mkdir -p "$HOME/.conda" "$work/envs/lab/conda-meta"
	printf '%s\n' "$work/envs/other" "$work/envs/lab" >"$HOME/.conda/environments.txt"
	snapshot run 3 check --environment lab frame
	snapshot run 3 check --environment nobody frame
}
cd "$work" || fail "no folder"

snapshot run 64 which --target gtx1080 torch 2.8.0
# These are a number, the name of a package, and a file.
for word in 86 thor; do
	differs_for WINDOWS snapshot run 3 check $word
	err_lacks "a GPU"
done
cp "$sample" h100
differs_for WINDOWS snapshot run 0 scan --target sm_86 h100
rm h100

# GPUs and drivers as people write them.
snapshot run 0 scan --gpu ga104,T4,rtx30..rtx40 --target "GTX 1660 Super" "$sample"
out_has "sm_86 (ga104)" && out_has "sm_75 (T4, GTX 1660 Super)" && out_has "sm_89 (RTX 40)"
snapshot run 0 scan --target ampere "$sample"
out_has "sm_80" && out_has "sm_86"
snapshot run 64 scan --target rtx3070, "$sample"
run 64 scan --target rtx6070 "$sample"
err_lacks "did you mean"
snapshot run 64 scan --target rtx 4090 "$sample"
run 64 scan "$sample" --target rtx 4090
err_has "--target takes one word: “--target rtx4090”"
snapshot run 64 prime "$sample" --gpu rtx 3070
snapshot run 0 scan --target rtx4090 --driver cuda12.4 "$sample"
for driver in cu118 nvidia-driver-535 v535; do differs_for WINDOWS snapshot run "0|2" scan --target rtx4090 --driver $driver "$sample"; done
run 64 scan --target rtx4090 --driver cuda550 "$sample"
for name in target gpu gpus; do
	snapshot run 0 scan --$name 2xrtx3070 --cuda 12.4 "$sample"
	snapshot run 0 lint --$name rtx3070x2 --cuda 12.4 "$sample"
done
snapshot run "0|1" which --gpu rtx3090x2 --cuda 12.4 --python-version 3.11 --platform linux torch
snapshot run 1 check --target rtx4090 --driver 550.163.01 "$sample"
run 2 make --target rtx3070 --driver 550 -o x.jwpack "$sample"
err_has "give the full version, for example --driver 550.163.01"

# A pack is not software to judge; export takes the same names as prime.
CUDA_CACHE_PATH=$work/none run 2 export "$sample"
err_has "the cache is empty: run “jitwarm prime” first"
run 0 prime --quiet "$sample"
run 0 export -o "$work/lab.jwpack" "$sample"
for command in check "scan --target sm_86" prime "lint --gpus sm_86"; do
	# shellcheck disable=SC2086
	snapshot run 64 $command "$work/lab.jwpack"
done
snapshot run 64 export lab.jwpack
if [[ -d /proc/self ]] && ! is_wine; then
	run 3 export -o /proc/lab.jwpack "$sample"
	err_has "jitwarm: /proc/lab.jwpack: "
fi

# A wheel is named once, with its members below it; the message for a truncated wheel is to fetch it again.
name=frame_gpu_library-1.0.0-cp311-cp311-manylinux_2_17_x86_64.whl
python3 - "$sample" "$work/$name" <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile(sys.argv[2], "w") as wheel:
    for member in ("frame/a.so", "frame/b.so"): wheel.write(sys.argv[1], member)
PYTHON
for command in "scan --target sm_86" "lint --gpus sm_86"; do
	# shellcheck disable=SC2086
	snapshot run 0 $command "$work/$name"
	out_has " frame/a.so" && out_has " frame/b.so"
done
# The end of the wheel's directory is forged: it names no member.
printf 'PK\5\6%018d' 0 | tr 0 '\0' | cat "$work/$name" - >"$work/cut.whl"
for command in lint scan "check --target sm_86"; do
	# shellcheck disable=SC2086
	snapshot run 3 $command "$work/cut.whl"
done
# The wheel is truncated in its first member, and after its last one.
while read -r bytes status command; do
	head -c "$bytes" "$work/$name" >"$work/cut.whl"
	# shellcheck disable=SC2086
	snapshot run "$status" $command "$work/cut.whl"
done <<CUT
5000 3 lint
5000 3 check --target sm_86
$(($(stat -c %s "$work/$name") - 30)) 1 lint
$(($(stat -c %s "$work/$name") - 30)) 1 check --target sm_86 --driver 550.163.01
CUT
snapshot run 3 check --target sm_86 torch@1.7
