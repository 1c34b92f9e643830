#!/usr/bin/env bash
# Runs a program for Windows, with its arguments, under Debian's wine. That lacks bcryptprimitives.dll, from which Go's programs get random
# bytes; the first time, a compiler for Windows makes one of what wine has.
set -euo pipefail

export WINEPREFIX=${XDG_CACHE_HOME:-$HOME/.cache}/murksim-tests/wine WINEDEBUG=-all
library=$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll
if [ ! -e "$library" ]; then
	mkdir -p "$WINEPREFIX"
	exec 9> "$WINEPREFIX.lock"
	flock 9 # several programs may begin at once
	if [ ! -e "$library" ]; then
		wineboot --init > /dev/null 2>&1
		work=$(mktemp -d)
		printf '%s\n' '#include <windows.h>' '#include <ntsecapi.h>' \
			'__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, (ULONG)size); }' > "$work/prng.c"
		x86_64-w64-mingw32-gcc -shared -O2 -o "$work/prng.dll" "$work/prng.c" -ladvapi32
		mv "$work/prng.dll" "$library"
		rm -r "$work"
	fi
	exec 9>&-
fi
exec wine "$@"
