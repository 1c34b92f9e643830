package fixed

// A Calc computes formulas. It keeps the first fault, with its operands, and yields
// zeros from there on where a result is missing, so that a formula reads straight
// through and Err is asked once:
//
//	var c fixed.Calc
//	y = c.Add(y, c.Mul(v, dt))
//	if err := c.Err(); err != nil { … }
//
// Nothing that was computed before Err said nil may be stored. The zero Calc is ready.
type Calc struct{ err error }

// Err returns the first fault, a [*Fault], or nil.
func (c *Calc) Err() error { return c.err }

func (c *Calc) keep(z Fixed, err error) Fixed {
	if err != nil && c.err == nil {
		c.err = err
	}
	return z
}

// Add is [Fixed.Add].
func (c *Calc) Add(x, y Fixed) Fixed { return c.keep(x.Add(y)) }

// Sub is [Fixed.Sub].
func (c *Calc) Sub(x, y Fixed) Fixed { return c.keep(x.Sub(y)) }

// Neg is [Fixed.Neg].
func (c *Calc) Neg(x Fixed) Fixed { return c.keep(x.Neg()) }

// Abs is [Fixed.Abs].
func (c *Calc) Abs(x Fixed) Fixed { return c.keep(x.Abs()) }

// Mul is [Fixed.Mul].
func (c *Calc) Mul(x, y Fixed) Fixed { return c.keep(x.Mul(y)) }

// Div is [Fixed.Div].
func (c *Calc) Div(x, y Fixed) Fixed { return c.keep(x.Div(y)) }

// Mod is [Fixed.Mod].
func (c *Calc) Mod(x, y Fixed) Fixed { return c.keep(x.Mod(y)) }

// Lerp is [Fixed.Lerp].
func (c *Calc) Lerp(x, y, t Fixed) Fixed { return c.keep(x.Lerp(y, t)) }

// Ceil is [Fixed.Ceil].
func (c *Calc) Ceil(x Fixed) Fixed { return c.keep(x.Ceil()) }

// Round is [Fixed.Round].
func (c *Calc) Round(x Fixed) Fixed { return c.keep(x.Round()) }

// Sqrt is [Fixed.Sqrt].
func (c *Calc) Sqrt(x Fixed) Fixed { return c.keep(x.Sqrt()) }

// Hypot is [Fixed.Hypot].
func (c *Calc) Hypot(x, y Fixed) Fixed { return c.keep(x.Hypot(y)) }

// Tan is [Fixed.Tan].
func (c *Calc) Tan(x Fixed) Fixed { return c.keep(x.Tan()) }

// Exp is [Fixed.Exp].
func (c *Calc) Exp(x Fixed) Fixed { return c.keep(x.Exp()) }

// Log is [Fixed.Log].
func (c *Calc) Log(x Fixed) Fixed { return c.keep(x.Log()) }

// Pow is [Fixed.Pow].
func (c *Calc) Pow(x, y Fixed) Fixed { return c.keep(x.Pow(y)) }
