package words

import (
	"strconv"
)

// A Whole is an integer of JSON, a number up to 2^53. Above that it is a string of its
// digits, because JavaScript and others would round the number. So do recordings as JSON
// lines.
type Whole uint64

// MarshalJSON implements [json.Marshaler].
func (n Whole) MarshalJSON() ([]byte, error) {
	b := strconv.AppendUint(nil, uint64(n), 10)
	if n > 1<<53 {
		b = append(append([]byte{'"'}, b...), '"')
	}
	return b, nil
}
