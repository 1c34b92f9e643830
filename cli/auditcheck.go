package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/checkpoint"
)

// A checkedView is what audit check has found of a signature, with --json.
type checkedView struct {
	Event  string `json:"event"`
	Run    string `json:"run"`
	Tick   uint64 `json:"tick"`
	Hash   string `json:"world_hash"`
	Inputs string `json:"input_hash"`
	Source string `json:"source,omitempty"` // whose run has it
	evidence.SignatureView
}

func (a *app) auditCheckCommand() *cobra.Command {
	var x evidence.SignatureCheck
	c := &cobra.Command{
		Use:   "check (SIGNATURE [SOURCE] | PROOF [SIGNATURE])",
		Short: "Check a signature, and compare a run or a proof with it",
		Long: `Check tells whether a key signed what a signature claims. With a source it checks the
evidence of the run, and that the run has the signed hash at the signed tick.

It prints the key as other programs take it (vkey). With --witness, which may be given several times,
it also checks that this witness has signed, and prints when; other signatures in the file are listed
as unchecked. With --stamp it checks that an authority has stamped the file: as it is, or as it was
before the last signatures were added. The certificates of the authorities that you trust are in the
file of --tsa-ca. Check needs no network, and does not ask whether a certificate was revoked.

To check a proof that audit prove wrote, no run is needed: check verifies that the value
belonged to the signed state. Names and units come from the genesis document in the proof,
which is proved, too. Without a signature, check prints the hash of the state to which the
proof belongs.

Exit status: 0 it is, 3 the run has another hash, 4 the signature is not of that key, a witness has
not signed, the stamp is not of this file or of no such authority, the proof is broken or of another
tick or run than the signature, the run has no such tick, or the evidence is broken.`,
		Example: `  murksim audit check heat.sig --key mine.key.pub
  murksim audit check heat.sig run.db --key mine.key.pub
  murksim audit check heat.sig --key mine.key.pub --witness witness.vkey
  murksim audit check heat.sig --key mine.key.pub --stamp heat.sig.tsr --tsa-ca ca.pem
  murksim audit check cell.proof heat.sig --key mine.key.pub
  murksim audit check cell.proof`,
		Args: arguments(cobra.RangeArgs(1, 2), "a signature, and a source, or a proof, and a signature"),
		RunE: func(c *cobra.Command, args []string) error {
			if (x.Stamp == "") != (x.Roots == "") {
				return report.Usage("--stamp FILE and --tsa-ca FILE, the certificates that you trust, go together")
			}
			if proof, err := files.Begins(args[0], audit.ProofMark); err == nil && proof {
				if signed := len(args) == 2; signed != (x.Key != "") || !signed && (x.Stamp != "" || len(x.Witnesses) > 0) {
					return report.Usage("%s takes a proof alone, or with a signature and --key FILE, the public key of who has signed", c.CommandPath())
				}
				return a.checkProof(args[0], append(args, "")[1], &x)
			}
			if x.Key == "" {
				return report.Usage("%s needs --key FILE, the public key of who has signed", c.CommandPath())
			}
			return a.checkSignature(c.Context(), args, &x)
		},
	}
	f := c.Flags()
	f.StringVar(&x.Key, "key", "", "the public key, a `file` such as mine.key.pub")
	f.StringArrayVar(&x.Witnesses, "witness", nil, "the `vkey` of a witness who must have signed, or a file with it")
	f.StringVar(&x.Stamp, "stamp", "", "a time stamp of the signature, a `file` that audit stamp wrote")
	f.StringVar(&x.Roots, "tsa-ca", "", "the certificates of authorities that you trust, a `file` in PEM")
	return c
}

// checkSignature checks a signature, and compares a run with it if there is a source.
func (a *app) checkSignature(ctx context.Context, args []string, x *evidence.SignatureCheck) error {
	p, v, err := x.Read(args[0])
	if err != nil {
		return err
	}
	if err := a.Say("%s", v.Text(p)); err != nil {
		return err
	}
	r := checkedView{"checked", p.Run.String(), p.Tick, p.Hash.String(), p.Inputs.String(), "", *v}
	if len(args) == 1 {
		return a.Emit(r)
	}
	if r.Source, err = a.holdRun(ctx, args[1], p, false); err != nil {
		return err
	}
	if err := a.Emit(r); err != nil {
		return err
	}
	return a.Say("the run has it")
}

// holdRun checks that the evidence of a run is whole and has what a checkpoint claims; to be signed, also that it is not known to be wrong.
// It returns the source's name.
func (a *app) holdRun(ctx context.Context, source string, p *checkpoint.Checkpoint, sign bool) (name string, err error) {
	r, err := a.wholeRun(ctx, source, p.Run.String(), holding{right: sign})
	if err != nil {
		return "", err
	}
	defer r.Close()
	l, err := audit.LinkAt(ctx, r.Evidence, p.Tick)
	switch {
	case err != nil:
		return "", evidence.Broken(r.Name, err) // a chain that was cut lacks the tick
	case l.Hash != p.Hash:
		return "", report.Exit(report.StatusDiverged, fmt.Errorf("run %s has hash %s at tick %s, not the one that was signed", p.Run, l.Hash, words.Number(p.Tick)))
	case l.InputHash != p.Inputs:
		return "", report.Exit(report.StatusDiverged, fmt.Errorf("the inputs of run %s have hash %s at tick %s, not the one that was signed", p.Run, l.InputHash, words.Number(p.Tick)))
	}
	if sign {
		err = a.provedIfDoubted(ctx, r, p.Tick)
	}
	return r.Name, err
}
