package statehash

// For the test that holds vector code equal to its plain twin.
var (
	Side      = side
	SidePlain = sidePlain
)
