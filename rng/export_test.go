package rng

// The known answers of Philox and AS 241 are for arguments that no caller can give.
var (
	Philox         = philox
	NormalQuantile = normalQuantile
)
