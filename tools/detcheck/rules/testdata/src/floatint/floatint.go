package floatint

import "math"

func cell(x float64) int { return int(x) } // want `floatint: x is converted to int with no bound in sight; compare or clamp it first`

func byteOf(v [3]float32) uint8 { return uint8(v[0]) } // want `floatint: v\[0\] is converted to uint8`

func rounded(x float64) int64 { return int64(math.Floor(x)) } // want `floatint`

func scaled(x float32) int { return int(float64(x) * 3) } // want `floatint`

func checked(x float64) (int, bool) {
	if !(x >= 0 && x < 256) {
		return 0, false
	}
	return int(math.Floor(x)), true
}

func clamped(x float32) uint8 { return uint8(min(max(x, 0), 255)) }

func clampedBefore(x float32) uint8 {
	y := max(x, 0)
	y = min(y, 255)
	return uint8(y)
}

func asked(ids func(int) float64) uint64 { return uint64(ids(3)) }

func integers(n int64) (float64, int32) { return float64(n), int32(n) }

const three = int(3.0)
