package sweep_test

import (
	"testing"

	"github.com/murksim/murksim/sweep"
)

// TestClean: no text of a row steers a terminal, breaks a line, or is a formula where its table is opened.
func TestClean(t *testing.T) {
	row := sweep.Row{Reason: "=1+1", Hash: "@SUM(A1)", Worker: "+cmd|' /C calc'!A0", Build: "-2+3\x1b[31m\nb", Kept: " =kept/job-1.murk"}
	row.Clean()
	want := sweep.Row{Reason: "1+1", Hash: "SUM(A1)", Worker: "cmd|' /C calc'!A0", Build: "2+3[31mb", Kept: "kept/job-1.murk"}
	if row.Reason != want.Reason || row.Hash != want.Hash || row.Worker != want.Worker || row.Build != want.Build || row.Kept != want.Kept {
		t.Errorf("%+v, want %+v", row, want)
	}
}
