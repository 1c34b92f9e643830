package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit/stamp"
)

// A stampedView is what audit stamp was given, with --json.
type stampedView struct {
	Event     string `json:"event"` // "stamped"
	Time      string `json:"time"`
	Authority string `json:"authority"`
	Saved     string `json:"saved"`
}

func (a *app) auditStampCommand() *cobra.Command {
	var tsa, out string
	var force bool
	c := &cobra.Command{
		Use:   "stamp SIGNATURE --tsa ADDRESS -o FILE",
		Short: "Have an authority confirm when a signature existed",
		Long: `Stamp sends the SHA-256 of a signature of audit sign, with all signatures that are in the file, to a
time stamping authority (RFC 3161), and writes its answer: that the file existed at that time. It
is the only command of audit that needs a network for a signature.

It checks that the answer belongs to this request and is signed by a certificate for time
stamps. Whether to trust the certificate is decided by audit check --stamp, without a
network. Signatures added later do not invalidate the stamp.`,
		Example: `  murksim audit stamp heat.sig --tsa https://tsa.example.com -o heat.sig.tsr
  murksim audit check heat.sig --key mine.key.pub --stamp heat.sig.tsr --tsa-ca ca.pem
  openssl ts -verify -data heat.sig -in heat.sig.tsr -CAfile ca.pem`,
		Args: arguments(cobra.ExactArgs(1), "one signature"),
		RunE: func(c *cobra.Command, args []string) error {
			if tsa == "" || out == "" {
				return report.Usage("%s needs --tsa ADDRESS and -o FILE", c.CommandPath())
			}
			if err := cmp.Or(checkAddress("--tsa", tsa), spares(out, args[0])); err != nil {
				return err
			}
			return a.stamp(c.Context(), args[0], tsa, out, force)
		},
	}
	f := c.Flags()
	f.StringVar(&tsa, "tsa", "", "the `address` of the authority, with http:// or https://")
	f.StringVarP(&out, "output", "o", "", "the time stamp, a `file`")
	f.BoolVar(&force, "force", false, "overwrite")
	return c
}

func (a *app) stamp(ctx context.Context, name, tsa, out string, force bool) error {
	n, err := evidence.ReadNote(name)
	if err != nil {
		return err
	}
	request, err := stamp.Ask(n.File())
	if err != nil {
		return err
	}
	host, response, err := sendTo(ctx, tsa, request.DER)
	if err != nil {
		return err
	}
	s, err := request.Answered(response)
	if err != nil {
		return fmt.Errorf("%s: %s", host, words.Printable(words.InWords(err).Error()))
	}
	if err := a.writeFile(out, response, force); err != nil {
		return err
	}
	v := stampedView{"stamped", s.Time.Format(time.RFC3339Nano), s.Authority, out}
	if err := a.Emit(v); err != nil {
		return err
	}
	return a.Say("stamped   %s by %s\nwrote     %s", v.Time, words.Printable(v.Authority), words.Argument(out))
}

// sendTo sends a request to an authority. It returns its host, which errors name; the rest of the address may hold a token.
func sendTo(ctx context.Context, tsa string, request []byte) (host string, response []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, tsa, bytes.NewReader(request))
	if err != nil {
		return "", nil, err
	}
	r.Header.Set("Content-Type", "application/timestamp-query")
	client := http.Client{Timeout: 30 * time.Second}
	answer, err := client.Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", r.URL.Host, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("%s: the answer is %s", r.URL.Host, words.Printable(answer.Status))
	}
	response, err = io.ReadAll(io.LimitReader(answer.Body, stamp.MaxSize+1))
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", r.URL.Host, err)
	}
	return r.URL.Host, response, nil
}
