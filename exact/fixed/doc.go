// Package fixed computes with fixed-point numbers: 64 bits, signed, 16 of them
// after the point. It uses whole numbers throughout, so that every result has the
// same bits on every processor, and it never wraps or saturates: a result that
// cannot be held is an error.
//
// A [Fixed] is an int64 that counts units of 1/65536. Constants, comparison and
// products with whole numbers are Go's own, at the programmer's risk:
//
//	const gravity = 981 * fixed.One / 100
//	if height < 2*fixed.One { … }
//
// Everything else goes through methods that check, such as x.Mul(y), or, where
// formulas are longer than that, through a [Calc], which remembers the first fault.
//
// Mul, Div, Mod, Lerp, Sqrt and Hypot round toward minus infinity, exactly. Parse
// and Round give the nearest value, ties to even. Sin, Cos, Tan, Atan2, Exp, Log and
// Pow are off by less than one unit, that is 1/65536, and mostly are the nearest value.
package fixed
