package cli

import (
	"fmt"
	"strings"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/words"
)

// A provedResult is what audit check prints of a proof with --json.
type provedResult struct {
	Event  string `json:"event"`            // "proved"
	Run    string `json:"run,omitempty"`    // that is signed
	Parent string `json:"parent,omitempty"` // from which it was forked
	Tick   uint64 `json:"tick"`
	Hash   string `json:"world_hash"` // to which the proof leads
	Signed bool   `json:"signed"`
	evidence.SubjectView
	evidence.SignatureView
}

// checkProof checks a proof, and that its hash is the signed one; with "" there is no signature.
func (a *app) checkProof(name, signature string, x *evidence.SignatureCheck) error {
	p, err := evidence.ReadProof(a.Session, name)
	if err != nil {
		return err
	}
	r := provedResult{Event: "proved", Tick: p.Tick, Hash: p.LeadsTo.String(), SubjectView: *p.Says}
	lines := []string{fmt.Sprintf("leads to  tick %s, hash %s", words.Number(p.Tick), p.LeadsTo)}
	if p.Parent != nil {
		r.Parent = p.Parent.Run.String()
		lines = append(lines, fmt.Sprintf("fork      of run %s at tick %s", p.Parent.Run, words.Number(p.Parent.Tick)))
	}
	if signature == "" {
		lines = append(lines, p.Says.Text(),
			"unsigned  it proves this to those who know by other means that the tick has this hash: anyone can make up a state, and a proof of it;\n"+
				"          with a signature and --key, check holds it against that")
	} else {
		c, v, err := x.Read(signature)
		if err == nil {
			err = p.Of(name, c)
		}
		if err != nil {
			return err
		}
		r.Run, r.Signed, r.SignatureView = c.Run.String(), true, *v
		lines = append(lines, v.Text(c), p.Says.Text(), "it belonged to the state that is signed")
	}
	if err := a.Emit(r); err != nil {
		return err
	}
	return a.Say("%s", strings.Join(lines, "\n"))
}
