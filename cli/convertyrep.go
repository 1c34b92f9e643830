package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios/document"
)

// toDialect returns the dialect of the YREP file that is written; [yrep.Auto] if it is not given.
func (t *convertJob) toDialect() (yrep.Dialect, error) {
	if t.dialect == "" {
		return yrep.Auto, nil
	}
	d, err := yrep.ParseDialect(t.dialect)
	if err != nil || d == yrep.Auto {
		return d, report.Usage("--dialect must be narrow or wide, not %q", t.dialect)
	}
	return d, nil
}

// convertYREP converts a YREP file or its JSON lines.
func (t *convertJob) convertYREP(c *yrep.Conversion, dst io.Writer, src io.Reader, to yrep.Dialect) (uint64, error) {
	in, done, err := spooled(src)
	if err != nil {
		return 0, err
	}
	defer done()
	*c, err = yrep.Convert(dst, in, yrep.Options{Dialect: yrep.Auto, Lenient: t.lenient, KeepUnknown: t.keepUnknown}, to)
	return c.Frames, err
}

// convertedYREP reports a conversion that ended with an error, or without one.
func (t *convertJob) convertedYREP(c *yrep.Conversion, err error) error {
	if err != nil && (t.bytes == 0 || !session.Damaged(err)) {
		return err
	}
	r := convertResult{
		Event: "end", In: t.in, Out: t.out, To: "yrep", Dialect: c.Dialect.String(), Frames: c.Frames, Commands: c.Instructions, Raw: c.Raw,
		Bytes: t.bytes, Complete: err == nil,
	}
	what := c.Dialect.String() + " dialect"
	if c.ToLines {
		r.To, what = "jsonl", "JSON lines"
	}
	raw := ""
	if c.Raw > 0 {
		raw = fmt.Sprintf(" (%s as bytes)", words.Number(c.Raw))
	}
	text := fmt.Sprintf("converted  %s  %s, %s, %s%s, %s", document.FileName(t.out), what, words.Count(c.Frames, "frame"), words.Count(c.Instructions, "instruction"), raw, words.Size(t.bytes))
	return errors.Join(t.Emit(r), t.Say("%s", text), err)
}
