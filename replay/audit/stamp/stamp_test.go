package stamp_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"

	"github.com/murksim/murksim/replay/audit/stamp"
)

// An authority stamps as a case of a test wants it.
type authority struct {
	cert, ca *x509.Certificate
	key      *ecdsa.PrivateKey
	now      time.Time

	kind    asn1.ObjectIdentifier // of what is signed
	info    func(*stamp.TSTInfo)
	named   []pkcs7.Attribute // by which it names its certificate
	status  int
	digest  asn1.ObjectIdentifier
	others  []*x509.Certificate
	signers int
}

// certify makes a certificate, of itself if there is no authority that issues it.
func certify(t testing.TB, c *x509.Certificate, by *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if by == nil {
		by, key = c, own
	}
	c.SerialNumber = big.NewInt(7)
	if c.NotBefore.IsZero() {
		c.NotBefore, c.NotAfter = time.Unix(0, 0), time.Unix(4e9, 0)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &own.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, own
}

// usage is the extension that says what a certificate is for.
func usage(t testing.TB, critical bool, purposes ...int) pkix.Extension {
	t.Helper()
	var list []asn1.ObjectIdentifier
	for _, p := range purposes {
		list = append(list, asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, p}) // 8: timeStamping, 1: serverAuth
	}
	b, err := asn1.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return pkix.Extension{Id: stamp.OIDUsage, Critical: critical, Value: b}
}

// newAuthority makes an authority. A case may change what its certificate says, and that of its CA.
func newAuthority(t testing.TB, change ...func(*x509.Certificate)) *authority {
	t.Helper()
	c := &x509.Certificate{Subject: pkix.Name{CommonName: "Authority"}, ExtraExtensions: []pkix.Extension{usage(t, true, 8)}}
	root := &x509.Certificate{Subject: pkix.Name{CommonName: "CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	for i, f := range change {
		if f != nil {
			f([]*x509.Certificate{c, root}[i])
		}
	}
	ca, caKey := certify(t, root, nil, nil)
	a := &authority{ca: ca, now: time.Now(), kind: stamp.OIDTSTInfo, digest: pkcs7.OIDDigestAlgorithmSHA256, signers: 1}
	a.cert, a.key = certify(t, c, ca, caKey)
	sum := sha256.Sum256(a.cert.Raw)
	a.named = []pkcs7.Attribute{{Type: stamp.OIDSignedByV2, Value: stamp.SigningCertificateV2{Certs: []stamp.ESSCertIDv2{{Hash: sum[:]}}}}}
	return a
}

// answer answers a request.
func (a *authority) answer(t testing.TB, request []byte) []byte {
	t.Helper()
	marshal := func(v any) []byte {
		b, err := asn1.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var q stamp.TimeStampReq
	if rest, err := asn1.Unmarshal(request, &q); err != nil || len(rest) > 0 || !q.CertReq || q.Version != 1 {
		t.Fatalf("the request is %+v, %v", q, err)
	}
	info := stamp.TSTInfo{Version: 1, Policy: asn1.ObjectIdentifier{1, 2, 3}, Imprint: q.Imprint, Serial: big.NewInt(1), Time: a.now.UTC().Truncate(time.Second), Nonce: q.Nonce}
	if a.info != nil {
		a.info(&info)
	}
	m, err := pkcs7.NewSignedData(marshal(info))
	if err != nil {
		t.Fatal(err)
	}
	m.SetDigestAlgorithm(a.digest)
	m.GetSignedData().ContentInfo.ContentType = a.kind
	for range a.signers {
		if err := m.AddSigner(a.cert, a.key, pkcs7.SignerInfoConfig{ExtraSignedAttributes: a.named}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range a.others {
		m.AddCertificate(c)
	}
	token, err := m.Finish()
	if err != nil {
		t.Fatal(err)
	}
	r := stamp.TimeStampResp{Token: asn1.RawValue{FullBytes: token}}
	if r.Status.Status = a.status; a.status > 1 {
		r.Token, r.Status.FailInfo = asn1.RawValue{}, asn1.BitString{Bytes: []byte{0, 0, 2}, BitLength: 23}
		r.Status.Text = []asn1.RawValue{{Tag: asn1.TagUTF8String, Bytes: []byte("no\x1b")}}
	}
	return marshal(r)
}

func ask(t testing.TB, data string) *stamp.Request {
	t.Helper()
	r, err := stamp.Ask([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func pool(list ...*x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	for _, c := range list {
		p.AddCert(c)
	}
	return p
}

func TestStamp(t *testing.T) {
	a, r := newAuthority(t), ask(t, "data")
	s, err := r.Answered(a.answer(t, r.DER))
	if err != nil {
		t.Fatal(err)
	}
	if s.Sum != sha256.Sum256([]byte("data")) || s.Authority != "CN=Authority" || !s.Time.Equal(a.now.Truncate(time.Second)) {
		t.Errorf("the stamp is %+v", s)
	}
	if err := s.Verify(pool(a.ca)); err != nil {
		t.Error(err)
	}
	if other := newAuthority(t); s.Verify(pool(other.ca)) == nil || s.Verify(pool()) == nil {
		t.Error("another CA, or none, is taken")
	}
	again := ask(t, "data")
	if _, err := again.Answered(a.answer(t, r.DER)); err == nil || !strings.Contains(err.Error(), "another nonce") {
		t.Errorf("the answer to another request: %v", err)
	}
	if again.Nonce().Cmp(r.Nonce()) == 0 {
		t.Error("two requests have one nonce")
	}
	a.info = func(i *stamp.TSTInfo) { i.Nonce = nil }
	if _, err := r.Answered(a.answer(t, r.DER)); err == nil {
		t.Error("an answer without a nonce is taken")
	}
	other := ask(t, "other")
	a.info = func(i *stamp.TSTInfo) { i.Nonce = r.Nonce() }
	if _, err := r.Answered(a.answer(t, other.DER)); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("a stamp of something else: %v", err)
	}
}

// TestOpenSSL reads what openssl ts -reply (3.0) has stamped.
func TestOpenSSL(t *testing.T) {
	response, sum, roots := fromOpenSSL(t)
	s, err := stamp.Parse(response)
	if err != nil {
		t.Fatal(err)
	}
	if s.Sum != sum || s.Authority != "CN=Test Authority" || s.Time.Year() < 2020 {
		t.Errorf("the stamp is %+v", s)
	}
	if err := s.Verify(roots); err != nil {
		t.Error(err)
	}
	for i := range response { // it is refused, or says the same
		for _, flip := range []byte{1, 0x80} {
			bad := bytes.Clone(response)
			bad[i] ^= flip
			if b, err := stamp.Parse(bad); err == nil && b.Verify(roots) == nil && (b.Sum != s.Sum || !b.Time.Equal(s.Time) || b.Authority != s.Authority) {
				t.Errorf("with %#x in byte %d it is %+v", flip, i, b)
			}
		}
		if _, err := stamp.Parse(response[:i]); err == nil {
			t.Errorf("it is taken with %d bytes", i)
		}
	}
	if _, err := stamp.Parse(append(bytes.Clone(response), 0)); err == nil {
		t.Error("a byte after it is taken")
	}
	if _, err := stamp.Parse(make([]byte, stamp.MaxSize+1)); err == nil {
		t.Error("it may have any size")
	}
}

func fromOpenSSL(t testing.TB) (response []byte, sum [32]byte, roots *x509.CertPool) {
	t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	roots = x509.NewCertPool()
	if !roots.AppendCertsFromPEM(read("ca.pem")) {
		t.Fatal("there is no certificate")
	}
	return read("data.tsr"), sha256.Sum256(read("data")), roots
}

// TestRefused: each thing that RFC 3161 asks for is asked for.
func TestRefused(t *testing.T) {
	other := newAuthority(t)
	for _, tt := range []struct {
		name, want string
		cert       func(*x509.Certificate)
		change     func(*authority)
	}{
		{name: "no usage", want: "is not for time stamps alone", cert: func(c *x509.Certificate) { c.ExtraExtensions = nil }},
		{name: "usage for servers", want: "is not for time stamps alone", cert: func(c *x509.Certificate) { c.ExtraExtensions = []pkix.Extension{usage(t, true, 1)} }},
		{name: "usage for servers, too", want: "is not for time stamps alone", cert: func(c *x509.Certificate) { c.ExtraExtensions = []pkix.Extension{usage(t, true, 8, 1)} }},
		{name: "usage for something unknown, too", want: "is not for time stamps alone", cert: func(c *x509.Certificate) { c.ExtraExtensions = []pkix.Extension{usage(t, true, 8, 99)} }},
		{name: "usage not critical", want: "is not for time stamps alone", cert: func(c *x509.Certificate) { c.ExtraExtensions = []pkix.Extension{usage(t, false, 8)} }},
		{name: "a key for certificates", want: "is for more than signatures", cert: func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature }},
		{name: "another sort of message", want: "not a time stamp", change: func(a *authority) { a.kind = pkcs7.OIDData }},
		{name: "no certificate named", want: "not the one that the authority says", change: func(a *authority) { a.named = nil }},
		{name: "another certificate named", want: "not the one that the authority says", change: func(a *authority) { a.named = other.named }},
		{name: "another certificate named by SHA-1", want: "not the one that the authority says", change: func(a *authority) { a.named = bySHA1(other.cert) }},
		{name: "no certificates named", want: "not the one that the authority says", change: func(a *authority) {
			a.named = []pkcs7.Attribute{{Type: stamp.OIDSignedByV2, Value: stamp.SigningCertificateV2{}}}
		}},
		{name: "an attribute twice", want: "stands twice", change: func(a *authority) { a.named = append(a.named, a.named...) }},
		{name: "two signatures", want: "not signed by one authority", change: func(a *authority) { a.signers = 2 }},
		{name: "no signature", want: "not signed by one authority", change: func(a *authority) { a.signers = 0 }},
		{name: "SHA-1", want: "over a hash of the kind", change: func(a *authority) { a.digest = pkcs7.OIDDigestAlgorithmSHA1 }},
		{name: "another key", want: "not that of the certificate", change: func(a *authority) { a.key = other.key }},
		{name: "a refusal", want: `the authority refused, with status 2: "no\x1b", failure 22`, change: func(a *authority) { a.status = 2 }},
		{name: "a stamp of version 2", want: "version 2", change: func(a *authority) { a.info = func(i *stamp.TSTInfo) { i.Version = 2 } }},
		{name: "the zero time", want: "its time is 0001", change: func(a *authority) { a.info = func(i *stamp.TSTInfo) { i.Time = time.Time{} } }},
		{name: "another hash", want: "other than SHA-256", change: func(a *authority) {
			a.info = func(i *stamp.TSTInfo) { i.Imprint.Algorithm.Algorithm = pkcs7.OIDDigestAlgorithmSHA384 }
		}},
		{name: "a short hash", want: "other than SHA-256", change: func(a *authority) { a.info = func(i *stamp.TSTInfo) { i.Imprint.Hash = i.Imprint.Hash[1:] } }},
		{name: "a critical extension", want: "critical extension 1.2.3", change: func(a *authority) {
			a.info = func(i *stamp.TSTInfo) {
				i.Extensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3}, Critical: true, Value: []byte{5, 0}}}
			}
		}},
	} {
		a, r := newAuthority(t, tt.cert), ask(t, "data")
		if tt.change != nil {
			tt.change(a)
		}
		if s, err := r.Answered(a.answer(t, r.DER)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v, want %q", tt.name, s, err, tt.want)
		}
	}
}

func bySHA1(c *x509.Certificate) []pkcs7.Attribute {
	sum := sha1.Sum(c.Raw)
	return []pkcs7.Attribute{{Type: stamp.OIDSignedBy, Value: stamp.SigningCertificate{Certs: []stamp.ESSCertID{{Hash: sum[:]}}}}}
}

// TestTaken: what is optional may be there, and a certificate must be good at the time of the stamp, not now.
func TestTaken(t *testing.T) {
	a, r := newAuthority(t, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageDigitalSignature }), ask(t, "data")
	a.status, a.named, a.others = 1, bySHA1(a.cert), []*x509.Certificate{newAuthority(t).ca}
	a.info = func(i *stamp.TSTInfo) {
		i.Accuracy.Milli, i.Ordering, i.Time = 5, true, i.Time.Add(time.Millisecond)
		i.TSA = asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: []byte{0x84, 0}}
		i.Extensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3}, Value: []byte{5, 0}}}
	}
	s, err := r.Answered(a.answer(t, r.DER))
	if err == nil {
		err = s.Verify(pool(a.ca))
	}
	if err != nil {
		t.Error(err)
	}
	now := time.Now()
	past := func(c *x509.Certificate) { c.NotBefore, c.NotAfter = now.Add(-3*time.Hour), now.Add(-time.Hour) }
	expired := newAuthority(t, nil, past)
	for _, tt := range []struct {
		before time.Duration
		good   bool
	}{{0, false}, {2 * time.Hour, true}, {4 * time.Hour, false}} {
		expired.now = now.Add(-tt.before)
		s, err := r.Answered(expired.answer(t, r.DER))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(pool(expired.ca)); (err == nil) != tt.good {
			t.Errorf("%s ago: %v", tt.before, err)
		}
	}
}

// FuzzParse: whatever the bytes are, it does not panic, and what is read was signed.
func FuzzParse(f *testing.F) {
	response, sum, roots := fromOpenSSL(f)
	f.Add(response)
	a, r := newAuthority(f), ask(f, "data")
	f.Add(a.answer(f, r.DER))
	a.status = 2
	f.Add(a.answer(f, r.DER))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := stamp.Parse(b); err == nil && s.Verify(roots) == nil && s.Sum != sum {
			t.Errorf("%x is a stamp of %x", b, s.Sum)
		}
	})
}
