#!/usr/bin/env bash
# Recomputes fresh recordings with tools/independent/verify.py, a program in Python that was written from docs/spec
# alone: worlds that come with murksim, and random worlds. It needs Go and Python 3.
set -euo pipefail

usage() {
	cat <<'EOT'
usage: tools/ci/independent.sh [--long] [--seed N]

  --long    more ticks, 500 random worlds and 300 with rules, many minutes; without it two to three
  --seed N  the first of the random worlds that differ each time; default: by the date

Every tick of every recording must be equal, a bit that is flipped must be found, and so must each of some eighty
changes to the formulas of the program.
Exit status: 0 all is as it should be, 1 else, 2 usage.
EOT
}

long=false
seed=$(date +%Y%m%d)
while [ $# -gt 0 ]; do
	case "$1" in
	--long) long=true ;;
	--seed)
		case "${2-}" in '' | *[!0-9]*) echo "--seed takes a number" >&2; exit 2 ;; esac
		[ ${#2} -le 15 ] || { echo "--seed takes at most 15 digits" >&2; exit 2; }
		seed=$((10#$2))
		shift
		;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

cd "$(dirname "$0")/../.."
. tools/ci/need.sh
need python3 python3
work=$(mktemp -d /tmp/murksim-independent.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT # when what runs has ended
trap 'exit 143' TERM
go build -o "$work/murksim" ./cmd/murksim

# record SCENARIO NAME TICKS: a recording of the first ticks.
record() { "$work/murksim" run "$1" --until "$3" --no-index --quiet -o "$work/$2.murk"; }
# ticks LONG SHORT: how many.
ticks() { if $long; then echo "$1"; else echo "$2"; fi; }

for name in heat waves life fire; do
	record "$name" "$name" "$(ticks 200 12)"
done
for name in predators crystal; do # until births, and frost that has become a crystal
	record "$name" "$name" "$(ticks 200 60)"
done
record bodies bodies "$(ticks 200 120)"   # until one slides
record colony colony "$(ticks 200 80)"    # until people are tired
for file in scenarios/worlds/propagators/*.yaml; do
	name=$(basename "$file" .yaml)
	record "$name" "$name" "$(ticks 60 10)"
done
# Random worlds that are always the same, so that each change below is caught or not, and others.
for number in $(seq 60) $(seq "$seed" $((seed + $(ticks 500 10) - 1))); do
	python3 tools/independent/worlds.py "$number" >"$work/random-$number.yaml"
	"$work/murksim" run "$work/random-$number.yaml" --no-index --quiet -o "$work/random-$number.murk"
done
# Rules: the models of examples/rules and examples/agents, corners, and random rules.
for file in examples/rules/*.yaml; do
	record "$file" "$(basename "$file" .yaml)" "$(ticks 40 3)"
done
for file in examples/agents/*.yaml; do
	record "$file" "agents-$(basename "$file" .yaml)" "$(ticks 60 8)"
done
record tools/independent/corners.yaml corners 6
for file in tools/independent/automata_*.yaml; do
	record "$file" "$(basename "$file" .yaml)" 8
done
for file in tools/independent/entities_*.yaml; do
	record "$file" "$(basename "$file" .yaml)" 20
done
for number in $(seq 25) $(seq "$seed" $((seed + $(ticks 300 10) - 1))); do
	python3 tools/independent/worlds.py --rules "$number" >"$work/rules-$number.yaml"
	"$work/murksim" run "$work/rules-$number.yaml" --no-index --quiet -o "$work/rules-$number.murk"
done
python3 tools/independent/verify.py "$work"/*.murk >"$work/said" || { grep -v -e '^ok' -e '^  run digest  ' "$work/said"; exit 1; }
"$work/murksim" verify "$work"/*.murk >"$work/ours"
diff <(grep '^  run digest  ' "$work/ours") <(grep '^  run digest  ' "$work/said") || { echo "the run digests of murksim, left, are others"; exit 1; }
echo "$(grep -c '^ok' "$work/said") recordings were computed again, every tick equal"

# The commands of the README, as they stand there.
mkdir "$work/sample"
ln -s "$PWD/tools" "$work/sample/tools"
sed -n '/^```sh$/,/^```$/{//!p}' tools/independent/README.md >"$work/sample/readme"
(cd "$work/sample" && PATH="$work:$PATH" bash -eu readme >/dev/null) || { echo "a command of tools/independent/README.md fails"; exit 1; }

# flipped NAME BYTE STATUS: a recording with one bit changed must end with a status.
flipped() {
	python3 - "$work/$1.murk" "$work/flipped.bin" "$2" <<'EOT'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[3])] ^= 1
open(sys.argv[2], "wb").write(data)
EOT
	status=0
	python3 tools/independent/verify.py "$work/flipped.bin" >"$work/said" 2>&1 || status=$?
	[ "$status" = "$3" ] || { echo "$1 with a bit flipped at $2: exit status $status, want $3"; cat "$work/said"; exit 1; }
}
flipped heat -1 3      # the last hash
flipped predators -1 3
flipped life -12 1     # the number of commands in the last frame
echo "flipped bits were found"

python3 tools/independent/mutate.py "$work"
