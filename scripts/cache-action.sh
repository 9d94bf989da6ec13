#!/usr/bin/env bash
# cache-action.sh key|import|export   what actions/restore and actions/save run: their inputs are in CACHE_…
#
# key     prints the lines of GITHUB_OUTPUT: “key” of the driver, the GPUs and the modules, “prefix” of driver and GPUs alone, “pack”: its path
# import  adds the pack to the driver's cache, if there is one that the public key signed
# export  writes the pack, signed, and then prints the line “made=true”
set -euo pipefail

jitwarm=${CACHE_JITWARM:-jitwarm} pack=${CACHE_PACK:-$RUNNER_TEMP/jitwarm.jwpack}
read -r -a names <<<"${CACHE_PACKAGES:-}"
# In a container, a job is root in the folders of the runner's account, which started it.
if [ "$(id -u)" = 0 ] && [ -n "$(find "${RUNNER_TEMP:-/}" "${HOME:-/}" -maxdepth 0 ! -uid 0)" ]; then
	export JITWARM_TRUST_ACCOUNTS="${JITWARM_TRUST_ACCOUNTS:-1}"
fi

case ${1-} in
key)
	# Status 1 means that a module is cold, 2 that a cache does not help with a part.
	document=$("$jitwarm" check --quiet --json "${names[@]}") || [ $? -le 2 ]
	echo "pack=$pack"
	python3 -I - "$document" <<'P'
import hashlib, json, re, sys
found = json.loads(sys.argv[1])
gpus = sorted({gpu["target"] for gpu in found["gpus"]})
if not gpus:
    raise SystemExit("no GPU: this action is for jobs on a runner with one")
what = [[(gpu["target"], gpu["modules"]) for gpu in found["gpus"]],
        sorted((package["name"], package.get("version", "")) for package in found.get("packages", [])),
        sorted((file["path"], file["warm"] + file["cold"]) for file in found["files"])]
prefix = "-".join(["jitwarm", re.sub(r"[^\w.]", "", found["driver"].split(" ")[0]), "+".join(gpus), ""])
print(f"prefix={prefix}\nkey={prefix}{hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]}")
P
	;;
import)
	[ -e "$pack" ] || { echo "jitwarm: no pack yet" >&2; exit 0; }
	: "${CACHE_PUBLIC_KEY:?public-key is missing: packs hold code that GPUs run}"
	key=$(mktemp) && trap 'rm -f "$key"' EXIT
	printf '%s\n' "$CACHE_PUBLIC_KEY" >"$key"
	"$jitwarm" key trust "$key" ci
	# An unusable pack makes the job slow, not wrong.
	"$jitwarm" import "$pack" || echo "::warning::jitwarm: the pack of the cache was not imported" >&2
	;;
export)
	: "${CACHE_SECRET_KEY:?secret-key is missing: packs are signed}"
	key=$(mktemp) && trap 'rm -f "$key"' EXIT
	chmod 600 "$key" && printf '%s\n' "$CACHE_SECRET_KEY" >"$key"
	rm -f "$pack" "$pack.minisig"
	"$jitwarm" export --quiet --sign --key "$key" -o "$pack" "${names[@]}" || [ $? = 1 ] ||
		{ echo "::warning::jitwarm: nothing is kept for later jobs" >&2; exit 0; }
	echo made=true
	;;
*)
	sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
	exit 64
	;;
esac
