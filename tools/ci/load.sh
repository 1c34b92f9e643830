#!/usr/bin/env bash
# Serves the game minewars at 20 ticks a second to 6 players and 2,000 spectators on this computer,
# and to clients that stall, vanish in mid-frame, send garbage, flood, bring wrong tokens or come
# late. Every client must get the same bytes of its view, every bad one must be dropped for its
# reason, every order must have its receipt, and the recording must verify.
set -euo pipefail

usage() {
	cat <<'EOT2'
usage: tools/ci/load.sh [--short] [--strict]

  --short    100 spectators and 15 seconds, not 2,000 and 80
  --strict   also fail if 1 tick in 100 begins late by 5 ms or more, as on a busy computer; without
             it the limit is 500 ms, or three times what a process is late here that does nothing

Exit status: 0 all is as it should be, 1 else, 2 usage.
EOT2
}

amount=(-spectators 2000 -ticks 1600 -bad 20 -late 20)
strict=()
for argument in "$@"; do
	case "$argument" in
	--short) amount=(-spectators 100 -ticks 300 -bad 4 -late 4) ;;
	--strict) strict=(-strict) ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -n "$(ulimit -Hn)" # each connection is a file
go build -o "$work/murksim" ./cmd/murksim
go build -o "$work/load" ./tools/ci/load
TMPDIR="$work" "$work/load" -murksim "$work/murksim" "${amount[@]}" ${strict[@]+"${strict[@]}"}
