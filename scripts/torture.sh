#!/usr/bin/env bash
# torture.sh [BUILD [OPTION...]]   lets each call of the C library fail in turn, in sixteen commands: hours; options as torture.py --help says
#
# BUILD: default build/release. “--sample 100” takes so many of each command, “--case import” one command.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1-} in -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
build=${1:-build/release}
shift || true
exec python3 -B tests/torture/torture.py "$build" --jobs "$(nproc)" "$@"
