package kernel

// The plain twins, for tests that compare.
var (
	RelaxPlain      = relaxPlain
	RelaxWovenPlain = relaxWovenPlain
	SumPlain        = sumPlain
	FinitePlain     = finitePlain
	ZeroPlain       = zeroPlain
	ClampPlain      = clampPlain
	ScalePlain      = scalePlain
	MovePlain       = (*Swing).movePlain
	ReactPlain      = (*Reaction).reactPlain
	ClimbPlain      = (*Slope).climbPlain
	EarnPlain       = earnPlain
	AddPlain        = addPlain
)
