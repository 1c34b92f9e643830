package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios/document"
)

// A keyView is what audit key has written, with --json.
type keyView struct {
	Event  string `json:"event"`
	Saved  string `json:"saved"`
	Public string `json:"public"` // the file of the public key
}

// A signedView is what audit sign has signed, with --json.
type signedView struct {
	Event  string `json:"event"`
	Run    string `json:"run"`
	Tick   uint64 `json:"tick"`
	Hash   string `json:"world_hash"`
	Inputs string `json:"input_hash"`
	Saved  string `json:"saved"`
}

// A checkedView is what audit check has found of a signature, with --json.
type checkedView struct {
	Event  string `json:"event"`
	Run    string `json:"run"`
	Tick   uint64 `json:"tick"`
	Hash   string `json:"world_hash"`
	Inputs string `json:"input_hash"`
	Source string `json:"source,omitempty"` // whose run has it
}

func (a *app) auditKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "key FILE",
		Short:   "Make a key to sign with",
		Long:    "Key writes a new private key of Ed25519 to FILE, for nobody else to see, and its public key to FILE.pub. Both are PEM.",
		Example: "  murksim audit key mine.key",
		Args:    arguments(cobra.ExactArgs(1), "one file"),
		RunE: func(c *cobra.Command, args []string) error {
			public, private, err := ed25519.GenerateKey(rand.Reader)
			if err != nil {
				return err
			}
			secret, err := x509.MarshalPKCS8PrivateKey(private)
			if err != nil {
				return err
			}
			open, err := x509.MarshalPKIXPublicKey(public)
			if err != nil {
				return err
			}
			if err := writeKeys(args[0], pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open})); err != nil {
				return err
			}
			if err := a.emit(keyView{"key", args[0], args[0] + ".pub"}); err != nil {
				return err
			}
			return a.say("wrote     %s and %s", argument(args[0]), argument(args[0]+".pub"))
		},
	}
}

// writeKeys writes a private key and its public key, both or none.
func writeKeys(name string, private, public []byte) (err error) {
	files := []struct {
		name string
		mode fs.FileMode
		text []byte
	}{{name, 0o600, private}, {name + ".pub", 0o666, public}}
	for _, x := range files {
		if _, err := os.Lstat(x.name); err == nil {
			return fmt.Errorf("%s exists, and a key is never overwritten; choose another file", document.FileName(x.name))
		}
	}
	for i, x := range files {
		f, err := os.OpenFile(x.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, x.mode)
		made := files[:i]
		if err == nil {
			made = files[:i+1]
			_, err = f.Write(x.text)
			err = errors.Join(err, f.Sync(), f.Close())
		}
		if err != nil {
			for _, x := range made {
				os.Remove(x.name)
			}
			return about(x.name, err)
		}
	}
	return nil
}

// readKey reads a key of Ed25519 in PEM, private or public.
func readKey[T ed25519.PrivateKey | ed25519.PublicKey](name, kind string, parse func([]byte) (any, error)) (key T, err error) {
	b, err := readSmall(name, "a "+strings.ToLower(kind))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s: it is no %s in PEM", document.FileName(name), kind)
	}
	v, err := parse(block.Bytes)
	if err != nil {
		return nil, about(name, err)
	}
	key, ok := v.(T)
	if !ok {
		return nil, fmt.Errorf("%s: it is no key of Ed25519", document.FileName(name))
	}
	return key, nil
}

func readPublic(name string) (ed25519.PublicKey, error) {
	key, err := readKey[ed25519.PublicKey](name, "PUBLIC KEY", x509.ParsePKIXPublicKey)
	if err == nil {
		if weak := audit.CheckKey(key); weak != nil {
			return nil, about(name, weak)
		}
	}
	return key, err
}

// readPrivate reads a key that nobody else can read.
func readPrivate(name string) (ed25519.PrivateKey, error) {
	key, err := readKey[ed25519.PrivateKey](name, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return nil, err
	}
	return key, secret(name)
}

// secret refuses a file that others can read.
func secret(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return about(name, err)
	}
	if mode := info.Mode().Perm(); info.Mode().IsRegular() && mode&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%s: others can read it, or write it (its mode is %03o), so it is no secret\n  chmod 600 %s; if somebody may have read it, make another one", document.FileName(name), mode, argument(name))
	}
	return nil
}

// A signature is a signed checkpoint as a file: one object of JSON.
type signature struct {
	Checkpoint int    `json:"checkpoint"` // 1
	Run        string `json:"run"`
	Tick       uint64 `json:"tick"`
	Hash       string `json:"world_hash"`
	Inputs     string `json:"input_hash"`
	Key        string `json:"public_key"`
	Signature  string `json:"signature"`
}

func (a *app) auditSignCommand() *cobra.Command {
	var key, run, out string
	var tick tickFlag
	var force bool
	c := &cobra.Command{
		Use:   "sign SOURCE --key FILE -o FILE",
		Short: "Sign the hash of a tick",
		Long: `Sign checks the evidence of a run and signs (run, tick, world hash, input hash) with a key of Ed25519.
Who has the public key can hold the run to it: no other inputs, states or hashes up to that tick
have these hashes.`,
		Example: "  murksim audit key mine.key\n  murksim audit sign run.db --key mine.key -o heat.sig\n  murksim audit check heat.sig run.db --key mine.key.pub",
		Args:    arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			if key == "" || out == "" {
				return usage("%s needs --key FILE and -o FILE", c.CommandPath())
			}
			if err := cmp.Or(spares(out, key), sparesSource(out, args[0])); err != nil {
				return err
			}
			private, err := readPrivate(key)
			if err != nil {
				return err
			}
			ctx := c.Context()
			_, e, found, done, err := a.wholeRun(ctx, args[0], run)
			if err != nil {
				return err
			}
			defer done()
			at := uint64(tick)
			if !c.Flags().Changed("tick") {
				at = found.Tick
			}
			if first := e.Run().First; at < first || at > found.Tick {
				return usage("--tick must be from %s to %s, the last tick that is committed, not %s", number(first), number(found.Tick), number(at))
			}
			l, err := audit.LinkAt(ctx, e, at)
			if err != nil {
				return err
			}
			p := audit.Checkpoint{Run: e.Run().ID, Tick: at, Hash: l.Hash, Inputs: l.InputHash}
			s := signature{1, p.Run.String(), at, l.Hash.String(), l.InputHash.String(), hex.EncodeToString(private.Public().(ed25519.PublicKey)), hex.EncodeToString(p.Sign(private))}
			text, err := json.Marshal(s)
			if err != nil {
				return err
			}
			if err := a.writeFile(out, append(text, '\n'), force); err != nil {
				return err
			}
			if err := a.emit(signedView{"signed", s.Run, at, s.Hash, s.Inputs, out}); err != nil {
				return err
			}
			return a.say("signed    tick %s of run %s, hash %s\nwrote     %s", number(at), p.Run, l.Hash, argument(out))
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

// openRun opens a run of a source.
func (a *app) openRun(ctx context.Context, source, run string) (src *evidenceSource, e audit.Evidence, done func(), err error) {
	if src, err = a.openEvidence(ctx, source); err != nil {
		return nil, nil, nil, err
	}
	id, err := src.one(ctx, run, "run")
	if err != nil {
		src.close()
		return nil, nil, nil, err
	}
	e, end, err := src.evidence(ctx, id)
	if err != nil {
		src.close()
		return nil, nil, nil, err
	}
	return src, e, func() { end(); src.close() }, nil
}

// wholeRun opens a run of a source, and holds that its evidence and that of the runs from which it comes is whole.
func (a *app) wholeRun(ctx context.Context, source, run string) (src *evidenceSource, e audit.Evidence, found *audit.Checked, done func(), err error) {
	if src, e, done, err = a.openRun(ctx, source, run); err != nil {
		return nil, nil, nil, nil, err
	}
	if found, err = a.whole(ctx, src.name, e); err == nil {
		if _, _, err = src.holdParent(ctx, e); err != nil {
			err = broken(src.name, err)
		}
	}
	if err != nil {
		done()
		return nil, nil, nil, nil, err
	}
	return src, e, found, done, nil
}

// whole holds that the evidence of a run is whole.
func (a *app) whole(ctx context.Context, source string, e audit.Evidence) (*audit.Checked, error) {
	found, err := audit.Check(ctx, e)
	if err == nil {
		return found, nil
	}
	return nil, broken(source, err)
}

// broken names the source of an error of evidence, and gives it its exit status.
func broken(source string, err error) error {
	if _, is := errors.AsType[*audit.EvidenceError](err); is {
		return &exitError{statusEvidence, about(source, err)}
	}
	return about(source, err)
}

func (a *app) auditCheckCommand() *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:   "check (SIGNATURE [SOURCE] | PROOF [SIGNATURE])",
		Short: "Check a signature, and hold a run or a proof to it",
		Long: `Check tells whether a signature is that of a key for what it claims. With a source it checks the
evidence of the run, and that the run has the signed hash at the signed tick.

A proof, which audit prove wrote, is checked without the run: that its value belonged to the state
that is signed. Names and units are those of the genesis document in the proof, which is proved,
too. Without a signature check prints the hash of the state to which the proof belongs.

Exit status: 0 it is, 3 the run has another hash, 4 the signature is not of that key, the proof is
broken or of another tick or run than the signature, the run has no such tick, or the evidence is
broken.`,
		Example: `  murksim audit check heat.sig --key mine.key.pub
  murksim audit check heat.sig run.db --key mine.key.pub
  murksim audit check cell.proof heat.sig --key mine.key.pub
  murksim audit check cell.proof`,
		Args: arguments(cobra.RangeArgs(1, 2), "a signature, and a source, or a proof, and a signature"),
		RunE: func(c *cobra.Command, args []string) error {
			if proof, err := begins(args[0], audit.ProofMark); err == nil && proof {
				if signed := len(args) == 2; signed != (key != "") {
					return usage("%s takes a proof alone, or with a signature and --key FILE, the public key of who has signed", c.CommandPath())
				}
				return a.checkProof(args[0], append(args, "")[1], key)
			}
			if key == "" {
				return usage("%s needs --key FILE, the public key of who has signed", c.CommandPath())
			}
			public, err := readPublic(key)
			if err != nil {
				return err
			}
			p, err := readSignature(args[0], public)
			if err != nil {
				return err
			}
			v := checkedView{"checked", p.Run.String(), p.Tick, p.Hash.String(), p.Inputs.String(), ""}
			if err := a.say("signed    tick %s of run %s, hash %s", number(p.Tick), p.Run, p.Hash); err != nil {
				return err
			}
			if len(args) == 1 {
				return a.emit(v)
			}
			src, e, _, done, err := a.wholeRun(c.Context(), args[1], p.Run.String())
			if err != nil {
				return err
			}
			defer done()
			l, err := audit.LinkAt(c.Context(), e, p.Tick)
			switch {
			case err != nil:
				return broken(src.name, err) // a chain that was cut lacks the tick
			case l.Hash != p.Hash:
				return &exitError{statusDiverged, fmt.Errorf("run %s has hash %s at tick %s, not the one that was signed", p.Run, l.Hash, number(p.Tick))}
			case l.InputHash != p.Inputs:
				return &exitError{statusDiverged, fmt.Errorf("the inputs of run %s have hash %s at tick %s, not the one that was signed", p.Run, l.InputHash, number(p.Tick))}
			}
			v.Source = src.name
			if err := a.emit(v); err != nil {
				return err
			}
			return a.say("the run has it")
		},
	}
	c.Flags().StringVar(&key, "key", "", "the public key, a `file` such as mine.key.pub")
	return c
}

// readSignature reads a signature and checks it.
func readSignature(name string, key ed25519.PublicKey) (p audit.Checkpoint, err error) {
	b, err := readSmall(name, "a signature")
	if err != nil {
		return p, err
	}
	var s signature
	if err := jsonlines.Decode(bytes.TrimSpace(b), &s); err != nil {
		return p, about(name, err)
	}
	sum, hashed := audit.ParseHash(s.Hash)
	inputs, summed := audit.ParseHash(s.Inputs)
	signed, signs := hex.DecodeString(s.Signature)
	id, err := audit.ParseID(s.Run)
	if err = errors.Join(err, hashed, summed, signs); err != nil || s.Checkpoint != 1 {
		return p, fmt.Errorf("%s: it is no signature of this program", document.FileName(name))
	}
	p = audit.Checkpoint{Run: id, Tick: s.Tick, Hash: sum, Inputs: inputs}
	if !p.Signed(key, signed) {
		return p, &exitError{statusEvidence, fmt.Errorf("%s: the signature is not that of this key for tick %s of run %s with hash %s", document.FileName(name), number(p.Tick), p.Run, p.Hash)}
	}
	if s.Key != hex.EncodeToString(key) {
		return p, &exitError{statusEvidence, fmt.Errorf("%s: the signature is that of this key; its public_key is another one, and was changed", document.FileName(name))}
	}
	return p, nil
}
