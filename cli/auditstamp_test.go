package cli

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/murksim/murksim/internal/report"
)

// tsaConfig is what openssl takes from a file.
const tsaConfig = `
[req]
distinguished_name = name
prompt = no
[name]
CN = Test CA
[ca]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign
[authority]
extendedKeyUsage = critical,timeStamping
[tsa]
default_tsa = one
[one]
serial = serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
`

// openssl runs openssl in the working directory.
func openssl(args ...string) error {
	if out, err := exec.Command("openssl", args...).CombinedOutput(); err != nil {
		return errors.New("openssl " + args[0] + ": " + err.Error() + "\n" + string(out))
	}
	return nil
}

// startAuthority makes a CA and an authority in the working directory, and serves this. Its URL gives an answer with each request, those
// that end in /again the answer that was given last.
func startAuthority(t *testing.T) (url string) {
	t.Helper()
	curve := []string{"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", "tsa.cnf"}
	for _, err := range []error{
		os.WriteFile("tsa.cnf", []byte(tsaConfig), 0o666), os.WriteFile("serial", []byte("01\n"), 0o666),
		openssl(append([]string{"req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-days", "100", "-extensions", "ca"}, curve...)...),
		openssl(append([]string{"req", "-x509", "-keyout", "other.key", "-out", "other.pem", "-days", "100", "-extensions", "ca"}, curve...)...),
		openssl(append([]string{"req", "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=Test Authority"}, curve...)...),
		openssl("x509", "-req", "-in", "tsa.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "100", "-extfile", "tsa.cnf", "-extensions", "authority", "-out", "tsa.pem"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var last []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, err := io.ReadAll(r.Body)
		if kind := r.Header.Get("Content-Type"); err == nil && kind != "application/timestamp-query" {
			err = errors.New("the request is " + kind)
		}
		if err == nil && !strings.HasSuffix(r.URL.Path, "/again") {
			err = errors.Join(os.WriteFile("query", query, 0o666), openssl("ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query", "-signer", "tsa.pem", "-inkey", "tsa.key", "-out", "answer"))
			if err == nil {
				last, err = os.ReadFile("answer")
			}
		}
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/timestamp-reply")
		w.Write(last)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestStamp has an authority that is openssl stamp a signature, and openssl check the stamp.
func TestStamp(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Logf("no authority stamps: %v", err) // package stamp has tests without one; tools/ci has openssl
		return
	}
	t.Chdir(t.TempDir())
	url := startAuthority(t)
	done(t, "run", "heat", "--until", "3", "--no-record", "--audit", "run.db")
	done(t, "audit", "key", "mine.key")
	done(t, "audit", "sign", "run.db", "--key", "mine.key", "-o", "heat.sig")
	done(t, "audit", "stamp", "heat.sig", "--tsa", url, "-o", "heat.sig.tsr")
	if err := openssl("ts", "-verify", "-data", "heat.sig", "-in", "heat.sig.tsr", "-CAfile", "ca.pem"); err != nil {
		t.Error(err)
	}
	check := func(file, stamp, ca string) (int, string, string) {
		return murksim(t, nil, "audit", "check", file, "run.db", "--key", "mine.key.pub", "--stamp", stamp, "--tsa-ca", ca)
	}
	if status, out, errs := check("heat.sig", "heat.sig.tsr", "ca.pem"); status != report.StatusOK || !strings.Contains(out, " by CN=Test Authority, with 1 signature\n") {
		t.Errorf("%d, %s%s", status, out, errs)
	}

	// Signatures that come later do not spoil it, as long as those before it stay.
	stamped := read(t, "heat.sig")
	for _, name := range []string{"a.example", "b.example"} {
		done(t, "audit", "cosign", "heat.sig", "run.db", "--key", "mine.key", "--name", name)
	}
	if status, out, errs := check("heat.sig", "heat.sig.tsr", "ca.pem"); status != report.StatusOK || !strings.Contains(out, "with 1 signature\n") {
		t.Errorf("cosigned: %d, %s%s", status, out, errs)
	}
	checkObjectLine(t, "audit", done(t, "audit", "stamp", "heat.sig", "--tsa", url, "-o", "again.tsr", "--json"), map[string]bool{})
	if status, out, errs := check("heat.sig", "again.tsr", "ca.pem"); status != report.StatusOK || !strings.Contains(out, "with 3 signatures\n") {
		t.Errorf("stamped again: %d, %s%s", status, out, errs)
	}
	if err := os.WriteFile("alone.sig", stamped, 0o666); err != nil {
		t.Fatal(err)
	}
	good := read(t, "heat.sig.tsr")
	for i, bad := range map[string][]byte{"cut": good[:len(good)-1], "longer": append(bytes.Clone(good), 0), "changed": append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1), "empty": nil} {
		if err := os.WriteFile(i+".tsr", bad, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ file, stamp, ca, want string }{
		{"alone.sig", "again.tsr", "ca.pem", "again.tsr: it is a stamp of something other than alone.sig, which was changed since, or has lost a signature"},
		{"heat.sig", "heat.sig.tsr", "other.pem", "the certificate of CN=Test Authority is not one of the authorities that are trusted"},
		{"heat.sig", "cut.tsr", "ca.pem", "cut.tsr: it is no response of RFC 3161"},
		{"heat.sig", "longer.tsr", "ca.pem", "1 bytes follow it"},
		{"heat.sig", "changed.tsr", "ca.pem", "changed.tsr: the signature is not that of the certificate in it"},
		{"heat.sig", "empty.tsr", "ca.pem", "empty.tsr: "},
		{"heat.sig", "query", "ca.pem", "query: "},
	} {
		if status, out, errs := check(tt.file, tt.stamp, tt.ca); status != report.StatusEvidence || !strings.Contains(errs, tt.want) {
			t.Errorf("%s of %s by %s: %d, %s%s, want %s", tt.stamp, tt.file, tt.ca, status, out, errs, tt.want)
		}
	}
	for _, tt := range []struct{ url, want string }{
		{url + "/again", "another nonce"},
		{answering(t, http.StatusOK, "hello"), "it is no response of RFC 3161"},
		{answering(t, http.StatusForbidden, ""), "the answer is 403 Forbidden"},
		{answering(t, http.StatusOK, strings.Repeat("x", 1<<20)), "a stamp has at most"},
	} {
		status, _, errs := murksim(t, nil, "audit", "stamp", "heat.sig", "--tsa", tt.url, "-o", "no.tsr")
		if _, err := os.Stat("no.tsr"); status != report.StatusError || !strings.Contains(errs, tt.want) || err == nil {
			t.Errorf("%s: %d, %s, %v, want %s", tt.url, status, errs, err, tt.want)
		}
	}
}

// answering serves one answer.
func answering(t *testing.T, status int, text string) (url string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestStockVerifier opens a signature with package note alone, by the key that audit check prints.
func TestStockVerifier(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "3", "--no-record", "--audit", "run.db")
	done(t, "audit", "key", "mine.key")
	done(t, "audit", "sign", "run.db", "--key", "mine.key", "-o", "heat.sig")
	done(t, "audit", "cosign", "heat.sig", "run.db", "--key", "mine.key", "--name", "a.example")
	status, out, errs := murksim(t, nil, "audit", "check", "heat.sig", "--key", "mine.key.pub")
	_, rest, _ := strings.Cut(out, "\nvkey      ")
	key, _, ok := strings.Cut(rest, "\n")
	if status != report.StatusOK || !ok {
		t.Fatalf("%d, %s%s", status, out, errs)
	}
	v, err := note.NewVerifier(key)
	if err != nil {
		t.Fatal(err)
	}
	n, err := note.Open(read(t, "heat.sig"), note.VerifierList(v))
	if err != nil || len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 1 || !strings.HasPrefix(n.Text, v.Name()+"\n3\n") {
		t.Errorf("it is opened as %+v, %v", n, err)
	}
}

// TestCosignName: a name with what a terminal takes for a command is refused, and not printed as it is.
func TestCosignName(t *testing.T) {
	for _, name := range []string{"a\u009b31m", "a\x7f", "a\u202eb"} {
		status, out, errs := murksim(t, nil, "audit", "cosign", "heat.sig", "run.db", "--key", "mine.key", "--name", name)
		if status != report.StatusUsage || strings.Contains(out+errs, name) {
			t.Errorf("%q: %d, %q", name, status, out+errs)
		}
	}
}
