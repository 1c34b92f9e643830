// Package stamp asks authorities for time stamps (RFC 3161) and checks them.
//
// A time stamp is a signature of an authority over a SHA-256 and a time. [Request] is the question, [Parse] reads an answer and checks
// all that it proves by itself, [Stamp.Verify] checks it against the certificates that the caller trusts. Neither needs a network.
//
// The package pkcs7 reads the message and checks its signature. It does not check what the message is, what a certificate may be used
// for, or with which certificate the authority says it has signed; this package does.
package stamp

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/smallstep/pkcs7"
)

// The numbers of what is in a stamp.
var (
	oidSHA256     = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidSHA384     = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}
	oidSHA512     = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}
	oidTSTInfo    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidSignedBy   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12}
	oidSignedByV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidUsage      = asn1.ObjectIdentifier{2, 5, 29, 37}
)

// What RFC 3161 calls these.
type (
	messageImprint struct {
		Algorithm pkix.AlgorithmIdentifier
		Hash      []byte
	}
	timeStampReq struct {
		Version int
		Imprint messageImprint
		Nonce   *big.Int
		CertReq bool
	}
	pkiStatusInfo struct {
		Status   int
		Text     []asn1.RawValue `asn1:"optional"`
		FailInfo asn1.BitString  `asn1:"optional"`
	}
	timeStampResp struct {
		Status pkiStatusInfo
		Token  asn1.RawValue `asn1:"optional"`
	}
	accuracy struct {
		Seconds int64 `asn1:"optional"`
		Milli   int64 `asn1:"tag:0,optional"`
		Micro   int64 `asn1:"tag:1,optional"`
	}
	tstInfo struct {
		Version    int
		Policy     asn1.ObjectIdentifier
		Imprint    messageImprint
		Serial     *big.Int
		Time       time.Time        `asn1:"generalized"`
		Accuracy   accuracy         `asn1:"optional"`
		Ordering   bool             `asn1:"optional"`
		Nonce      *big.Int         `asn1:"optional"`
		TSA        asn1.RawValue    `asn1:"tag:0,optional"`
		Extensions []pkix.Extension `asn1:"tag:1,optional"`
	}
)

// MaxSize is how many bytes a stamp has at most.
const MaxSize = 1 << 16

// A Request asks for a stamp.
type Request struct {
	DER []byte // what is sent, as application/timestamp-query

	sum   [sha256.Size]byte
	nonce *big.Int
}

// Ask makes the request for a stamp over data, with a number that no answer to another request has.
func Ask(data []byte) (*Request, error) {
	nonce, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		return nil, err
	}
	r := &Request{sum: sha256.Sum256(data), nonce: nonce}
	r.DER, err = asn1.Marshal(timeStampReq{1, messageImprint{pkix.AlgorithmIdentifier{Algorithm: oidSHA256, Parameters: asn1.NullRawValue}, r.sum[:]}, nonce, true})
	return r, err
}

// Answered reads a stamp, and checks that it answers the request.
func (r *Request) Answered(response []byte) (*Stamp, error) {
	s, err := Parse(response)
	switch {
	case err != nil:
		return nil, err
	case s.Sum != r.sum:
		return nil, errors.New("stamp: the answer is a stamp of something else")
	case s.nonce == nil || s.nonce.Cmp(r.nonce) != 0:
		return nil, errors.New("stamp: the answer has another nonce than the request: it is the answer to another one")
	}
	return s, nil
}

// A Stamp is a time stamp whose signature is that of the certificate in it.
type Stamp struct {
	Sum       [sha256.Size]byte // of what is stamped
	Time      time.Time
	Authority string // the subject of its certificate

	nonce  *big.Int // nil: there is none
	signer *x509.Certificate
	others []*x509.Certificate
}

// Parse reads the response of an authority, and checks that it grants a stamp over a SHA-256, that it is signed by the certificate in it,
// and that this one is for time stamps and nothing else. Whether to trust it is up to [Stamp.Verify].
func Parse(response []byte) (*Stamp, error) {
	if len(response) > MaxSize {
		return nil, fmt.Errorf("stamp: it has %d bytes; a stamp has at most %d", len(response), MaxSize)
	}
	var r timeStampResp
	if err := unmarshal(response, &r); err != nil {
		return nil, fmt.Errorf("stamp: it is no response of RFC 3161: %w", err)
	}
	if r.Status.Status != 0 && r.Status.Status != 1 {
		return nil, fmt.Errorf("stamp: the authority refused, with status %d%s", r.Status.Status, r.Status.text())
	}
	m, err := pkcs7.Parse(r.Token.FullBytes)
	if err != nil {
		return nil, fmt.Errorf("stamp: the token cannot be read: %w", err)
	}
	s := &Stamp{others: m.Certificates, signer: m.GetOnlySigner()}
	if s.signer == nil {
		return nil, errors.New("stamp: it is not signed by one authority whose certificate is in it")
	}
	if err := s.checkMessage(m); err != nil {
		return nil, err
	}
	if err := checkUsage(s.signer); err != nil {
		return nil, err
	}
	s.Authority = s.signer.Subject.String()
	return s, s.read(m.Content)
}

// read reads what is signed.
func (s *Stamp) read(content []byte) error {
	var t tstInfo
	if err := unmarshal(content, &t); err != nil {
		return fmt.Errorf("stamp: what is signed is no TSTInfo of RFC 3161: %w", err)
	}
	for _, x := range t.Extensions {
		if x.Critical {
			return fmt.Errorf("stamp: it has the critical extension %s, which this program does not know", x.Id)
		}
	}
	switch {
	case t.Version != 1:
		return fmt.Errorf("stamp: it has version %d; this program reads version 1", t.Version)
	case !t.Imprint.Algorithm.Algorithm.Equal(oidSHA256) || len(t.Imprint.Hash) != sha256.Size:
		return errors.New("stamp: it is of a hash other than SHA-256")
	case t.Time.Year() < 2000: // this also refuses the zero time, which crypto/x509 would take for now
		return fmt.Errorf("stamp: its time is %s, before there were such stamps", t.Time.UTC().Format(time.RFC3339))
	}
	s.Sum, s.Time, s.nonce = [sha256.Size]byte(t.Imprint.Hash), t.Time.UTC(), t.Nonce
	return nil
}

// Verify checks that the certificate leads to one of the roots, by those in the stamp, at the time of the stamp. It does not ask whether a
// certificate was revoked.
func (s *Stamp) Verify(roots *x509.CertPool) error {
	between := x509.NewCertPool()
	for _, c := range s.others {
		between.AddCert(c)
	}
	_, err := s.signer.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: s.Time, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}})
	if err != nil {
		return fmt.Errorf("stamp: the certificate of %s is not one of the authorities that are trusted: %w", s.Authority, err)
	}
	return nil
}

// unmarshal reads a value in DER, and nothing after it.
func unmarshal(b []byte, v any) error {
	rest, err := asn1.Unmarshal(b, v)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes follow it", len(rest))
	}
	return err
}

// text returns why an authority refuses, in its words.
func (s *pkiStatusInfo) text() (text string) {
	for _, t := range s.Text {
		text += fmt.Sprintf(": %q", t.Bytes)
	}
	for i := range s.FailInfo.BitLength {
		if s.FailInfo.At(i) != 0 {
			text += fmt.Sprintf(", failure %d", i)
		}
	}
	return text
}
