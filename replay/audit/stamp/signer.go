package stamp

import (
	"bytes"
	"crypto/sha1" // RFC 3161 names a certificate by it; no signature uses it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"

	"github.com/smallstep/pkcs7"
)

// Object identifiers of RFC 2634 and RFC 5035.
type (
	essCertID struct {
		Hash   []byte
		Issuer asn1.RawValue `asn1:"optional"`
	}
	signingCertificate struct {
		Certs    []essCertID
		Policies asn1.RawValue `asn1:"optional"`
	}
	essCertIDv2 struct {
		Algorithm pkix.AlgorithmIdentifier `asn1:"optional"`
		Hash      []byte
		Issuer    asn1.RawValue `asn1:"optional"`
	}
	signingCertificateV2 struct {
		Certs    []essCertIDv2
		Policies asn1.RawValue `asn1:"optional"`
	}
)

// checkMessage checks that a message is a stamp with one signature, by the certificate that the message itself names.
func (s *Stamp) checkMessage(m *pkcs7.PKCS7) error {
	signer := &m.Signers[0]
	for i, a := range signer.AuthenticatedAttributes {
		for _, other := range signer.AuthenticatedAttributes[:i] {
			if a.Type.Equal(other.Type) {
				return fmt.Errorf("stamp: its attribute %s stands twice", a.Type)
			}
		}
	}
	if d := signer.DigestAlgorithm.Algorithm; !d.Equal(oidSHA256) && !d.Equal(oidSHA384) && !d.Equal(oidSHA512) {
		return fmt.Errorf("stamp: it is signed over a hash of the kind %s; this program takes SHA-256, SHA-384 and SHA-512", d)
	}
	var is asn1.ObjectIdentifier
	if err := m.UnmarshalSignedAttribute(pkcs7.OIDAttributeContentType, &is); err != nil || !is.Equal(oidTSTInfo) {
		return errors.New("stamp: what is signed is not a time stamp, or does not say so")
	}
	if !signedBy(m, s.signer) {
		return errors.New("stamp: the certificate in it is not the one that the authority says it has signed with")
	}
	if err := m.Verify(); err != nil {
		return fmt.Errorf("stamp: the signature is not that of the certificate in it: %w", err)
	}
	return nil
}

// signedBy reports whether the first certificate that a message names as that of its signer is this one.
func signedBy(m *pkcs7.PKCS7, c *x509.Certificate) bool {
	var raw asn1.RawValue
	if m.UnmarshalSignedAttribute(oidSignedByV2, &raw) == nil {
		var v signingCertificateV2
		if unmarshal(raw.FullBytes, &v) != nil || len(v.Certs) == 0 {
			return false
		}
		id := &v.Certs[0]
		switch a := id.Algorithm.Algorithm; {
		case a == nil || a.Equal(oidSHA256):
			sum := sha256.Sum256(c.Raw)
			return bytes.Equal(id.Hash, sum[:])
		case a.Equal(oidSHA384):
			sum := sha512.Sum384(c.Raw)
			return bytes.Equal(id.Hash, sum[:])
		case a.Equal(oidSHA512):
			sum := sha512.Sum512(c.Raw)
			return bytes.Equal(id.Hash, sum[:])
		}
		return false
	}
	var v signingCertificate
	if m.UnmarshalSignedAttribute(oidSignedBy, &raw) != nil || unmarshal(raw.FullBytes, &v) != nil || len(v.Certs) == 0 {
		return false
	}
	sum := sha1.Sum(c.Raw)
	return bytes.Equal(v.Certs[0].Hash, sum[:])
}

// checkUsage checks that a certificate is for time stamps and nothing else (RFC 3161, 2.3).
func checkUsage(c *x509.Certificate) error {
	critical := false
	for _, x := range c.Extensions {
		critical = critical || x.Critical && x.Id.Equal(oidUsage)
	}
	if !critical || len(c.ExtKeyUsage) != 1 || c.ExtKeyUsage[0] != x509.ExtKeyUsageTimeStamping || len(c.UnknownExtKeyUsage) > 0 {
		return fmt.Errorf("stamp: the certificate of %s is not for time stamps alone (extendedKeyUsage must be critical,timeStamping)", c.Subject)
	}
	if c.KeyUsage&^(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) != 0 {
		return fmt.Errorf("stamp: the key of %s is for more than signatures (keyUsage)", c.Subject)
	}
	return nil
}
