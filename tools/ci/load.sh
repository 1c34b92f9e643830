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
             it the limit is 50 ms, a tick, and holds only where an idle process is late by
             less than 1 ms and the machine has no more to do than it can

Exit status: 0 all is as it should be, 1 else, 2 usage.
EOT2
}

amount=(-spectators 2000 -ticks 1600 -bad 20 -late 20)
files=2400 # connections in each of the two processes, and some more
strict=()
for argument in "$@"; do
	case "$argument" in
	--short) amount=(-spectators 100 -ticks 300 -bad 4 -late 4) files=300 ;;
	--strict) strict=(-strict) ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -n "$(ulimit -Hn)" # each connection is a file
if [[ $(ulimit -n) != unlimited && $(ulimit -n) -lt $files ]]; then
	echo "load.sh: a process may have $(ulimit -n) open files here, and needs $files; raise the limit (ulimit -Hn), or try --short" >&2
	exit 1
fi
go build -o "$work/murksim" ./cmd/murksim
go build -o "$work/load" ./tools/ci/load
TMPDIR="$work" "$work/load" -murksim "$work/murksim" "${amount[@]}" ${strict[@]+"${strict[@]}"}
