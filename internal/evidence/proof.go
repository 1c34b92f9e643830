package evidence

import (
	"errors"
	"fmt"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/checkpoint"
)

// A WholeProof is a proof that holds, and what it says.
type WholeProof struct {
	*audit.Proof
	LeadsTo audit.Hash // to which it leads
	Says    *SubjectView
	Parent  *audit.Parent // of the run; nil: it is no fork
}

// ReadProof reads a proof, and checks that it is whole and names its subject.
func ReadProof(opener *session.Session, name string) (*WholeProof, error) {
	const most = 128 << 20 // bytes: a genesis document has 64 MiB at most
	text, err := files.ReadAtMost(name, "a proof", most)
	if err != nil {
		return nil, err
	}
	p := new(WholeProof)
	if p.Proof, err = audit.ReadProof(text); err != nil {
		return nil, brokenProof(name, err)
	}
	whole := false
	if p.LeadsTo, whole = p.Hash(); !whole {
		return nil, brokenProof(name, errors.New("the proof is broken: what it holds does not lead to one hash"))
	}
	world, parent, err := audit.SplitGenesis(p.Genesis)
	if err != nil {
		return nil, brokenProof(name, err)
	}
	s, err := opener.ScenarioOf(&replay.Header{Descriptor: world}) // what lies where in its state does not depend on the seed
	if err != nil {
		return nil, words.About(name, fmt.Errorf("it leads to the hash %s, but its genesis document cannot be read here: %w", p.LeadsTo, words.InWords(session.Unbuilt(err))))
	}
	p.Parent = parent
	if p.Says, err = ViewSubject(s, p.Proof); err != nil {
		return nil, brokenProof(name, err)
	}
	return p, nil
}

// brokenProof is the error of a proof that does not hold.
func brokenProof(name string, err error) error {
	return report.Exit(report.StatusEvidence, words.About(name, err))
}

// Of checks that a checkpoint is of the state to which a proof leads.
func (p *WholeProof) Of(name string, c *checkpoint.Checkpoint) error {
	switch {
	case c.Tick != p.Tick:
		return brokenProof(name, fmt.Errorf("it is of tick %s; tick %s is signed", words.Number(p.Tick), words.Number(c.Tick)))
	case c.Hash != p.LeadsTo:
		return brokenProof(name, fmt.Errorf("it leads to the hash %s at tick %s; for run %s, %s is signed: it is of another run, or was changed", p.LeadsTo, words.Number(p.Tick), c.Run, c.Hash))
	}
	return nil
}
