package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/checkpoint"
	"github.com/murksim/murksim/replay/audit/store"
)

// A signedView is what audit sign has signed, with --json.
type signedView struct {
	Event  string `json:"event"`
	Run    string `json:"run"`
	Tick   uint64 `json:"tick"`
	Hash   string `json:"world_hash"`
	Inputs string `json:"input_hash"`
	Saved  string `json:"saved"`
}

func (a *app) auditSignCommand() *cobra.Command {
	var key, run, out string
	var tick tickFlag
	var force bool
	c := &cobra.Command{
		Use:   "sign SOURCE --key FILE -o FILE",
		Short: "Sign the hash of a tick",
		Long: `Sign checks the evidence of a run and signs its id, the tick, the world hash and the hash of
the inputs with an Ed25519 key. Anyone with the public key can check a run against it: no
other inputs, states or hashes up to that tick have these hashes.

The file is a checkpoint as C2SP specifies it (c2sp.org/tlog-checkpoint), which other
programs can check, too. A witness adds its signature with audit cosign; an authority
confirms the time with audit stamp.`,
		Example: "  murksim audit key mine.key\n  murksim audit sign run.db --key mine.key -o heat.sig\n  murksim audit check heat.sig run.db --key mine.key.pub",
		Args:    arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			if key == "" || out == "" {
				return report.Usage("%s needs --key FILE and -o FILE", c.CommandPath())
			}
			if err := cmp.Or(spares(out, key), spares(out, key+".pub"), sparesSource(out, args[0])); err != nil {
				return err
			}
			private, err := readPrivate(key)
			if err != nil {
				return err
			}
			ctx := c.Context()
			r, err := a.wholeRun(ctx, args[0], run, holding{right: true})
			if err != nil {
				return err
			}
			defer r.Close()
			at := uint64(tick)
			if !c.Flags().Changed("tick") {
				at = r.Found.Tick
			}
			if first := r.Evidence.Run().First; at < first || at > r.Found.Tick {
				return report.Usage("--tick must be from %s to %s, the last tick that is committed, not %s", words.Number(first), words.Number(r.Found.Tick), words.Number(at))
			}
			l, err := audit.LinkAt(ctx, r.Evidence, at)
			if err != nil {
				return err
			}
			if err := a.provedIfDoubted(ctx, r, at); err != nil {
				return err
			}
			p := checkpoint.Checkpoint{Run: r.Evidence.Run().ID, Tick: at, Hash: l.Hash, Inputs: l.InputHash}
			text, err := p.Sign(private)
			if err != nil {
				return words.About(key, err)
			}
			if err := a.writeFile(out, text, force); err != nil {
				return err
			}
			if err := a.Emit(signedView{"signed", p.Run.String(), at, l.Hash.String(), l.InputHash.String(), out}); err != nil {
				return err
			}
			return a.Say("signed    tick %s of run %s, hash %s\nwrote     %s", words.Number(at), p.Run, l.Hash, words.Argument(out))
		},
	}
	f := c.Flags()
	f.StringVar(&key, "key", "", "the private key, a `file` that audit key wrote")
	f.StringVarP(&out, "output", "o", "", "the signature, a `file`")
	f.StringVar(&run, "run", "", "the run, by its `id` or the beginning of it (default: the only one)")
	f.Var(&tick, "tick", "the tick (default: the last that is committed)")
	f.BoolVar(&force, "force", false, "overwrite")
	return c
}

// provedIfDoubted computes a run up to a tick if the note of it says that one is wrong, of this chain or of another with its id, or if its
// source says so, or does not let this user know.
func (a *app) provedIfDoubted(ctx context.Context, r *evidence.Run, tick uint64) error {
	id := r.Evidence.Run().ID
	n := memoryOf(id).read()
	doubted := n != nil && n.wrong != nil
	if !doubted {
		halt, err := r.Evidence.Halt(ctx)
		if err != nil {
			return evidence.Broken(r.Name, err)
		}
		doubted = halt != nil && halt.Code == audit.Divergence
	}
	if !doubted && r.DB != nil {
		var err error
		if doubted, err = r.DB.Doubted(ctx, id); errors.Is(err, store.ErrUnreadable) {
			doubted = true
		} else if err != nil {
			return evidence.Stored(err)
		}
	}
	if !doubted {
		return nil
	}
	b := a.newBuilder()
	_, err := a.proved(ctx, &b, r.Name, r.Evidence, tick)
	if d, ok := errors.AsType[*audit.DivergenceError](err); ok {
		return report.Exit(report.StatusDiverged, words.About(r.Name, d))
	}
	return err
}

// A holding says what a run must be beyond whole evidence.
type holding struct {
	complete bool // it has all that programs of this user committed
	right    bool // the source does not know better of the runs from which it comes
}

// wholeRun opens a run of a source, and checks that its evidence and that of the runs from which it comes is whole, and that none differs
// from what programs of this user committed.
func (a *app) wholeRun(ctx context.Context, source, run string, how holding) (*evidence.Run, error) {
	r, err := evidence.OpenRun(ctx, a.Session, source, run, "run")
	if err != nil {
		return nil, err
	}
	r.Parent = a.parentHeld(r.Source, how.right, true)
	if err = r.Hold(ctx); err != nil {
		err = evidence.Broken(r.Name, err)
	} else if err = heldToNotes(ctx, r.Source, r.Evidence); !how.complete {
		if wrong, ok := errors.AsType[*noteError](err); ok && wrong.lacks { // what there is may be right, as in an older copy
			err = nil
		}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}
