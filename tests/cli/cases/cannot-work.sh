# An option that cannot work is refused before anything starts: status 64 (3 if something is missing, 2 if only a compiler is), one line
# with the reason, nothing compiled and nothing written. The table holds the command's words, the status and the message.
with_simdriver sm_86
rm -r "$CUDA_CACHE_PATH"
printf x >plain
mkdir folder
run 0 key generate # makes the key “default”
elsewhere="--target sm_86 --driver 550.163.01"
there() { find . -path ./state -prune -o -path ./home -prune -o ! -name 'std*' ! -name 'raw.*' -print | sort; }
before=$(there)

while IFS='|' read -r line status said; do
	read -ra words <<<"$line"
	snapshot run "$status" "${words[@]}"
	out_empty
	err_one_line
	err_has "$said"
	[[ ! -e $CUDA_CACHE_PATH ]] || fail "compiled all the same"
	[[ $(there) == "$before" ]] || fail "left behind: $(there)"
done <<TABLE
bake -o plain $sample|64|--output: plain: not a directory
bake -o plain/deep $sample|64|--output: plain: not a directory
bake -o made --cache plain $sample|64|--cache: plain: not a directory
bake -o made --target sm_86 --ptxas none/ptxas $sample|3|--ptxas: none/ptxas: 
bake -o made --target sm_86 --nvjitlink none/link $sample|3|--nvjitlink: none/link: 
bake -o made --target sm_86 --nvjitlink nobody $sample|2|--nvjitlink nobody: 
bake -o made --target sm_86 --driver none/lib $sample|3|--driver: none/lib: 
bake -o made --target sm_86 $sample|2|baking for these GPUs needs ptxas
prime --cache plain $sample|64|--cache: plain: not a directory
prime --recording none $sample|3|--recording: none: 
prime --recording folder $sample|64|--recording: folder: Is a directory
prime --json-log folder $sample|64|--json-log: folder: Is a directory
prime --json-log plain/log $sample|64|--json-log: plain: not a directory
prime --json-log none/log $sample|3|--json-log: none: 
prime --nvrtc none/nvrtc $sample|3|--nvrtc: none/nvrtc: 
prime --store plain $sample|3|plain: no such folder: create it first
make $elsewhere -o made/ $sample|2|needs ptxas 12.4
make $elsewhere -o made/ --ptxas none $sample|3|--ptxas: none: 
make $elsewhere -o none/made $sample|3|--output: none: 
make $elsewhere -o plain/ $sample|64|: not a directory
make $elsewhere -o folder/ --sign $sample|64|--sign needs a pack: -o FILE
make --target sm_86 -o made --driver none/lib $sample|3|--driver: none/lib: 
run --cache plain -- $app|64|--cache: plain: not a directory
run --record none/made -- $app|3|--record: none: 
run --record folder -- $app|64|--record: folder: Is a directory
check --cache plain $sample|64|--cache: plain: not a directory
find --cache plain|64|--cache: plain: not a directory
cache list --cache plain|64|--cache: plain: not a directory
cache verify --cache plain|64|--cache: plain: not a directory
cache prune --cache plain --older-than 1d|64|--cache: plain: not a directory
export -o none/made|3|--output: none: 
export -o made --cache plain|64|--cache: plain: not a directory
export -o made --key nobody|64|--key needs --sign, too
export -o made --sign --key nobody|64|no key “nobody”
import --cache plain pack|64|--cache: plain: not a directory
status --driver-profile none/made|3|--driver-profile: none: 
tune --path plain|64|--path: plain: not a directory
TABLE
