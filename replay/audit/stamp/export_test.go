package stamp

import "math/big"

// What an authority in a test answers with.
type (
	TSTInfo              = tstInfo
	MessageImprint       = messageImprint
	TimeStampReq         = timeStampReq
	TimeStampResp        = timeStampResp
	SigningCertificate   = signingCertificate
	SigningCertificateV2 = signingCertificateV2
	ESSCertID            = essCertID
	ESSCertIDv2          = essCertIDv2
)

var (
	OIDSHA256, OIDTSTInfo, OIDSignedBy, OIDSignedByV2, OIDUsage = oidSHA256, oidTSTInfo, oidSignedBy, oidSignedByV2, oidUsage
)

func (r *Request) Nonce() *big.Int { return r.nonce }
