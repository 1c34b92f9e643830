#!/usr/bin/env bash
# Builds libmurksim and the C programs that test it, and runs them: one that calls every function, under valgrind,
# and one with threads. It needs Go and gcc; on Debian it installs gcc and valgrind if they are missing.
set -euo pipefail
case "${1-}" in
'') ;;
*) echo "usage: tools/ci/clib.sh" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/../.."
. tools/ci/need.sh
need gcc gcc libc6-dev
need valgrind valgrind

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=cmd/libmurksim # with the tags of the wheels, so that it is compiled once
CGO_ENABLED=1 go build -buildmode=c-shared -trimpath -tags=netgo,osusergo -ldflags='-s -w' -o "$work/libmurksim.so" ./$source

# The header that Go makes has each function as it is compiled; ours must say the same.
for standard in c99 c11 c17; do
	gcc -std=$standard -pedantic -Wall -Wextra -Werror -fsyntax-only -x c $source/murksim.h
done
if command -v g++ >/dev/null; then g++ -Wall -Wextra -Werror -fsyntax-only -x c++ $source/murksim.h; fi
exported=$(nm -D --defined-only "$work/libmurksim.so" | sed -n 's/.* T \(murksim_.*\)/\1/p' | sort)
declared=$(grep -oE '^[a-z0-9_]+ murksim_[a-z_]+\(' $source/murksim.h | sed 's/.* //; s/(//' | sort)
[ "$exported" = "$declared" ] || { echo "the library and its header have other functions:"; diff <(echo "$exported") <(echo "$declared"); exit 1; }
echo "$(echo "$declared" | wc -l) functions, as the header has them"

export LD_LIBRARY_PATH="$work"
for program in smoke overrun threads trajectory command; do
	gcc -std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -I $source -o "$work/$program" $source/testdata/$program.c -L "$work" -lmurksim -lpthread
	mkdir "$work/$program.d"
done


# The program of the page.
sed -n '/^```c$/,/^```$/p' docs/LIBMURKSIM.md | sed '1d;/^```$/,$d' >"$work/page.c"
gcc -std=c11 -Wall -Wextra -Werror -I $source -o "$work/page" "$work/page.c" -L "$work" -lmurksim
go run ./cmd/murksim run heat --quiet -o "$work/heat.murk"
(cd "$work" && ./page)

# What a library has computed, one of other code does not believe, though the same program loads it.
mkdir "$work/other"
CGO_ENABLED=1 go build -buildmode=c-shared -trimpath -tags=netgo,osusergo -ldflags='-s -w -X main.other=code' -o "$work/other/libmurksim.so" ./$source
(
	export XDG_CONFIG_HOME="$work/config"
	cd "$work/command.d"
	../command run heat --quiet -o own.murk
	../command index own.murk >/dev/null
	../command seek own.murk --tick 1000 | grep -q 'from the keyframe of tick [1-9]' || { echo "a library does not believe what it has computed itself"; exit 1; }
	LD_LIBRARY_PATH="$work/other" ../command seek own.murk --tick 1000 | tee other.txt | grep -q 'as recorded' || { cat other.txt; exit 1; }
	! grep 'from the keyframe of tick [1-9]' other.txt
)
echo "a library of other code computes again"

# Go's stacks lie in segments of its own, about which memcheck knows nothing, so only what concerns memory of C counts: lost, freed, beyond.
# Buffers end at pages that nobody may touch, since memcheck tells of one wrong access by an instruction.
GODEBUG=asyncpreemptoff=1 valgrind --error-limit=no --undef-value-errors=no --leak-check=full --show-leak-kinds=definite \
	--errors-for-leak-kinds=definite --log-file="$work/log" "$work/smoke" "$work/smoke.d" >/dev/null
grep -q 'ERROR SUMMARY' "$work/log" || { tail -n 20 "$work/log"; exit 1; }
found=$(awk '/Address/ && !/is in a rw- anonymous segment/ || /definitely lost in|Invalid free|Mismatched free/ { print; n = 8 } n-- > 0' "$work/log")
[ -z "$found" ] || { echo "$found"; exit 1; }
echo "every function under valgrind: nothing lost, nothing freed twice, nothing written beyond"
if { "$work/overrun" "$work/overrun.d"; } >/dev/null 2>&1; then
	echo "a buffer that is too short is not noticed"
	exit 1
fi
"$work/threads" "$work/threads.d" >/dev/null
GOGC=1 GODEBUG=cgocheck=1 "$work/threads" "$work/threads.d" >/dev/null
echo "eight threads: as it should be"

# What agents see and get has the bits that it has in Go.
for world in 'heat_seeker 1 5 25' 'crystal_nav 1 13 55' 'hex_pursuit 2 7 147' 'layered_hex 1 9 126' 'hunters 8 9 163'; do
	"$work/trajectory" $world
done >"$work/trajectories"
diff "$work/trajectories" environment/testdata/trajectories.tsv
echo "five worlds: the bits of Go"
