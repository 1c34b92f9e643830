package kernel

import "os"

// Vectors reports whether vector code is used. No bit of any result depends on it.
func Vectors() bool { return vectors }

//detcheck:allow environment both kinds of kernels give the same bits
var vectors = hasVectors() && os.Getenv("MURKSIM_KERNELS") != "plain"

var sha256Together = vectors && hasSHA256()
