#!/usr/bin/env bash
# Sets up and runs every check of the project; --help says how. It needs Go.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/ci/need.sh
command -v go >/dev/null || { echo "Go 1.26 or later is needed: https://go.dev/dl/" >&2; exit 1; }
need git git

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap : INT TERM # the program below ends its checks first
go build -o "$work/checks" ./tools/ci/checks
status=0
"$work/checks" "$@" || status=$?
exit "$status"
