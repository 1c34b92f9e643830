package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/yrep"
)

// yrepFlags say how a YREP file is read.
type yrepFlags struct {
	dialect, protocol    string
	lenient, keepUnknown bool
}

// add adds the flags to a command's.
func (y *yrepFlags) add(f *pflag.FlagSet) {
	f.StringVar(&y.dialect, "dialect", yrep.Auto.String(), "how to read a YREP file: narrow, wide, or auto, which finds the one in which it is whole")
	f.StringVar(&y.protocol, "protocol", "", "the protocol version that a YREP file must have, such as v1_8_R3")
	lenientFlags(f, &y.lenient, &y.keepUnknown)
}

func lenientFlags(f *pflag.FlagSet, lenient, keepUnknown *bool) {
	f.BoolVar(lenient, "lenient", false, "keep instructions of a YREP file that cannot be decoded, as bytes")
	f.BoolVar(keepUnknown, "keep-unknown", false, "keep instructions of a YREP file with unknown ids, as bytes")
}

// only refuses the flags for another file than a YREP file.
func (y *yrepFlags) only(given func(string) bool) error {
	for _, flag := range []string{"dialect", "protocol", "lenient", "keep-unknown", "all"} {
		if given(flag) {
			return report.Usage("--%s is for YREP files", flag)
		}
	}
	return nil
}

// options returns what the flags say.
func (y *yrepFlags) options() (o yrep.Options, err error) {
	if o.Dialect, err = yrep.ParseDialect(y.dialect); err != nil {
		return o, report.Usage("--dialect must be narrow, wide or auto, not %q", y.dialect)
	}
	o.Protocol, o.Lenient, o.KeepUnknown = y.protocol, y.lenient, y.keepUnknown
	return o, nil
}

// yrepHint says how to proceed after an error of a YREP file.
func (a *app) yrepHint(name string, o yrep.Options, err error) string {
	e, ok := errors.AsType[*yrep.Error](err)
	if !ok || e.Line > 0 {
		return ""
	}
	if o.Dialect != yrep.Wide && e.Frame > 0 && isWide(name, o, e.Frame) {
		return fmt.Sprintf("\n  in the wide dialect frame %d is whole: --dialect wide", e.Frame)
	}
	if e.Frame > 1 && name != "-" && !files.IsPipe(name) {
		return fmt.Sprintf("\n  %s recover %s -o FILE copies what is whole before that", a.Name, words.Argument(name))
	}
	return ""
}

// isWide reports whether a frame of a file, and all before it, are whole in the wide dialect.
func isWide(name string, o yrep.Options, frame int32) bool {
	f, err := os.Open(name)
	if err != nil || files.IsPipe(name) {
		return false
	}
	defer f.Close()
	o.Dialect = yrep.Wide
	in, err := yrep.NewReader(f, o)
	var read yrep.Frame
	for err == nil && read.Number < frame {
		err = in.Next(&read)
	}
	return err == nil
}

// spooled returns an input that can be read more than once: itself, or a copy in a temporary file, which
// is gone when it is closed.
func spooled(r io.Reader) (io.ReadSeeker, func(), error) {
	if s, ok := r.(io.ReadSeeker); ok {
		if _, err := s.Seek(0, io.SeekCurrent); err == nil {
			return s, func() {}, nil
		}
	}
	f, err := os.CreateTemp("", "murksim-*.yrep")
	if err != nil {
		return nil, nil, err
	}
	os.Remove(f.Name()) // where a file that is open can go, it goes even if the program is killed
	remove := func() {
		f.Close()
		os.Remove(f.Name())
	}
	if _, err = io.Copy(f, r); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return f, remove, nil
}
