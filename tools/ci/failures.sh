#!/usr/bin/env bash
# Provokes what determinism must not allow, each by a planted fault, and checks that every
# one is caught at the planted tick with the expected report, and that the same worlds
# pass without a fault. docs/DETERMINISM.md lists the failures.
set -euo pipefail

usage() {
	cat <<'EOT2'
usage: tools/ci/failures.sh [--row N] [--json] [--self-test]

  --row N       provoke one row of docs/DETERMINISM.md only; 0 is the worlds without a fault
  --json        print one JSON object a line: row, provoked, ok, seen, tick, report, seconds
  --self-test   check that each row fails if its fault is not planted, and if nothing is
                found to differ; where no fault belongs, one is planted

It prints a line for every planted fault: row, ok or FAIL, provoked how, seen as, tick,
exit status of murksim, report. With a server in MURKSIM_POSTGRES (tools/ci/postgres.sh
tools/ci/failures.sh) what is committed goes there, else to a file. It builds this program for the race detector (gcc) and for 386, too.

Exit status: 0 all is seen as it must be, 1 something is not, 2 usage.
EOT2
}

passed=()
while [ $# -gt 0 ]; do
	case "$1" in
	--row)
		case "${2-}" in '' | *[!0-9]*) echo "--row takes a number" >&2; exit 2 ;; esac
		passed+=(-row "$2")
		shift
		;;
	--json) passed+=(-json) ;;
	--self-test) passed+=(-self-test) ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/" ./tools/ci/failures ./tools/ci/failures/murksim
status=0
"$work/failures" -murksim "$work/murksim" "${passed[@]}" || status=$?
exit "$status"
