#!/usr/bin/env bash
# Sets up and runs every check of the project. It needs Go. On Debian it installs, if
# they are missing and it may: git, gcc for the race detector, and the emulators of other
# processors (qemu-user-static, nodejs).
#
#   tools/ci/test.sh           everything
#   tools/ci/test.sh --quick   formatting, vet and tests only
set -euo pipefail
cd "$(dirname "$0")/../.."
started=$(date +%s)

quick=false
case "${1-}" in
'') ;;
--quick) quick=true ;;
*) echo "usage: tools/ci/test.sh [--quick]" >&2; exit 2 ;;
esac

step() { printf '\n== %s (%ss)\n' "$1" "$(($(date +%s) - started))"; }

# need COMMAND PACKAGE: installs a Debian package if a command is missing.
need() {
	command -v "$1" >/dev/null && return
	local sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -qq && $sudo apt-get install -y -qq "$2"
}
command -v go >/dev/null || { echo "Go 1.26 or later is needed: https://go.dev/dl/" >&2; exit 1; }
need git git
need gcc gcc

step "formatting"
unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
[ -z "$unformatted" ] || { echo "gofmt these: $unformatted"; exit 1; }

step "go vet"
go vet ./...

step "go test"
go test ./...
if $quick; then exit 0; fi

step "the same with plain kernels"
MURKSIM_KERNELS=plain go test -count=1 ./internal/kernel ./fields ./engine ./engine/propagators ./engine/internal/refworld

step "10 % of the random worlds, seeded by the date"
go test -count=1 -run TestRandomWorlds -v ./engine/internal/refworld -worlds 1000 | grep -v '^=== '

step "conformance vectors"
go test -count=1 -run TestVectors -v ./... | grep -E '^(ok|FAIL|---|panic)|_test.go' | grep -v 'no test files'

step "generated code"
go generate ./internal/kernel
git diff --exit-code -- internal/kernel

step "staticcheck"
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

step "rules of determinism"
go run ./tools/detcheck ./space ./fields ./internal/kernel ./internal/wire ./commands ./rng ./exact/... ./engine/... ./scenarios/...
echo "nothing found"

need qemu-aarch64-static qemu-user-static
need node nodejs

step "errors of the elementary functions, a sample"
go run ./tools/ulp --sample 4001 --args 20000

step "race detector"
CGO_ENABLED=1 go test -race ./internal/kernel ./commands ./fields ./space ./rng ./engine ./engine/physics ./engine/propagators ./replay ./replay/diff ./replay/foreign ./scenarios ./cmd/murksim

step "other processors"
for arch in arm64 riscv64 s390x ppc64le; do
	GOARCH=$arch go vet ./...
	echo "$arch compiles"
done
fused=$(GOARCH=arm64 go build -gcflags='-S' ./internal/kernel ./exact/... ./rng ./space ./fields ./commands ./engine/... ./replay/foreign ./scenarios 2>&1 |
	grep -E '^\s.*\sFN?M(ADD|SUB)[SD]\s' || true)
[ -z "$fused" ] || { echo "products are fused on arm64:"; echo "$fused" | head -n 20; exit 1; }
echo "no product is fused on arm64"
GOARCH=386 go test ./internal/kernel ./internal/wire ./exact/... ./rng ./space ./fields ./commands ./engine ./engine/propagators ./replay ./replay/foreign
GOAMD64=v3 go test ./internal/kernel ./exact/... ./rng ./fields ./engine ./engine/propagators

step "determinism"
tools/ci/verify_determinism.sh --self-test
tools/ci/verify_determinism.sh

step "the same on every processor: the first 40 ticks"
tools/ci/verify_determinism.sh --arch all --self-test
tools/ci/verify_determinism.sh --arch all --ticks 40

step "going on from saved states: every 25 ticks"
tools/ci/verify_determinism.sh --resume --self-test
tools/ci/verify_determinism.sh --resume --every 25

step "failures provoked"
tools/ci/failures.sh

step "all checks passed"
