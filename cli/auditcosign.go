package cli

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit/checkpoint"
)

// A cosignedView is what audit cosign has signed, with --json.
type cosignedView struct {
	Event string `json:"event"` // "cosigned"
	Run   string `json:"run"`
	Tick  uint64 `json:"tick"`
	Hash  string `json:"world_hash"`
	Key   string `json:"vkey"` // of the witness
	Saved string `json:"saved"`
}

// A cosignJob adds the signature of a witness.
type cosignJob struct {
	*app
	key, name string
}

func (a *app) auditCosignCommand() *cobra.Command {
	j := &cosignJob{app: a}
	c := &cobra.Command{
		Use:   "cosign SIGNATURE SOURCE --key FILE --name NAME",
		Short: "Sign as a witness that a run has the signed hash",
		Long: `Cosign compares a run with a signature of audit sign, and adds the signature of a witness to
the file, with the time. It states that the witness saw the complete evidence of the run,
with this hash at this tick. It does not check the other signatures, and computes the run only
where the source or your note of it says that it is wrong; audit check and audit SOURCE do.

An operator who later hides a run, or shows another one, has to explain what the witness saw. So the
witness is another person, with a key of their own, who keeps what they have signed.

NAME names the witness, as a web address without https://, and is not secret. Use a key for
one name and nothing else. Cosign prints the key with which audit check --witness, and other
programs, check the signature (cosignature/v1 of c2sp.org/tlog-cosignature). An earlier
signature by the same key under the same name is replaced; a time stamp of the earlier file
no longer matches.

Exit status: 0 signed, 3 the run has another hash, 4 the file or the evidence is broken, or the run
has no such tick. Then the file is as it was.`,
		Example: "  murksim audit key witness.key\n  murksim audit cosign heat.sig run.db --key witness.key --name witness.example.com/w1",
		Args:    arguments(cobra.ExactArgs(2), "a signature, and the source of its run"),
		RunE: func(c *cobra.Command, args []string) error {
			if j.key == "" || j.name == "" {
				return report.Usage("%s needs --key FILE and --name NAME", c.CommandPath())
			}
			if err := checkpoint.CheckName(j.name); err != nil {
				return report.Usage("--name: %s", words.InWords(err))
			}
			if j.name != words.Clean(j.name) { // the key is printed as it is, to be copied
				return report.Usage("--name: %q has a character that cannot be printed", j.name)
			}
			return j.cosign(c.Context(), args[0], args[1])
		},
	}
	f := c.Flags()
	f.StringVar(&j.key, "key", "", "the private key of the witness, a `file` that audit key wrote")
	f.StringVar(&j.name, "name", "", "the `name` of the witness, such as witness.example.com/w1")
	return c
}

func (j *cosignJob) cosign(ctx context.Context, name, source string) error {
	if err := cmp.Or(spares(name, j.key), sparesSource(name, source)); err != nil {
		return err
	}
	private, err := readPrivate(j.key)
	if err != nil {
		return err
	}
	n, err := evidence.ReadNote(name)
	if err != nil {
		return err
	}
	if _, err := j.holdRun(ctx, source, &n.Checkpoint, true); err != nil {
		return err
	}
	var k *checkpoint.Key
	add := func(to io.Writer) error {
		k, err = j.add(to, name, n, private)
		return err
	}
	if err := j.writeBy(ctx, name, add, true); err != nil {
		return err
	}
	if err := j.Emit(cosignedView{"cosigned", n.Run.String(), n.Tick, n.Hash.String(), k.String(), name}); err != nil {
		return err
	}
	return j.Say("cosigned  tick %s of run %s, hash %s\nvkey      %s\nwrote     %s", words.Number(n.Tick), n.Run, n.Hash, k, words.Argument(name))
}

// add writes a signature with that of the witness. The file is locked now, so it is read again: another witness may have signed meanwhile.
func (j *cosignJob) add(to io.Writer, name string, held *checkpoint.Note, private ed25519.PrivateKey) (*checkpoint.Key, error) {
	n, err := evidence.ReadNote(name)
	if err != nil {
		return nil, err
	}
	if n.Checkpoint != held.Checkpoint {
		return nil, errors.New("it was replaced while the run was checked; cosign it again")
	}
	file, k, err := n.Cosign(j.name, private, time.Now())
	if err == nil {
		_, err = to.Write(file)
	}
	return k, err
}
