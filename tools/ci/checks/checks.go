package main

// checks are all checks, in the order in which they begin: those that take longest come first.
//
// In their commands $(full A B) is A with --long, else B; $quick and $long are true or false; $laws are tests that compute long.
var checks = []check{
	{
		name: "format", what: "gofmt", quick: true,
		do: `files=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
			[ -z "$files" ] || { echo "gofmt these: $files"; exit 1; }`,
	},
	{
		name: "vet", what: "go vet, also of tests that other checks start", quick: true, first: true,
		do: `go build ./...
			go vet ./...
			$quick || go vet -tags postgres,browser $(git grep -lE '^//go:build .*(postgres|browser)' -- '*.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')`,
	},
	{
		name: "programs", what: "go test of cli, sweep and tools, whose tests start programs",
		do: `go test $(full '' -short) ./cli/... ./sweep/... ./tools/...`, adds: "long tests, 1 minute",
	},
	{
		name: "test", what: "go test of every other package", quick: true,
		do: `if ! $long; then skip=$laws; fi
			go test $(full '' -short) -skip "${skip-}" $(go list ./... | grep -vE '/(cli|sweep|tools)(/|$)')`, adds: "long tests, and laws that follow from formulas, 2 minutes",
	},
	{
		name: "cluster", what: "sweeps on three hosts, whose workers, servers and disks fail", waits: true,
		do: `tools/ci/cluster.sh $(full '' '--short --seed 21')`, adds: "10,000 jobs, 8 minutes",
	},
	{
		name: "browser", what: "the viewer in Chromium, and the types of its sources", waits: true,
		do: `tools/ci/viewer.sh $(full '' --short)`, adds: "every scenario and each flipped byte, 1 minute",
	},
	{
		name: "postgres", what: "the audit's chain on a real Postgres, which is killed", waits: true,
		do: `tools/ci/postgres.sh`,
	},
	{
		name: "load", what: "a game served to many, some of whom misbehave", waits: true,
		do: `tools/ci/load.sh $(full '' --short)`, adds: "2,000 spectators, 90 s",
	},
	{
		name: "processors", what: "every scenario on 9 builds and processors, from genesis and from a state",
		do: `need gcc gcc libc6-dev
			need qemu-aarch64-static qemu-user-static
			need node nodejs
			if $long; then
				need wine wine wine64
				need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64-win32
				tools/ci/verify_determinism.sh --arch all --self-test
			fi
			tools/ci/verify_determinism.sh --arch $(full all arm64,s390x,386,wasm) --ticks $(full 1000 40)`, adds: "riscv64, ppc64le, Windows, 1,000 ticks, a planted fault, 2 hours",
	},
	{
		name: "race", what: "packages that start goroutines, and random worlds, under the race detector",
		do: `need gcc gcc libc6-dev
			export CGO_ENABLED=1
			alone='^Test(StateOfTooManyParts|MostSpawns|SaveEveryBit|Nearest|Policies|Golden|Plot|LiesAreFound|TableIsThatOf)|^TestStates$' # one goroutine, or what others have
			go test -race $(full '' "-short -skip $alone") ./internal/store ./internal/statehash ./commands ./engine ./environment ./replay ./runner ./serve ./view ./sweep $(full "./sweep/cluster ./internal/metrics" "")
			go test -race -count=1 -run TestRandomWorlds ./engine/internal/refworld -worlds $(full 3000 300)
			go test -race $(full '' -short) -run "$(full . '^TestSeek$/heat|^TestVerify|^TestSinkOf|^TestResumeKeeps')" ./replay/index
			if $long; then GOFLAGS="${GOFLAGS-} -race" GORACE=atexit_sleep_ms=0 go test -count=1 -run '^TestWatch$|^TestMakeRoom$|^TestOverwriting$/on_a_full_disk' ./cli; fi`,
		adds: "long tests, 3,000 worlds, programs that a run talks to, 20 minutes",
	},
	{
		name: "clib", what: "the C interface, under valgrind, and with threads",
		do: `tools/ci/clib.sh`,
	}, {
		name: "python", what: "the Python package: pytest, mypy, the examples of its page",
		do: `tools/ci/python.sh $(full --long '')`, adds: "Stable-Baselines3 trains agents (5 GB)",
	},

	{
		name: "independent", what: "recordings computed again by the program in Python",
		do: `tools/ci/independent.sh $(full --long '')`, adds: "more ticks, 500 random worlds, 15 minutes",
	},

	{
		name: "exports", what: "exports in NumPy, pandas, pyarrow, Pillow, MCAP and ffmpeg",
		do: `tools/ci/exports.sh`,
	},
	{
		name: "wheels", what: "the Python package's wheels, each imported",
		do: `work=$(mktemp -d)
			trap 'rm -rf "$work"' EXIT
			tools/ci/wheels.sh $(full '' --this) "$work"`, adds: "the wheel for arm64, 2 minutes at first",
	}, {
		name: "determinism", what: "every scenario with 1, 2 and 8 workers and in sweeps, and golden hashes",
		do: `if $long; then tools/ci/verify_determinism.sh --self-test; fi
			tools/ci/verify_determinism.sh`, adds: "a planted fault",
	},
	{
		name: "resume", what: "every scenario from saved states, each in a process of its own",
		do: `if $long; then tools/ci/verify_determinism.sh --resume --self-test; fi
			tools/ci/verify_determinism.sh --resume --every $(full 1 25)`, adds: "every tick, a planted fault, 3 minutes",
	},
	{
		name: "signatures", what: "signatures and time stamps, which openssl makes and checks",
		do: `need openssl openssl
			go test -count=1 -run '^TestStamp$|^TestScripts$/^auditcosign$' ./cli`,
	},
	{
		name: "failures", what: "every failure of docs/DETERMINISM.md, planted and caught",
		do: `need gcc gcc libc6-dev
			tools/ci/failures.sh
			if $long; then tools/ci/failures.sh --self-test; fi`, adds: "each without its fault, 1 minute",
	},
	{
		name: "torture", what: "recordings killed, crashed and damaged",
		do: `tools/ci/torture.sh $(full '' --short)`, adds: "1,000 kills, 100,000 crashes, 7 minutes",
	},
	{
		name: "plain", what: "the kernels without vector code, and what stands on them",
		do:   `MURKSIM_KERNELS=plain go test -count=1 $(full '' "-short -skip $laws") ./internal/kernel ./internal/statehash ./fields ./engine/propagators ./engine/internal/refworld ./scenarios/rules`,
		adds: "long tests",
	},
	{
		name: "worlds", what: "random worlds and rules, seeded by the date, beside the naive engine",
		do: `go test -count=1 -run TestRandomWorlds -v ./engine/internal/refworld -worlds $(full 10000 1000) | grep -v '^=== '
			go test -count=1 -run TestRandomRules -v ./scenarios/rules -rules $(full 10000 2000) -from "$(date +%Y%m%d)" | grep -v '^=== '`,
		adds: "10,000 worlds, and as many rules",
	},
	{
		name: "v3", what: "GOAMD64=v3, for which the compiler may fuse products",
		do: `export GOAMD64=v3
			go test $(full '' -short) ./internal/kernel ./internal/statehash ./exact/... ./rng ./engine ./engine/observe ./environment ./scenarios/rules
			go test -run "$(full . '^TestGolden$')" ./engine/propagators`, adds: "long tests, 3 minutes",
	},
	{
		name: "386", what: "tests where int has 32 bits",
		do: `export GOARCH=386
			go test $(full '' -short) ./internal/kernel ./internal/store ./internal/statehash ./internal/wire ./exact/... ./rng ./space ./fields ./commands ./engine ./engine/observe ./environment ./replay ./replay/foreign ./scenarios/rules
			go test -run "$(full . '^TestGolden$')" ./engine/propagators`, adds: "long tests, 5 minutes",
	},
	{
		name: "emulated", what: "what agents see and get, and random rules, on arm64, s390x and WebAssembly",
		do: `need qemu-aarch64-static qemu-user-static
			for processor in arm64/aarch64 s390x/s390x; do
				CGO_ENABLED=0 GOARCH=${processor%/*} go test -exec "qemu-${processor#*/}-static" -run '^TestGolden$|^TestRandomRules$' -short ./environment ./scenarios/rules
			done
			need node nodejs
			GOOS=wasip1 GOARCH=wasm go test -exec "node --no-warnings $PWD/tools/ci/wasi.mjs" -run '^TestRandomRules$' -short ./scenarios/rules`,
	},
	{
		name: "build", what: "types on Windows and macOS, of the command line on WebAssembly, and its size", adds: "programs for these, small tests under wine, 7 minutes at first",
		do: `go test -count=1 -run '^TestOtherSystems$' ./tools/tidy
			for target in $(full 'windows/amd64 darwin/arm64 js/wasm' ''); do
				GOOS=${target%/*} GOARCH=${target#*/} go build -o /dev/null ./cmd/murksim
				echo "$target builds"
			done
			if $long; then
				need wine wine wine64
				need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64-win32
				GOOS=windows go test -short -exec "$PWD/tools/ci/wine.sh" ./commands ./fields ./space ./rng ./exact/... ./engine/... ./runner ./replay/index ./replay/diff ./scenarios/components ./scenarios/worlds/{colony,crystal,fire,minewars,predators}
			fi
			program=$(mktemp)
			trap 'rm -f "$program"' EXIT
			go build -ldflags='-s -w' -o "$program" ./cmd/murksim
			bytes=$(stat -c %s "$program")
			echo "the command line has $bytes bytes without its symbols; the limit is 45,000,000"
			[ "$bytes" -lt 45000000 ]`,
	},
	{
		name: "fused", what: "that no product is fused on arm64",
		do: `fused=$(GOARCH=arm64 go build -gcflags=-S ./internal/kernel ./internal/store ./internal/statehash ./exact/... ./rng ./space ./fields ./commands ./engine/... ./replay/foreign ./scenarios/... ./environment 2>&1 |
				grep -E '^\s.*\sFN?M(ADD|SUB)[SD]\s' || true)
			[ -z "$fused" ] || { echo "products are fused:"; head -n 20 <<<"$fused"; exit 1; }`,
	},
	{
		name: "staticcheck", what: "staticcheck",
		do: `go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...`,
	},
	{
		name: "detcheck", what: "the rules of determinism",
		do: `go run ./tools/detcheck -all ./space ./fields ./internal/kernel ./internal/store ./internal/statehash ./internal/wire ./commands ./rng ./exact/... ./engine/... ./scenarios/... ./environment`,
	},
	{
		name: "ulp", what: "errors of the elementary functions, a sample",
		do: `go run ./tools/ulp --sample 4001 --args 20000`,
	},
	{
		name: "generated", what: "that the vector code is what its generator makes",
		do: `work=$(mktemp -d)
			trap 'rm -rf "$work"' EXIT
			go build -o "$work/gen" ./internal/kernel/gen
			(cd "$work" && ./gen -out vector_amd64.s -stubs vector_amd64.go -pkg kernel)
			for file in vector_amd64.s vector_amd64.go; do diff "$work/$file" "internal/kernel/$file"; done`,
	},
	{
		name: "compile", what: "every package for four more processors", night: true, adds: "this, 5 minutes",
		do: `for arch in arm64 riscv64 s390x ppc64le; do
				GOARCH=$arch go vet ./...
				echo "$arch compiles"
			done`,
	},
	{
		name: "mutate", what: "single changes that tests must catch", night: true, adds: "this, 10 minutes",
		do: `go run ./tools/mutate -seed 1 -count 60 -budget 10m ./space ./fields ./commands ./engine ./replay ./internal/statehash ./internal/store ./internal/wire`,
	},
	{
		name: "faults", what: "what shrink makes of twenty faults in runs of 100,000 ticks with 10,000 commands", night: true, adds: "this, 40 minutes",
		do: `MURKSIM_TEST_TICKS=100000 go test -v -run TestPlantedFaults -timeout 2h ./cli`,
	},
	{
		name: "fuzz", what: "every fuzz test, for a minute each", night: true, adds: "this, an hour",
		do: `grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do
				for name in $(grep -oE '^func Fuzz\w+' "$file" | cut -d ' ' -f 2); do
					go test -run xxx -fuzz "^$name\$" -fuzztime 60s -fuzzminimizetime 10x "./$(dirname "$file")"
				done
			done`,
	},
}
