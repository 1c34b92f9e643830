#!/usr/bin/env bash
# Kills processes that record, lets the file system under recordings crash, and damages every
# bit of one. Nothing that is left may give a wrong tick for a right one, and every tick that
# was reported to be safe must be there.
set -euo pipefail

usage() {
	cat <<'EOT2'
usage: tools/ci/torture.sh [--short] [--seed N]

  --short    40 kills and 2,000 crash points, not 1,000 and 100,000
  --seed N   repeat the crashes of a run; kills depend on the clock as well

It prints what became of each case.
Exit status: 0 no wrong tick was accepted and none that was safe is lost, 1 else, 2 usage.
EOT2
}

amount=(-kills 1000 -points 100000)
seed=()
while [ $# -gt 0 ]; do
	case "$1" in
	--short) amount=(-kills 40 -points 2000) ;;
	--seed)
		case "${2-}" in '' | *[!0-9]*) echo "--seed takes a number" >&2; exit 2 ;; esac
		seed=(-seed "$2")
		shift
		;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/murksim" ./cmd/murksim
go build -o "$work/torture" ./tools/ci/torture
"$work/torture" -murksim "$work/murksim" "${amount[@]}" ${seed[@]+"${seed[@]}"}
