package minewars

import "encoding/binary"

// seaHash returns the SeaHash of b with the usual state.
func seaHash(b []byte) uint64 {
	return seaHashFrom([4]uint64{0x16f11fe89b0d677c, 0xb480a793d8e6c86c, 0x6fe2e5aaf078ebc9, 0x14f994a4c5259381}, b)
}

func seaHashFrom(s [4]uint64, b []byte) uint64 {
	n := uint64(len(b))
	for ; len(b) >= 32; b = b[32:] { // the four words do not wait for each other
		s[0] = diffuse(s[0] ^ binary.LittleEndian.Uint64(b))
		s[1] = diffuse(s[1] ^ binary.LittleEndian.Uint64(b[8:]))
		s[2] = diffuse(s[2] ^ binary.LittleEndian.Uint64(b[16:]))
		s[3] = diffuse(s[3] ^ binary.LittleEndian.Uint64(b[24:]))
	}
	for i := 0; len(b) > 0; i++ {
		var word [8]byte
		k := copy(word[:], b)
		s[i] = diffuse(s[i] ^ binary.LittleEndian.Uint64(word[:]))
		b = b[k:]
	}
	return diffuse(s[0] ^ s[1] ^ s[2] ^ s[3] ^ n)
}

func diffuse(x uint64) uint64 {
	const factor = 0x6eed0e9da4d94a4f
	x *= factor
	x ^= (x >> 32) >> (x >> 60)
	return x * factor
}
