package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// An alarm is a fault of a run, as a line on standard error, a row of alerts and the body of a webhook.
type alarm struct {
	Level      string `json:"level"` // "alert"
	Code       string `json:"code"`
	Run        string `json:"run"`
	Tick       uint64 `json:"tick"`
	Expected   string `json:"expected_hash,omitempty"`
	Calculated string `json:"calculated_hash,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Hidden     bool   `json:"unconfirmed,omitempty"` // as in the report of an audit

	id audit.ID
}

// raise prints an alarm, and adds it to a database, with the verdict that raises it, if there is one, and with a halt if the run must be halted. It
// reports what it cannot deliver, and continues with the rest.
func (a *app) raise(ctx context.Context, db *store.DB, v *store.Audit, x *alarm, halt bool, webhook string) (halted bool) {
	x.Level = "alert"
	text, err := json.Marshal(x)
	if err != nil { // no alarm makes this fail
		text = []byte("{}")
	}
	a.Warn("%s", text)
	if db != nil {
		row := store.Alert{Run: x.id, Tick: x.Tick, Code: x.Code, Severity: "critical", Detail: string(text), At: time.Now()}
		what, end := "the alert is", ""
		if v != nil {
			row.Audit, what = v.ID, "the verdict and its alert are"
		}
		var with *audit.Halt
		if halt {
			with, end = &audit.Halt{Tick: x.Tick, Code: x.Code, Detail: string(text), At: row.At}, ", and the run is not halted"
		}
		err := db.Record(ctx, x.id, v, &row, with)
		if v != nil && errors.Is(err, store.ErrReadOnly) && !errors.Is(err, store.ErrNoAlert) { // an engine may add no verdict, but an alert
			row.Audit = audit.ID{}
			if without := db.Record(ctx, x.id, nil, &row, with); without == nil || errors.Is(without, store.ErrNoAlert) {
				a.Warn("the verdict is not in the database: %v", gaveUp(ctx, err))
				err = without
			}
		}
		alone := errors.Is(err, store.ErrNoAlert)
		if alone {
			what, end = "the alert is", ""
		}
		halted = halt && (alone || err == nil)
		if err != nil {
			a.Warn("%s not in the database%s: %v", what, end, gaveUp(ctx, err))
		}
	}
	if webhook != "" {
		if err := post(ctx, webhook, text); err != nil {
			a.Warn("the alert is not delivered: %v", err)
		}
	}
	return halted
}

// post sends an object to an address, three times at most.
func post(ctx context.Context, to string, text []byte) error {
	client := http.Client{Timeout: 10 * time.Second}
	for wait := time.Second / 2; ; wait *= 4 {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(text))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		response, err := client.Do(r)
		if err == nil {
			response.Body.Close()
			if response.StatusCode/100 == 2 {
				return nil
			}
			err = fmt.Errorf("the answer is %s", response.Status)
		}
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = fmt.Errorf("%s: %w", r.URL.Host, failed.Err) // what follows the host may be a token
		}
		if wait > 3*time.Second {
			return err
		}
		select {
		case <-ctx.Done():
			return cmp.Or(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// checkAddress checks the address that a flag gives.
func checkAddress(flag, address string) error {
	if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		shown, _, _ := strings.Cut(address, "?")
		if strings.ContainsAny(shown, "@/") { // which may have a password or a token
			return report.Usage("%s must be an address such as https://example.com/path, with http:// or https:// and a host", flag)
		}
		return report.Usage("%s must be an address such as https://example.com/path, not %q", flag, shown)
	}
	return nil
}

// haltCode returns the code with which an error of a tick halts its run; "": it does not.
func haltCode(err error) string {
	_, panicked := errors.AsType[*engine.PanicError](err)
	switch {
	case errors.Is(err, engine.ErrArithmetic):
		return audit.ArithmeticFault
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrChain):
		return audit.ChainConflict
	case panicked:
		return audit.Panic
	}
	return ""
}
