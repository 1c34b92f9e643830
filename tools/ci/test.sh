#!/usr/bin/env bash
# Sets up and runs every check of the project. It needs Go. On Debian it installs, if
# they are missing and it may: git, gcc for the race detector, the emulators of other
# processors (qemu-user-static, nodejs), for audits Postgres, for the viewer Chromium, for exports ffmpeg and
# Python with venv, whose packages come from PyPI, for the C interface valgrind, for wheels a compiler for arm64; TypeScript comes from npm. Sweeps on three hosts need namespaces and
# iproute2.
#
#   tools/ci/test.sh           every kind of check
#   tools/ci/test.sh --quick   formatting, vet and tests only
#   tools/ci/test.sh --long    the same checks in full, for a night: no sample where all
#                              can be tried, 1,000 ticks on every processor, a minute of
#                              each fuzz test
set -euo pipefail
cd "$(dirname "$0")/../.."
started=$(date +%s)

quick=false long=false
case "${1-}" in
'') ;;
--quick) quick=true ;;
--long) long=true ;;
*) echo "usage: tools/ci/test.sh [--quick | --long]" >&2; exit 2 ;;
esac

step() { printf '\n== %s (%ss)\n' "$1" "$(($(date +%s) - started))"; }

# full LONG SAMPLE: how much of a check to run.
full() { if $long; then echo "$1"; else echo "$2"; fi; }
short=$(full '' -short) # a sample of exhaustive tests, where they run once more

# need COMMAND PACKAGE: installs a Debian package if a command is missing.
need() {
	command -v "$1" >/dev/null && return
	local sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "$2" >/dev/null
}
command -v go >/dev/null || { echo "Go 1.26 or later is needed: https://go.dev/dl/" >&2; exit 1; }
need git git
need gcc gcc

step "formatting"
unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
[ -z "$unformatted" ] || { echo "gofmt these: $unformatted"; exit 1; }

step "go vet"
go vet ./...
go vet -tags postgres,browser ./... # tests that scripts below run

step "go test"
go test ./...
if $quick; then exit 0; fi

step "the same with plain kernels"
MURKSIM_KERNELS=plain go test -count=1 $short ./internal/kernel ./internal/statehash ./fields ./engine ./engine/propagators ./engine/internal/refworld

step "random worlds, seeded by the date"
go test -count=1 -run TestRandomWorlds -v ./engine/internal/refworld -worlds "$(full 10000 1000)" | grep -v '^=== '

step "generated code"
go generate ./internal/kernel
git diff --exit-code -- internal/kernel

step "staticcheck"
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

step "rules of determinism"
go run ./tools/detcheck -all ./space ./fields ./internal/kernel ./internal/store ./internal/statehash ./internal/wire ./commands ./rng ./exact/... ./engine/... ./scenarios/... ./environment
echo "nothing found"

need qemu-aarch64-static qemu-user-static
need node nodejs

step "errors of the elementary functions, a sample"
go run ./tools/ulp --sample 4001 --args 20000

# Packages that start goroutines, and the propagators by random worlds; the matrix below
# runs every scenario under the race detector. Of the index and the command line only what
# shares memory: recording, compressing and verifying side by side, drawing a run, and an
# index that makes room on a full disk. The tests of the latter build the program with GOFLAGS.
step "race detector"
CGO_ENABLED=1 go test -race $short ./internal/store ./internal/statehash ./commands ./engine ./environment ./replay ./runner ./serve ./view ./sweep ./sweep/cluster ./cli/internal/metrics
CGO_ENABLED=1 go test -race -count=1 -run TestRandomWorlds ./engine/internal/refworld -worlds "$(full 3000 300)"
CGO_ENABLED=1 go test -race $short -run "$(full . '^TestSeek$/heat|^TestVerify|^TestSinkOf|^TestResumeKeeps')" ./replay/index
CGO_ENABLED=1 GOFLAGS="${GOFLAGS-} -race" GORACE=atexit_sleep_ms=0 go test -count=1 -run '^TestWatch$|^TestMakeRoom$|^TestOverwriting$/on_a_full_disk' ./cli

step "other systems and processors"
for target in windows/amd64 darwin/arm64 js/wasm; do
	GOOS=${target%/*} GOARCH=${target#*/} go build -o /dev/null ./cmd/murksim
	echo "$target builds"
done
program=$(mktemp)
go build -ldflags='-s -w' -o "$program" ./cmd/murksim
bytes=$(stat -c %s "$program")
rm "$program"
[ "$bytes" -lt 45000000 ] || { echo "the command line has $bytes bytes without its symbols; the limit is 45,000,000"; exit 1; }
echo "the command line has $bytes bytes without its symbols"
fused=$(GOARCH=arm64 go build -gcflags='-S' ./internal/kernel ./internal/store ./internal/statehash ./exact/... ./rng ./space ./fields ./commands ./engine/... ./replay/foreign ./scenarios/... ./environment 2>&1 |
	grep -E '^\s.*\sFN?M(ADD|SUB)[SD]\s' || true)
[ -z "$fused" ] || { echo "products are fused on arm64:"; echo "$fused" | head -n 20; exit 1; }
echo "no product is fused on arm64"
GOARCH=386 go test $short ./internal/kernel ./internal/store ./internal/statehash ./internal/wire ./exact/... ./rng ./space ./fields ./commands ./engine ./engine/observe ./environment ./replay ./replay/foreign
for processor in arm64/aarch64 s390x/s390x; do # what agents see and get
	CGO_ENABLED=0 GOARCH=${processor%/*} go test -exec "qemu-${processor#*/}-static" -run '^TestGolden$' ./environment
done
GOAMD64=v3 go test $short ./internal/kernel ./internal/statehash ./exact/... ./rng ./engine ./engine/observe ./environment
for variable in GOARCH=386 GOAMD64=v3; do # the propagators' hashes on every space
	env $variable go test -run "$(full . '^TestGolden$')" ./engine/propagators
done

step "determinism"
tools/ci/verify_determinism.sh --self-test
tools/ci/verify_determinism.sh

step "the same on every processor"
tools/ci/verify_determinism.sh --arch "$(full all arm64,386)" --self-test
tools/ci/verify_determinism.sh --arch all --ticks "$(full 1000 40)"

step "going on from saved states"
tools/ci/verify_determinism.sh --resume --self-test
tools/ci/verify_determinism.sh --resume --every "$(full 1 25)"

step "failures provoked"
tools/ci/failures.sh

step "recordings killed, crashed and damaged"
tools/ci/torture.sh $(full '' --short)

step "a game served to many"
tools/ci/load.sh $(full '' --short)

step "recordings computed again by an independent program"
need python3 python3
tools/ci/independent.sh $(full --long '')

step "sweeps on three hosts"
tools/ci/cluster.sh $(full '' '--short --seed 21')

step "the audit's chain on a real Postgres"
tools/ci/postgres.sh

step "the viewer in a browser"
need chromium chromium
tools/ci/viewer.sh

step "exports in the programs that they are for"
need python3 python3
tools/ci/exports.sh

step "the C interface"
tools/ci/clib.sh

step "the Python package"
tools/ci/python.sh $(full --long '')
tools/ci/wheels.sh "$(mktemp -d)"

if $long; then
	step "failures that are not seen"
	tools/ci/failures.sh --self-test
	step "every package on every processor"
	for arch in arm64 riscv64 s390x ppc64le; do
		GOARCH=$arch go vet ./...
		echo "$arch compiles"
	done
	step "single changes that tests must catch"
	go run ./tools/mutate -seed 1 -count 60 -budget 10m ./space ./fields ./commands ./engine ./replay ./internal/statehash ./internal/store ./internal/wire
	step "fuzzing"
	grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do
		for name in $(grep -oE '^func Fuzz\w+' "$file" | cut -d ' ' -f 2); do
			go test -run xxx -fuzz "^$name\$" -fuzztime 60s -fuzzminimizetime 10x "./$(dirname "$file")"
		done
	done
fi

step "all checks passed"
