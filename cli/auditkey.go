package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/document"
)

// A keyView is what audit key has written, with --json.
type keyView struct {
	Event  string `json:"event"`
	Saved  string `json:"saved"`
	Public string `json:"public"` // the file of the public key
}

func (a *app) auditKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "key FILE",
		Short:   "Make a key to sign with",
		Long:    "Key writes a new Ed25519 private key to FILE, which only you can read, and its public key to FILE.pub. Both are PEM.",
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
			if err := a.Emit(keyView{"key", args[0], args[0] + ".pub"}); err != nil {
				return err
			}
			return a.Say("wrote     %s and %s", words.Argument(args[0]), words.Argument(args[0]+".pub"))
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
			return words.About(x.name, err)
		}
	}
	return nil
}

// readPrivate reads a private key, and refuses a file that other users can read.
func readPrivate(name string) (ed25519.PrivateKey, error) {
	key, err := evidence.ReadKey[ed25519.PrivateKey](name, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return nil, err
	}
	return key, secret(name)
}

// secret refuses a file that others can read.
func secret(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return words.About(name, err)
	}
	if info.Mode().IsRegular() && files.OpenToOthers(info) {
		return fmt.Errorf("%s: others can read it, or write it (its mode is %03o), so it is no secret\n  chmod 600 %s; if somebody may have read it, make another one", document.FileName(name), info.Mode().Perm(), words.Argument(name))
	}
	return nil
}
