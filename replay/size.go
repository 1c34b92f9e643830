package replay

import (
	"io"
	"os"
)

// sizeOf returns how many bytes r still holds, if that can be found without reading: for a
// regular file, another io.Seeker, or a reader with a Len method. Otherwise it returns -1.
func sizeOf(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len())
	case *os.File:
		if info, err := r.Stat(); err != nil || !info.Mode().IsRegular() {
			return -1
		}
		return seekSize(r)
	case io.Seeker:
		return seekSize(r)
	}
	return -1
}

func seekSize(s io.Seeker) int64 {
	at, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return -1
	}
	end, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return -1
	}
	if _, err := s.Seek(at, io.SeekStart); err != nil {
		return -1
	}
	return max(end-at, 0)
}
