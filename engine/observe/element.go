package observe

import "math"

// bytes writes the observation that is in whole as uint8: normalized numbers times 255, all rounded half to even and saturated.
func (o *Observer) bytes(out []uint8) {
	for i := range o.p.parts {
		x := &o.p.parts[i]
		scale := float32(1)
		if x.Transform.kind == normalize {
			scale = 255
		}
		for k := x.offset; k < x.offset+x.channels*x.out; k++ {
			v := math.RoundToEven(float64(o.whole[k]) * float64(scale))
			//detcheck:allow floatint it is within 0 and 255
			out[k] = uint8(min(max(v, 0), 255))
		}
	}
}

// half returns the bits of the IEEE 754 half nearest to a float32, of equally near ones the even one.
func half(v float32) uint16 {
	b := math.Float32bits(v)
	sign, exp, frac := uint16(b>>16)&0x8000, int(b>>23&0xff), b&0x7fffff
	switch {
	case exp == 0xff && frac != 0:
		return sign | 0x7e00 | uint16(frac>>13)
	case exp >= 143: // 2^16 and more, and infinities
		return sign | 0x7c00
	case exp >= 113: // normal numbers
		h := uint32(exp-112)<<10 | frac>>13
		return sign + uint16(roundEven(h, frac&0x1fff, 13))
	case exp >= 102: // subnormal ones
		frac |= 0x800000
		shift := 126 - exp
		return sign | uint16(roundEven(frac>>shift, frac&(1<<shift-1), shift))
	}
	return sign
}

// roundEven rounds up a number whose last bits were cut off, if they are more than half, or half and it is odd.
func roundEven(h, cut uint32, bits int) uint32 {
	middle := uint32(1) << (bits - 1)
	if cut > middle || cut == middle && h&1 == 1 {
		h++
	}
	return h
}
