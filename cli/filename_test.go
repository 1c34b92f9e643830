package cli

import (
	"os"
	"strings"
	"testing"
)

// TestFileNamesAreShownInQuotes: a name with what does not print stands in quotes wherever it is
// printed, so that it cannot break a line, colour a terminal, or turn the text around.
func TestFileNamesAreShownInQuotes(t *testing.T) {
	t.Chdir(t.TempDir())
	const there, quoted = "a\u202eb", `"a\u202eb`
	const none = "a\n\x1b[31mb" // Windows can have no such file
	for file, content := range map[string][]byte{
		there: record(t, "heat", "--ticks", "2"), there + ".yaml": []byte("a: b"), there + ".json": []byte("a"),
		there + "2.yaml": []byte("murksim: 1\nname: a\nspace: {kind: ring, length: 3}\nfields: [{name: a}]\n"),
	} {
		if err := os.WriteFile(file, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range [][]string{
		{"verify", there}, {"verify", none}, {"verify", there + ".yaml"}, {"verify", "--complete", there},
		{"verify", "--hashes", none, there}, {"verify", "--hashes", there, there},
		{"verify", "--world", none, there}, {"verify", "--world", there + ".json", there},
		{"inspect", there}, {"inspect", none}, {"inspect", "--tick", "9", there},
		{"run", there}, {"run", none}, {"run", there + ".yaml"}, {"run", "./" + none}, {"run", there + ".json"},
		{"run", "heat", "--ticks", "2", "-o", there},
		{"run", "heat", "--no-record", "--state", there}, {"run", "heat", "--no-record", "--state", none},
		{"run", "heat", "-o", none + "/x"}, {"run", "heat", "--hashes", none + "/x"}, {"run", "heat", "--save-state", none + "/x"},
		{"convert", there, there + ".out"}, {"convert", there, none + "/x"}, {"convert", none, "x"}, {"convert", there + ".json", "x"},
		{"upgrade", there, "x"}, {"upgrade", none, "x"},
		{"new", "heat", "-o", none + "/x"}, {"new", "heat", "-o", there}, {"new", "heat", "-o", there + ".new"},
		{"convert", there, there}, {"convert", there, there + ".yaml"},
		{"run", "heat", "-o", there, "--hashes", there}, {"run", there + "2.yaml", "-o", there + "2.yaml"}, {"run", "heat", "-o", there + ".yaml"},
	} {
		_, out, errs := murksim(t, nil, line...)
		said := out + errs
		if strings.Contains(said, there) || strings.ContainsRune(said, 0x1b) {
			t.Errorf("%q prints a raw name: %q", line, said)
		}
		if !strings.Contains(said, quoted) && !strings.Contains(said, `"a\n\x1b[31mb`) && !strings.Contains(said, `a\n\x1b[31mb/x"`) && !strings.Contains(said, `a\n\x1b[31mb"`) {
			t.Errorf("%q does not name the file: %q", line, said)
		}
	}
}

// TestCommandsToTypeQuoteSpaces: a command that is printed can be typed as it stands.
func TestCommandsToTypeQuoteSpaces(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, out, errs := murksim(t, nil, "run", "heat", "--ticks", "2", "-o", "my run.murk"); !strings.HasSuffix(out, "murksim verify 'my run.murk'\n") ||
		!strings.Contains(out, "recorded  my run.murk  ") {
		t.Errorf("%s%s\nwant the name in quotes in the last line only", out, errs)
	}
}
