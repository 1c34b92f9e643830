package cli

import (
	"context"
	"io"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/view"
)

// Call runs a command line within another program, such as {"verify", "--json", "heat.murk"}, and returns its exit
// status. It catches no signals and never ends the process: the context ends what is under way, as Ctrl-C would. Several
// goroutines may call it.
func (p Program) Call(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	p.embedded = true
	return p.run(ctx, args, in, out, errs)
}

// Scenario reads a scenario as run does: by the name of one that comes with the program, or from a file, with values
// replaced as by --set. Its world may take up to maxMemory bytes; 0: the default of the commands.
func (p Program) Scenario(name string, sets []string, maxMemory uint64) (*scenarios.Scenario, error) {
	a, err := p.embed()
	if err != nil {
		return nil, err
	}
	limit := limitOf(maxMemory)
	s, err := a.LoadScenario(name, sets, limit)
	if err != nil {
		return nil, err
	}
	return s, session.CheckMemory(s, limit)
}

// A Look says how [Program.Open] opens a recording. The zero Look needs only the recording.
type Look struct {
	States    []string // files of states at which it may begin, if it does not hold that
	NoIndex   bool     // do not use the index beside it
	Workers   int      // 0: one per core where that pays
	MaxMemory uint64   // bytes that each of its worlds may take; 0: as much as without a flag
}

// Open opens a recording to look at any of its ticks. One that is still being written has the ticks that are whole now, and its
// About has a Problem that says so. Its worlds are built until the context ends. Close frees the files, after which the recording
// must not be used.
func (p Program) Open(ctx context.Context, name string, l Look) (r *view.Recording, closeAll func(), err error) {
	a, err := p.embed()
	if err != nil {
		return nil, nil, err
	}
	a.States, a.Quiet = l.States, true
	j := &viewJob{app: a, Visitor: session.Visitor{Opener: a.Session, NoIndex: l.NoIndex, Workers: l.Workers}}
	if r, err = j.whole(ctx, name, limitOf(l.MaxMemory)); err != nil {
		j.closeAll()
		return nil, nil, err
	}
	return r, j.closeAll, nil
}

// embed returns the app of a program inside another one: it has no input, and discards output.
func (p Program) embed() (*app, error) {
	p.embedded = true
	nowhere := report.NewOutput(io.Discard)
	return p.app(&eofReader{}, nowhere, nowhere)
}

type eofReader struct{}

func (*eofReader) Read([]byte) (int, error) { return 0, io.EOF }

func limitOf(bytes uint64) session.Size {
	if bytes == 0 {
		return session.DefaultMaxMemory
	}
	return session.Size{Text: words.Size(int64(min(bytes, 1<<62))), Bytes: bytes}
}

// Outcome names the result of a replay as the "status" of verify --json does: ok, diverged, incomplete, incompatible,
// damaged or error.
func Outcome(err error) string {
	name, _ := session.Outcome(err)
	return name
}
