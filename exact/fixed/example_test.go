package fixed_test

import (
	"errors"
	"fmt"

	"github.com/murksim/murksim/exact/fixed"
)

// Single operations say at once what is wrong.
func Example() {
	third, err := fixed.Ratio(1, 3)
	fmt.Println(third, err)
	_, err = fixed.Max.Add(third)
	fmt.Println(err)
	_, err = fixed.Parse("12,5")
	fmt.Println(err)
	// Output:
	// 0.33333 <nil>
	// fixed: add(140737488355327.99998, 0.33333): overflow
	// fixed: "12,5": not a decimal number at byte 2
}

// throw is where a stone is after some time, without air.
func throw(speed, angle, time fixed.Fixed) (x, y fixed.Fixed, err error) {
	const g = 981 * fixed.One / 100
	var c fixed.Calc
	x = c.Mul(c.Mul(speed, angle.Cos()), time)
	rise := c.Mul(c.Mul(speed, angle.Sin()), time)
	fall := c.Mul(g, c.Mul(time, time)) / 2
	y = c.Sub(rise, fall)
	return x, y, c.Err()
}

// Formulas read straight through; the first fault is asked for at the end.
func ExampleCalc() {
	x, y, err := throw(20*fixed.One, fixed.Pi/4, fixed.One)
	fmt.Println(x, y, err)
	_, _, err = throw(fixed.Max/2, 0, 3*fixed.One)
	fmt.Println(err, errors.Is(err, fixed.ErrOverflow))
	// Output:
	// 14.14246 9.23685 <nil>
	// fixed: mul(70368744177663.99998, 3): overflow true
}
