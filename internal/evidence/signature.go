package evidence

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit/checkpoint"
	"github.com/murksim/murksim/replay/audit/stamp"
	"github.com/murksim/murksim/scenarios/document"
)

// ReadNote reads a signed checkpoint. It checks no signature.
func ReadNote(name string) (*checkpoint.Note, error) {
	if old, err := files.Begins(name, `{"checkpoint":`); err == nil && old {
		return nil, words.About(name, errors.New("it is a signature of murksim before 0.1.0, whose form is not read any more; sign the run again"))
	}
	b, err := files.ReadSmall(name, "a signature")
	if err != nil {
		return nil, err
	}
	n, err := checkpoint.Read(b)
	if err == nil {
		return n, nil
	}
	if ours, _ := files.Begins(name, checkpoint.Mark); !ours {
		return nil, words.About(name, err)
	}
	return nil, report.Exit(report.StatusEvidence, words.About(name, err))
}

// A SignatureCheck says what a signature must fulfil, by flags of audit check.
type SignatureCheck struct {
	Key          string   // the file
	Witnesses    []string // verifier keys, or files with them
	Stamp, Roots string   // files
}

// A SignatureView is what was found besides what is signed, with --json.
type SignatureView struct {
	Key       string        `json:"vkey,omitempty"`
	Witnesses []witnessView `json:"witnesses,omitempty"`
	Unchecked []string      `json:"unchecked,omitempty"` // names of keys
	Stamp     *stampView    `json:"stamp,omitempty"`
}

// A witnessView is a witness who has signed.
type witnessView struct {
	Name string `json:"name"`
	Time string `json:"time,omitempty"` // none if it is no cosignature
}

// A stampView is a time stamp.
type stampView struct {
	Time       string `json:"time"`
	Authority  string `json:"authority"`
	Signatures int    `json:"signatures"` // that were there then
}

// Text describes what is signed, and who signed it, for people.
func (v *SignatureView) Text(p *checkpoint.Checkpoint) string {
	lines := []string{fmt.Sprintf("signed    tick %s of run %s, hash %s", words.Number(p.Tick), p.Run, p.Hash), "vkey      " + v.Key}
	for _, w := range v.Witnesses {
		line := "cosigned  " + words.Printable(w.Name)
		if w.Time != "" {
			line += " at " + w.Time
		}
		lines = append(lines, line)
	}
	if len(v.Unchecked) > 0 {
		lines = append(lines, "unchecked "+words.Printable(strings.Join(v.Unchecked, ", ")))
	}
	if s := v.Stamp; s != nil {
		lines = append(lines, fmt.Sprintf("stamped   %s by %s, with %s", s.Time, words.Printable(s.Authority), words.Count(uint64(s.Signatures), "signature")))
	}
	return strings.Join(lines, "\n")
}

// Read reads a signature, and checks that the key and all witnesses have signed, and that it is stamped.
func (x *SignatureCheck) Read(name string) (*checkpoint.Checkpoint, *SignatureView, error) {
	public, err := readPublic(x.Key)
	if err != nil {
		return nil, nil, err
	}
	n, err := ReadNote(name)
	if err != nil {
		return nil, nil, err
	}
	p := &n.Checkpoint
	origin, err := p.Key(public)
	if err != nil {
		return nil, nil, err
	}
	signed, err := n.Verify(origin)
	if err != nil {
		return nil, nil, report.Exit(report.StatusEvidence, fmt.Errorf("%s: the signature is not that of this key for tick %s of run %s with hash %s", document.FileName(name), words.Number(p.Tick), p.Run, p.Hash))
	}
	v := &SignatureView{Key: origin.String()}
	witnesses, err := x.readWitnesses(public)
	if err != nil {
		return nil, nil, err
	}
	cosigned, err := n.Verify(witnesses...)
	if err != nil {
		return nil, nil, report.Exit(report.StatusEvidence, words.About(name, err))
	}
	for _, s := range cosigned {
		w := witnessView{Name: s.Key.Name()}
		if !s.At.IsZero() {
			w.Time = s.At.Format(time.RFC3339)
		}
		v.Witnesses = append(v.Witnesses, w)
	}
	checked := append(signed, cosigned...)
	for i, other := range n.Names() {
		if !slices.ContainsFunc(checked, func(s checkpoint.Signed) bool { return s.Line == i }) {
			v.Unchecked = append(v.Unchecked, other)
		}
	}
	if x.Stamp != "" {
		v.Stamp, err = x.readStamp(name, n, signed[0].Line)
	}
	return p, v, err
}

// readWitnesses reads the keys of --witness. None of them may be the signer's.
func (x *SignatureCheck) readWitnesses(public ed25519.PublicKey) (list []*checkpoint.Key, err error) {
	for _, given := range x.Witnesses {
		k, err := readWitness(given)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(o *checkpoint.Key) bool { return o.Same(k) }) {
			return nil, report.Usage("--witness: %s has the key of another witness, and one key is one witness", words.Printable(k.Name()))
		}
		if k.Is(public) {
			return nil, report.Usage("--witness: %s has the key of --key; a witness is somebody else than who has signed", words.Printable(k.Name()))
		}
		list = append(list, k)
	}
	return list, nil
}

// readWitness reads a verifier key, or a file with one.
func readWitness(given string) (*checkpoint.Key, error) {
	k, err := checkpoint.ParseKey(given)
	if err == nil {
		return k, nil
	}
	if _, missing := os.Stat(given); missing != nil && strings.Contains(given, "+") {
		return nil, report.Usage("--witness: %s", words.InWords(err))
	}
	b, err := files.ReadSmall(given, "a verifier key")
	if err != nil {
		return nil, err
	}
	if k, err = checkpoint.ParseKey(strings.TrimSpace(string(b))); err != nil {
		return nil, words.About(given, err)
	}
	return k, nil
}

// readStamp checks that a stamp is one of the file with the signature in the given line, and maybe some that follow, by an authority that
// is trusted.
func (x *SignatureCheck) readStamp(name string, n *checkpoint.Note, line int) (*stampView, error) {
	roots, err := readRoots(x.Roots)
	if err != nil {
		return nil, err
	}
	b, err := files.ReadSmall(x.Stamp, "a time stamp")
	if err != nil {
		return nil, err
	}
	s, err := stamp.Parse(b)
	if err == nil {
		err = s.Verify(roots)
	}
	if err == nil && n.Through(s.Sum) <= line {
		err = fmt.Errorf("it is a stamp of something other than %s, which was changed since, or has lost a signature", document.FileName(name))
	}
	if err != nil {
		return nil, report.Exit(report.StatusEvidence, words.About(x.Stamp, err))
	}
	return &stampView{s.Time.Format(time.RFC3339Nano), s.Authority, n.Through(s.Sum)}, nil
}

// readRoots reads certificates in PEM.
func readRoots(name string) (*x509.CertPool, error) {
	b, err := files.ReadAtMost(name, "certificates in PEM", 1<<22)
	if err != nil {
		return nil, err
	}
	roots, n := x509.NewCertPool(), 0
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		n++
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, words.About(name, fmt.Errorf("certificate %d: %w", n, err))
		}
		roots.AddCert(c)
	}
	if n == 0 {
		err = errors.New("there is no certificate in PEM in it")
	}
	return roots, words.About(name, err)
}
