package commands

// For the test that both ways of decoding agree.
var (
	Decode       = (*Command).decode
	DecodeSlowly = (*Command).decodeSlowly
)
