#!/usr/bin/env bash
# Runs every scenario three times, in separate processes with different GOMAXPROCS
# and 1, 2 and 8 workers, the first with plain kernels, and compares every field's hash at every tick, the recordings, and
# the final hash with the committed one and with that of a run in sweeps of several ticks. With --arch it compares processors, with --resume
# runs that go on from a saved state.
set -euo pipefail

usage() {
	cat <<'EOT'
usage: tools/ci/verify_determinism.sh [--ticks N] [--self-test] [--update] [SCENARIO...]
       tools/ci/verify_determinism.sh --arch LIST [--ticks N] [--self-test] [SCENARIO...]
       tools/ci/verify_determinism.sh --resume [--every N] [--ticks N] [--self-test] [SCENARIO...]

  --ticks N     ticks to run (default 1000; final hashes are compared at 1000 only)
  --self-test   plant a nondeterminism and check that it is caught
  --update      write the final hashes to tools/ci/golden_hashes.tsv
  --arch LIST   compare processors: some of arm64,riscv64,s390x,ppc64le,386,wasm, or all;
                1, 2 and 8 workers, GOAMD64=v1 and v3 and the race detector come along.
                All but 386 are emulated (qemu-user-static, nodejs)
  --resume      save each scenario at every tick (with --every, every so many) of 200, and
                go on from each state in a process of its own
  SCENARIO...   which scenarios (default: all that come with murksim)

Exit status: 0 all equal, 1 something differs or an emulator is missing, 2 usage.
EOT
}

ticks=1000 arch='' resume=false every='' passed=() self_test=false update=false chosen=()
takes() { [ -n "$2" ] || { echo "$1 takes a $3" >&2; exit 2; }; } # FLAG VALUE WHAT
while [ $# -gt 0 ]; do
	case "$1" in
	--ticks) takes "$1" "${2:-}" number; ticks=$2; passed+=(-ticks "$2"); shift ;;
	--arch) takes "$1" "${2:-}" list; arch=$2; shift ;;
	--resume) resume=true ;;
	--every) takes "$1" "${2:-}" number; every=$2; passed+=(-every "$2"); shift ;;
	--self-test) self_test=true; passed+=(-self-test) ;;
	--update) update=true ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) chosen+=("$1") ;;
	esac
	shift
done
case "$ticks" in '' | *[!0-9]* | 0) echo "--ticks is $ticks; it is a whole number above 0" >&2; exit 2 ;; esac

modes=0
for given in "${arch:+true}" "${resume#false}" "${update#false}"; do [ -z "$given" ] || modes=$((modes + 1)); done
[ "$modes" -le 1 ] && { [ -z "$every" ] || $resume; } || { usage >&2; exit 2; }

cd "$(dirname "$0")/../.."
golden=tools/ci/golden_hashes.tsv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tool NAME ARGUMENTS...: a program of this folder in place of this script.
tool() {
	go build -o "$work/$1" "./tools/ci/$1"
	local status=0
	"$work/$1" "${@:2}" || status=$?
	exit "$status"
}
if [ -n "$arch" ]; then tool matrix -arch "$arch" "${passed[@]}" "${chosen[@]}"; fi
if $resume; then tool resume "${passed[@]}" "${chosen[@]}"; fi

# first_difference A B: names the first tick and field at which two tables of hashes differ.
first_difference() {
	awk -F '\t' '
		NR == FNR { a[FNR] = $0; lines = FNR; next }
		FNR == 1 { split($0, name, "\t") }
		FNR > lines || a[FNR] != $0 {
			if (FNR > lines) { print "tick " $1 ": only the second run has it"; found = 1; exit }
			split(a[FNR], old, "\t")
			for (i = 3; i <= NF; i++) if (old[i] != $i) { print "tick " $1 ", field " name[i] ": " old[i] " and " $i; found = 1; exit }
			print "tick " $1 ": " old[2] " and " $2; found = 1; exit
		}
		END { if (!found && FNR < lines) print "the second run ends after line " FNR " of " lines }
	' "$1" "$2"
}

# compare NAME A B: whether two tables are equal; if not, says where they differ.
compare() {
	cmp -s "$2" "$3" && return 0
	echo "  $1: $(first_difference "$2" "$3")"
	return 1
}

if $self_test; then
	go build -o "$work/planted" ./tools/ci/planted
	caught=0
	for name in heat predators; do
		GOMAXPROCS=1 "$work/planted" -scenario "$name" -ticks 60 -workers 1 -hashes "$work/a.tsv"
		GOMAXPROCS=4 "$work/planted" -scenario "$name" -ticks 60 -workers 3 -hashes "$work/b.tsv"
		if compare "$name" "$work/a.tsv" "$work/b.tsv"; then
			echo "FAIL: the fault planted in $name was not caught"
			exit 1
		fi
		caught=$((caught + 1))
	done
	echo "self-test: the planted fault was caught in $caught of 2 scenarios"
	exit 0
fi

go build -o "$work/murksim" ./cmd/murksim
go build -o "$work/swept" ./tools/ci/swept
if [ ${#chosen[@]} -eq 0 ]; then
	mapfile -t chosen < <("$work/murksim" scenarios --json | sed -E 's/.*"name":"([^"]*)".*/\1/')
fi
[ ${#chosen[@]} -gt 0 ] || { echo "no scenarios found" >&2; exit 1; }

# once NAME RUN GOMAXPROCS WORKERS [KERNELS]: one process.
once() {
	MURKSIM_KERNELS=${5-} GOMAXPROCS=$3 "$work/murksim" run "$1" --ticks "$ticks" --workers "$4" --quiet \
		-o "$work/$1.$2.murk" --hashes "$work/$1.$2.tsv"
}

# check NAME: runs one scenario and prints its line of the table, and what differs below it.
# It leaves its final hash in NAME.golden, and NAME.bad if something is wrong.
check() {
	local name=$1 result=equal run want swept n
	: >"$work/$name.difference"
	once "$name" a 1 1 plain && once "$name" b 4 2 && once "$name" c 8 8 || result="DOES NOT RUN"
	touch "$work/$name".{a,b,c}.tsv
	for run in a b c; do local "$run=$(tail -n 1 "$work/$name.$run.tsv" | cut -f 2)"; done
	swept=$("$work/swept" "$name" "$ticks" || true)
	n=$(awk 'END { print (NR ? NR - 1 : 0) }' "$work/$name.a.tsv")
	if [ "$result" = equal ]; then
		compare "$name" "$work/$name.a.tsv" "$work/$name.b.tsv" >"$work/$name.difference" || result=DIFFERENT
		[ "$n" = "$ticks" ] || result="RAN $n TICKS"
		compare "$name" "$work/$name.a.tsv" "$work/$name.c.tsv" >>"$work/$name.difference" || result=DIFFERENT
		cmp -s "$work/$name.a.murk" "$work/$name.b.murk" && cmp -s "$work/$name.a.murk" "$work/$name.c.murk" || result=DIFFERENT
		[ "$swept" = "$a" ] || result="DIFFERENT IN SWEEPS"
		"$work/murksim" verify --quiet --complete "$work/$name.a.murk" || result="DOES NOT VERIFY"
	fi
	want=$(awk -F '\t' -v n="$name" '$1 == n { print $2 }' "$golden" 2>/dev/null || true)
	if [ "$result" = equal ] && [ "$ticks" = 1000 ] && ! $update; then
		if [ -z "$want" ]; then result="NO GOLDEN HASH"; elif [ "$a" != "$want" ]; then result="GOLDEN HASH IS $want"; fi
	fi
	printf '%s\t%s\n' "$name" "$a" >"$work/$name.golden"
	printf '%-16s %7d  %-16s  %-16s  %-16s  %-16s  %s\n' "$name" "$n" "$a" "$b" "$c" "$swept" "$result"
	if [ "$result" != equal ]; then
		touch "$work/$name.bad"
		cat "$work/$name.difference"
	fi
	rm -f "$work/$name".{a,b,c}.{murk,tsv}
}

# Scenarios are checked side by side, as many as there are cores, and told in order.
printf '%-16s %7s  %-16s  %-16s  %-16s  %-16s  %s\n' scenario ticks '1 worker' '2 workers' '8 workers' 'in sweeps' result
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
started=0 pids=()
for i in "${!chosen[@]}"; do
	while [ "$started" -lt ${#chosen[@]} ] && [ "$started" -lt $((i + cores)) ]; do
		check "${chosen[started]}" >"$work/${chosen[started]}.out" 2>&1 &
		pids+=($!)
		started=$((started + 1))
	done
	wait "${pids[i]}" || touch "$work/${chosen[i]}.bad"
	cat "$work/${chosen[i]}.out"
done
failed=0
: >"$work/golden"
for name in "${chosen[@]}"; do
	cat "$work/$name.golden" >>"$work/golden"
	[ ! -e "$work/$name.bad" ] || failed=1
done
if $update; then
	[ "$ticks" = 1000 ] && [ "$failed" = 0 ] || { echo "golden hashes are written after 1000 equal ticks only" >&2; exit 1; }
	# A scenario that was not run keeps its line.
	awk -F '\t' 'NR == FNR { new[$1] = $0; order[++n] = $1; next }
		{ print ($1 in new ? new[$1] : $0); old[$1] = 1 }
		END { for (i = 1; i <= n; i++) if (!(order[i] in old)) print new[order[i]] }' "$work/golden" "$golden" >"$work/merged"
	cp "$work/merged" "$golden"
	echo "wrote $golden"
fi
[ "$failed" = 0 ] && echo "${#chosen[@]} of ${#chosen[@]} scenarios are equal at every tick, in every field" || echo "FAIL: see above"
exit "$failed"
