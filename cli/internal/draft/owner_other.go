//go:build !unix

package draft

import (
	"io/fs"
	"os"
)

func keepOwner(*os.File, fs.FileInfo) {}

func renamable(string, fs.FileInfo) bool { return true }
