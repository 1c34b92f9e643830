package kernel

// The plain twins, for tests that compare.
var (
	RelaxPlain      = relaxPlain
	RelaxWovenPlain = relaxWovenPlain
)
