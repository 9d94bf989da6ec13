#!/usr/bin/env bash
# test_release.sh   scripts/release.sh in a repository whose other scripts are stand-ins: what a release makes and signs, that one that fails leaves
# nothing, and that a tag's files are only taken if they are those that were signed
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "skipped: release.sh needs root"; exit 77; }
for tool in git minisign; do command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME=$work/home XDG_CACHE_HOME=$work/cache GIT_CONFIG_NOSYSTEM=1
while read -r name; do unset "$name"; done < <(env | grep -oE '^(GIT_(DIR|WORK_TREE|INDEX_FILE)|CI)=' | tr -d =)
mkdir -p home repository/{scripts,include/jitwarm,packaging,tests/fleet,tests/install} && cd repository || exit 1
fail() { cat "$work/out"; echo "FAILED: $*"; exit 1; }
cp "$root"/scripts/{release,lib}.sh scripts/
cp "$root/include/jitwarm/version.h" include/jitwarm/
(cd "$root" && cp --parents -t "$work/repository" README*.md docs/install.md) || fail "the pages"
minisign -G -W -p "$work/key.pub" -s "$work/key" >/dev/null 2>&1 && minisign -G -W -p "$work/other.pub" -s "$work/other" >/dev/null 2>&1 || fail "minisign -G"
sed "s|=\$|=x|; s|^public_key=.*|public_key=$(tail -n 1 "$work/key.pub")|" "$root/packaging/release.conf" >packaging/release.conf
printf '# Changes\n\n## 9.8.7 (unreleased)\n\n- new\n' >CHANGELOG.md
# These are the files that a user would install; they contain CHANGED.
cat >scripts/package.sh <<'END'
#!/bin/sh
mkdir -p "$2" && cd "$2" || exit 1
printf 'mkdir -p "$2/bin" && printf "#!/bin/sh\\n" >"$2/bin/jitwarm" && chmod +x "$2/bin/jitwarm"\n' >install.sh
echo "${CHANGED-a program}" >jitwarm-9.8.7-linux-x86_64.tar.gz
sha256sum * >"$OLDPWD/sums" && mv "$OLDPWD/sums" SHA256SUMS
END
for stand_in in scripts/{setup,reproducible,try,try-windows-package}.sh tests/fleet/image.sh tests/install/{test_wheel.sh,test_manifests.py}; do
	printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n[ "${FAILS-}" != "%s" ]\n' "${stand_in##*/}" "$work" "${stand_in##*/}" >"$stand_in"
done
chmod +x scripts/*.sh tests/*/*
git init -q . && git config user.name someone && git config user.email a@example.invalid && git add -A && git commit -qm first || fail "git"
first=$(git rev-parse HEAD)
# git's signatures come from a program that accepts every key as its own.
printf '#!/bin/sh\ncat >/dev/null\nprintf -- "-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n"\nprintf "\\n[GNUPG:] SIG_CREATED \\n" >&2\n' >"$work/gpg" && chmod +x "$work/gpg"
git config gpg.program "$work/gpg"

release() { # STATUS ARGUMENT...
	local status=0
	rm -f "$work/calls"
	scripts/release.sh "${@:2}" </dev/null >"$work/out" 2>&1 || status=$?
	[ $status = "$1" ] || fail "release.sh ${*:2} ended with $status, not $1"
}
says() { grep -qF -- "$1" "$work/out" || fail "not said: $1"; }
untouched() { [ "$(git rev-parse HEAD)" = "$first" ] && [ -z "$(git tag)$(git status --porcelain)" ] && [ ! -e dist ] && [ -z "$(ls -A "$work/cache/jitwarm" 2>/dev/null)" ] || fail "something is left: $1"; }

while IFS=, read -r words wrong; do
	# shellcheck disable=SC2086
	release 64 $wrong
	says "$words"
	untouched "$wrong"
done <<END
no heading “## 1.0.0,--no-sign 1.0.0
--key KEY or --no-sign,9.8.7
is not a secret key,--key $work/key.pub 9.8.7
is not the key of public_key,--key $work/other 9.8.7
not a version,--no-sign 9.8
has no tag,--rebuild
END
echo >>CHANGELOG.md
release 64 --no-sign 9.8.7
says "not committed"
git checkout -q CHANGELOG.md
sed -i 's/^image=.*/image=/' packaging/release.conf && git commit -qam "without an image"
release 64 --no-sign 9.8.7
says "packaging/release.conf has no image"
git reset -q --hard "$first"
FAILS=try.sh release 1 --no-sign 9.8.7
says "[deb]"
untouched "a package cannot be installed"
FAILS=reproducible.sh release 1 --no-sign 9.8.7
untouched "not the same bytes twice"

# a trial
release 0 --dry-run -o "$work/trial/dist"
says "stages: "
[ -s "$work/trial/dist/SHA256SUMS.minisig" ] && grep -q '^test_manifests.py' "$work/calls" || fail "the trial"
untouched "a trial"
release 64 --dry-run -o "$work/trial/dist"
says "has files in it"

# A release has the version and the date in its commit, and the sums with their signature in its tag.
release 0 --key "$work/key" 9.8.7
says "git push --atomic origin HEAD v9.8.7"
[ "$(git log --format=%s -1)" = "Release 9.8.7" ] && [ "$(git rev-parse v9.8.7^{commit})" = "$(git rev-parse HEAD)" ] && [ "$(git rev-parse HEAD^)" = "$first" ] || fail "the commit"
[ "$(sed -nE 's/^#define JW_VERSION_[A-Z]+ ([0-9]+)$/\1/p' include/jitwarm/version.h | paste -sd.)" = 9.8.7 ] && grep -qE '^## 9\.8\.7 \(20[0-9-]{8}\)$' CHANGELOG.md || fail "the version"
for page in README.md docs/install.md; do
	grep -q '^\$ uvx jitwarm' $page && ! grep -q 'first release\|No release has been published' $page || fail "$page says what held before the release"
done
git cat-file tag v9.8.7 >"$work/tag" && grep -q 'BEGIN PGP' "$work/tag" || fail "the tag is not signed"
grep -qF "$(tail -n 1 dist/SHA256SUMS.minisig)" "$work/tag" || fail "the tag has no signature of the sums"
minisign -Vq -P "$(tail -n 1 "$work/key.pub")" -m dist/SHA256SUMS && (cd dist && sha256sum --quiet -c SHA256SUMS) || fail "the signature"
release 64 --no-sign 9.8.7
says "dist has files in it"
mv dist "$work/published"
release 64 --no-sign 9.8.7
says "there is a tag v9.8.7"

# The tag's workflow runs its steps in a clone.
git clone -q . "$work/elsewhere" && cd "$work/elsewhere" || fail "git clone"
release 0 --rebuild
grep -q '^setup.sh .*--windows --release' "$work/calls" || fail "what building needs was not installed"
diff -r dist "$work/published" >"$work/out" || fail "not the files that were signed"
rm -r dist
CHANGED="another program" release 1 --rebuild
says "these files are not those that v9.8.7 lists"
[ ! -e dist/SHA256SUMS.minisig ] || fail "what was not signed has a signature"
echo "release.sh: passed"
