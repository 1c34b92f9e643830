package evidence

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit/checkpoint"
	"github.com/murksim/murksim/scenarios/document"
)

// ReadKey reads a key of Ed25519 in PEM, private or public.
func ReadKey[T ed25519.PrivateKey | ed25519.PublicKey](name, kind string, parse func([]byte) (any, error)) (key T, err error) {
	b, err := files.ReadSmall(name, "a "+strings.ToLower(kind))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s: it is no %s in PEM", document.FileName(name), kind)
	}
	v, err := parse(block.Bytes)
	if err != nil {
		return nil, words.About(name, err)
	}
	key, ok := v.(T)
	if !ok {
		return nil, fmt.Errorf("%s: it is no key of Ed25519", document.FileName(name))
	}
	return key, nil
}

func readPublic(name string) (ed25519.PublicKey, error) {
	key, err := ReadKey[ed25519.PublicKey](name, "PUBLIC KEY", x509.ParsePKIXPublicKey)
	if err == nil {
		if weak := checkpoint.CheckKey(key); weak != nil {
			return nil, words.About(name, weak)
		}
	}
	return key, err
}
