package checkpoint_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/checkpoint"
)

var (
	claim   = checkpoint.Checkpoint{Run: audit.ID{1}, Tick: 7, Hash: audit.Hash{9}, Inputs: audit.Hash{5}}
	private = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	witness = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))
)

// verifierKey writes a key as c2sp.org/signed-note says.
func verifierKey(name string, kind byte, public []byte) string {
	key := append([]byte{kind}, public...)
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	return fmt.Sprintf("%s+%08x+%s", name, binary.BigEndian.Uint32(sum[:]), base64.StdEncoding.EncodeToString(key))
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

// key returns the key of the claim.
func key(t testing.TB, k ed25519.PrivateKey) *checkpoint.Key {
	t.Helper()
	key, err := claim.Key(public(k))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// signed returns the claim, signed.
func signed(t testing.TB) []byte {
	t.Helper()
	file, err := claim.Sign(private)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t testing.TB, file []byte) *checkpoint.Note {
	t.Helper()
	n, err := checkpoint.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSign reads and verifies what was signed, and has package note verify it, by the verifier key alone.
func TestSign(t *testing.T) {
	file, k := signed(t), key(t, private)
	n := read(t, file)
	if n.Checkpoint != claim {
		t.Errorf("read %v, want %v", n.Checkpoint, claim)
	}
	if list, err := n.Verify(k); err != nil || len(list) != 1 || !list[0].At.IsZero() {
		t.Errorf("Verify = %v, %v", list, err)
	}
	if _, err := n.Verify(key(t, witness)); err == nil || !strings.Contains(err.Error(), "there is no signature of") {
		t.Errorf("Verify with another key = %v", err)
	}
	if want := verifierKey(claim.Origin(), 1, public(private)); k.String() != want {
		t.Errorf("the verifier key is %s, want %s", k, want)
	}
	stock, err := note.NewVerifier(k.String())
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := note.Open(file, note.VerifierList(stock)); err != nil || opened.Text != claim.Text() || len(opened.Sigs) != 1 {
		t.Errorf("package note opens it as %+v, %v", opened, err)
	}
}

// TestOthers: testdata/cosigned.sig was written by package note and by github.com/transparency-dev/formats v0.1.1, with the same keys.
func TestOthers(t *testing.T) {
	file, err := os.ReadFile("testdata/cosigned.sig")
	if err != nil {
		t.Fatal(err)
	}
	k, err := checkpoint.ParseKey("witness.example.com/w1+745fb5e8+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU")
	if err != nil {
		t.Fatal(err)
	}
	list, err := read(t, file).Verify(key(t, private), k)
	if err != nil {
		t.Fatal(err)
	}
	ours, same, err := read(t, signed(t)).Cosign("witness.example.com/w1", witness, list[1].At)
	if err != nil || !bytes.Equal(ours, file) || same.String() != k.String() {
		t.Errorf("at %s the same keys sign, with %v,\n%s", list[1].At, err, ours)
	}
}

// TestCosign has two witnesses sign, one of them twice.
func TestCosign(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	once, first, err := read(t, signed(t)).Cosign("a.example", witness, at)
	if err != nil {
		t.Fatal(err)
	}
	twice, second, err := read(t, once).Cosign("b.example", private, at)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := read(t, twice).Cosign("a.example", witness, at.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	n := read(t, again)
	if got := strings.Join(n.Names(), " "); got != claim.Origin()+" b.example a.example" {
		t.Errorf("the names are %s", got)
	}
	list, err := n.Verify(key(t, private), first, second)
	if err != nil || !list[1].At.Equal(at.Add(time.Hour)) || !list[2].At.Equal(at) || list[1].Line != 2 || list[2].Line != 1 {
		t.Errorf("Verify = %+v, %v", list, err)
	}
	for i, end := range []int{len(signed(t)), len(signed(t)) + len(twice) - len(once), len(again)} {
		if got := n.Through(sha256.Sum256(again[:end])); got != i+1 {
			t.Errorf("of %d bytes Through = %d, want %d", end, got, i+1)
		}
	}
	if got := n.Through(sha256.Sum256(twice)); got != 0 {
		t.Errorf("of what was replaced Through = %d", got)
	}
	for _, name := range []string{"", "a b", "a+b", "a\x01", "a\n", "\xff", "a\u2028b"} {
		if _, _, err := n.Cosign(name, witness, at); err == nil {
			t.Errorf("%q is taken as a name", name)
		}
	}
	for _, at := range []time.Time{time.Unix(-1, 0), time.Unix(253402300800, 0)} {
		if _, _, err := n.Cosign("a.example", witness, at); err == nil {
			t.Errorf("%s is taken as a time", at)
		}
	}
}

// TestEveryByte changes each byte of a cosigned checkpoint: then a signature is missing or wrong, or it is not read.
func TestEveryByte(t *testing.T) {
	file, k, err := read(t, signed(t)).Cosign("a.example", witness, time.Unix(1_800_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	for i := range file {
		for _, flip := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(file)
			bad[i] ^= flip
			if n, err := checkpoint.Read(bad); err == nil {
				if list, err := n.Verify(key(t, private), k); err == nil {
					t.Errorf("with %#x in byte %d it has %v\n%s", flip, i, list, bad)
				}
			}
		}
		if n, err := checkpoint.Read(file[:i]); err == nil && i != len(signed(t)) {
			t.Errorf("cut to %d bytes it is %v", i, n)
		}
	}
}

// TestForged: nothing is read that can be written in another way, or that says more than a checkpoint.
func TestForged(t *testing.T) {
	good := string(signed(t))
	text, line, _ := strings.Cut(good, "\n\n")
	replace := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	many := good
	for i := range 100 {
		many += fmt.Sprintf("— n%d %s\n", i, base64.StdEncoding.EncodeToString([]byte("12345")))
	}
	for _, tt := range []struct{ name, file, want string }{
		{"empty", "", "line 1: "},
		{"another log", replace(claim.Origin(), "example.com/log"), "line 1: "},
		{"no run", replace(claim.Origin(), "murksim/run/1"), "line 1: "},
		{"another spelling of the run", replace("01000000-", "0100000A-"), "line 1: "},
		{"zeros before the tick", replace("\n7\n", "\n007\n"), `line 2: "007" is no tick`},
		{"a tick with a sign", replace("\n7\n", "\n+7\n"), "line 2: "},
		{"a tick of 65 bits", replace("\n7\n", "\n18446744073709551616\n"), "line 2: "},
		{"base64 with other last bits", replace("AAA=\ninputs", "AAB=\ninputs"), "line 3: "},
		{"base64 without padding", replace("AAA=\ninputs", "AAA\ninputs"), "line 3: "},
		{"29 bytes", replace("CQAAAA", "CQ"), "line 3: "},
		{"no inputs", strings.Join(strings.SplitAfter(text, "\n")[:3], "") + "\n" + line, "line "},
		{"inputs with two spaces", replace("inputs ", "inputs  "), "line 4: "},
		{"base64 of inputs with other last bits", replace("AAA=\n\n", "AAB=\n\n"), "line 4: "},
		{"an extension line", replace("\n\n", "\nmore\n\n"), "line 5: "},
		{"a second text", text + "\n\n" + good, "line 6: "},
		{"line ends of Windows", strings.ReplaceAll(good, "\n", "\r\n"), "line 1: "},
		{"a character of control", replace("— ", "\x1b— "), "line 6: "},
		{"no UTF-8", replace("— ", "\xff— "), "line 6: "},
		{"no last line feed", strings.TrimSuffix(good, "\n"), "line "},
		{"no signature", text + "\n\n", "line "},
		{"a hyphen", replace("— ", "- "), "line 6: "},
		{"a signature twice", good + line, "line 7: it is the second signature of one key"},
		{"a signature in other base64", strings.TrimSuffix(good, "w=\n") + "x=\n", "line 6: "},
		{"a signature of no bytes", good + "— a AAAAAA==\n", "line 7: "},
		{"an empty line at the end", good + "\n", "line "},
		{"101 signatures", many, "there are more than 100 signatures"},
		{"1 MiB", good + strings.Repeat("— a AAAAAAAA\n", 1<<20/16), "the file has "},
	} {
		_, err := checkpoint.Read([]byte(tt.file))
		if err == nil || !strings.Contains(err.Error(), tt.want) || tt.file == good {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	renamed := strings.Replace(good, "— "+claim.Origin(), "— example.com/log", 1)
	if _, err := read(t, []byte(renamed)).Verify(key(t, private)); err == nil {
		t.Error("a signature under another name than the origin is taken")
	}
}

func TestKeys(t *testing.T) {
	p := public(witness)
	good := verifierKey("a.example", 4, p)
	if k, err := checkpoint.ParseKey(good); err != nil || k.String() != good || k.Name() != "a.example" {
		t.Errorf("ParseKey = %v, %v", k, err)
	}
	name, rest, _ := strings.Cut(good, "+")
	for _, bad := range []string{
		"", "a", "a+b", "a+b+c", "a+00000000+", name + "x+" + rest, name + "+" + strings.ToUpper(rest[:8]) + rest[8:], good + "\n", good + "=", "+" + rest,
		verifierKey("a b", 4, p), verifierKey("a.example", 2, p), verifierKey("a.example", 6, p), verifierKey("a.example", 4, p[1:]), verifierKey("a.example", 4, make([]byte, 32)),
	} {
		if k, err := checkpoint.ParseKey(bad); err == nil {
			t.Errorf("%q is taken as %s", bad, k)
		}
	}
	if key(t, private).Verify([]byte("x"), nil) {
		t.Error("no signature is taken as one")
	}
	if k, _ := checkpoint.ParseKey(good); k.Verify(nil, make([]byte, 71)) || k.Verify(nil, bytes.Repeat([]byte{255}, 72)) {
		t.Error("another length or a time after 9999 is taken")
	}
	if _, err := read(t, signed(t)).Verify(key(t, private), key(t, private)); err == nil {
		t.Error("one key is taken as two")
	}
}

// FuzzRead: what is read is what package note reads, and has one way to be written.
func FuzzRead(f *testing.F) {
	good := signed(f)
	f.Add(good)
	if b, err := os.ReadFile("testdata/cosigned.sig"); err == nil {
		f.Add(b)
	}
	f.Add([]byte("murksim/run/01000000-0000-0000-0000-000000000000\n0\n\n\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		n, err := checkpoint.Read(file)
		if err != nil {
			return
		}
		_, err = note.Open(file, nil)
		unverified, ok := err.(*note.UnverifiedNoteError)
		if !ok || unverified.Note.Text != n.Text() || len(unverified.Note.UnverifiedSigs) != len(n.Names()) {
			t.Fatalf("package note reads %+v, %v; this one %v", unverified, err, n)
		}
		if again, err := note.Sign(unverified.Note); err != nil || !bytes.Equal(again, file) {
			t.Errorf("it is written as %q, %v", again, err)
		}
	})
}
