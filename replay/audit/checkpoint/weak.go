package checkpoint

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"slices"
)

// errWeakKey reports a public key for which one signature can be valid for any message.
var errWeakKey = errors.New("checkpoint: it is no key that somebody can sign with: its point has a small order, or is not written in the one way that it has")

// smallOrders are the y coordinates of the points of Curve25519, in the form of Edwards, whose order is 1, 2, 4 or 8.
var smallOrders = [...]string{
	"0100000000000000000000000000000000000000000000000000000000000000", // 1
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // 2
	"0000000000000000000000000000000000000000000000000000000000000000", // 4
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", // 8
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", // 8
}

// CheckKey returns an error for a public key that does not bind its signer: a point of small order, or one that is not
// written canonically (RFC 8032, 5.1.3, which [ed25519.Verify] does not ask for).
func CheckKey(key ed25519.PublicKey) error {
	if len(key) != ed25519.PublicKeySize {
		return errWeakKey
	}
	y := bytes.Clone(key)
	y[31] &= 0x7f // without the sign of x
	if slices.Contains(smallOrders[:], hex.EncodeToString(y)) {
		return errWeakKey
	}
	p := bytes.Repeat([]byte{0xff}, 32) // 2^255 − 19
	p[0], p[31] = 0xed, 0x7f
	slices.Reverse(y)
	slices.Reverse(p)
	if bytes.Compare(y, p) >= 0 {
		return errWeakKey
	}
	return nil
}
