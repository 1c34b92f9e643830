package kernel

// cpuid asks the processor what it is capable of.
//
//detcheck:allow foreign it decides which of two twins with the same bits runs
func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// xgetbv returns the low half of the register that says which states the operating system saves.
//
//detcheck:allow foreign it decides which of two twins with the same bits runs
func xgetbv() uint32

// hasVectors reports whether processor and operating system support AVX2.
func hasVectors() bool {
	const (
		popcnt, osxsave, avx = 1 << 23, 1 << 27, 1 << 28 // leaf 1, ecx
		avx2                 = 1 << 5                    // leaf 7, ebx
		registers            = 1<<1 | 1<<2               // the halves of the vector registers
	)
	if most, _, _, _ := cpuid(0, 0); most < 7 {
		return false
	}
	if _, _, c, _ := cpuid(1, 0); c&popcnt == 0 || c&osxsave == 0 || c&avx == 0 || xgetbv()&registers != registers {
		return false
	}
	_, b, _, _ := cpuid(7, 0)
	return b&avx2 != 0
}

// hasSHA256 reports whether a processor with AVX2 has instructions for SHA-256.
func hasSHA256() bool {
	const sha = 1 << 29 // leaf 7, ebx
	_, b, _, _ := cpuid(7, 0)
	return b&sha != 0
}
