package sweep

import "testing"

// TestPlainValue: values of a design that come from a stranger's journal are no formulas in a table, and numbers stay.
func TestPlainValue(t *testing.T) {
	for value, want := range map[string]string{"=cmd|' /C calc'!A0": "cmd|' /C calc'!A0", "＝1+1": "1+1", "-x": "x", "-1.5": "-1.5", "+3": "+3", "a=b": "a=b"} {
		if got := plainValue(value); got != want {
			t.Errorf("%q becomes %q, want %q", value, got, want)
		}
	}
}
