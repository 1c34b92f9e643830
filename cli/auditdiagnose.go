package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios/document"
)

// An auditDiagnoseJob writes all about the first tick that differs into a folder.
type auditDiagnoseJob struct {
	*examiner
	chains compare.Chains
	folder string
	force  bool

	files []diagnosisFile
}

// A diagnosisFile is one that was written.
type diagnosisFile struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// An auditDiagnosis is what audit diagnose prints with --json.
type auditDiagnosis struct {
	Event    string          `json:"event"` // "diagnosis"
	Run      string          `json:"run"`
	Verdict  string          `json:"verdict"` // PASS or FAIL
	Tick     *uint64         `json:"first_divergent_tick,omitempty"`
	Stable   *bool           `json:"stable,omitempty"`
	Severity string          `json:"severity,omitempty"`
	Folder   string          `json:"folder,omitempty"` // not with PASS
	Files    []diagnosisFile `json:"files,omitempty"`
}

func (a *app) auditDiagnoseCommand() *cobra.Command {
	j := &auditDiagnoseJob{examiner: a.examiner()}
	c := &cobra.Command{
		Use:   "diagnose SOURCE -o FOLDER",
		Short: "Write all about the first tick that differs into a folder",
		Long: `Diagnose finds the first tick that differs, as audit bisect does, reports on it, as audit
diff does, and writes a folder: the report as JSON and as text, the states of the tick and
of the one before it, a bundle of all the evidence, and README.txt, which says what each
file is and what to do next.

The folder appears when it is complete. With --force it replaces an older diagnosis. If
nothing differs, there is no folder.

Exit status: 0 nothing differs, 3 something does, and the folder is there, 1 the source cannot be
read or the run not be computed here, 4 the evidence is broken.`,
		Example: `  murksim audit diagnose run.db -o diagnosis
  murksim audit diagnose heat.audit -o diagnosis --engine ./old`,
		Args: arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			if j.folder == "" {
				return report.Usage("%s needs -o FOLDER", c.CommandPath())
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			j.Source, j.folder = args[0], filepath.Clean(j.folder)
			defer j.Close()
			return j.Failed(ctx, j.diagnose(ctx))
		},
	}
	f := c.Flags()
	j.flags(f)
	j.repeatFlag(f)
	engineFlag(f, &j.chains.Engine)
	f.StringVarP(&j.folder, "output", "o", "", "the `folder` to make")
	f.BoolVar(&j.force, "force", false, "replace an older diagnosis")
	return c
}

func (j *auditDiagnoseJob) text() *chainText { return &chainText{&j.chains} }

func (j *auditDiagnoseJob) diagnose(ctx context.Context) error {
	if err := cmp.Or(sparesSource(j.folder, j.Source), j.free()); err != nil {
		return err
	}
	if err := j.Open(ctx, j.flag); err != nil {
		return err
	}
	j.chains.Chain = &j.Chain
	if err := j.chains.Compare(ctx, nil); err != nil {
		return err
	}
	r := &j.chains.Result
	out := auditDiagnosis{Event: "diagnosis", Run: r.Run, Verdict: "PASS"}
	if !r.OK {
		if err := j.gather(ctx); err != nil {
			return err
		}
		out = auditDiagnosis{"diagnosis", r.Run, "FAIL", &r.Tick, r.B.Stable, severity(r), j.folder, j.files}
	}
	if err := j.Result(out, r.OK); err != nil {
		return err
	}
	if r.OK {
		return j.Say("%s\nPASS ticks=%d..%d hash=%s", j.text().headline(), j.Evidence.Run().First, j.Found.Tick, r.A.Hash)
	}
	lines := []string{strings.TrimSuffix(j.text().text(), "\n")}
	var rows [][]string
	for _, f := range j.files {
		rows = append(rows, []string{words.Argument(filepath.Join(j.folder, f.Name)), f.About})
	}
	for _, line := range words.Aligned(rows) {
		lines = append(lines, "wrote     "+line)
	}
	hash, failed := j.chains.Calculated()
	if failed != "" {
		lines = append(lines, words.Clean(fmt.Sprintf("fails     tick %s cannot be computed: %s", words.Number(r.Tick), failed)))
	}
	lines = append(lines, fmt.Sprintf("FAIL tick=%d expected=%s calculated=%s", r.Tick, r.A.Hash, cmp.Or(hash, audit.Hash{}.String())))
	if err := j.Say("%s", strings.Join(lines, "\n")); err != nil {
		return err
	}
	return report.Exit(report.StatusDiverged, nil)
}

// A folder with a reportFile is a diagnosis.
const reportFile = "report.json"

// diagnosisFiles are all that a diagnosis may have.
var diagnosisFiles = []string{reportFile, "report.txt", "committed.state", "engine.state", "calculated.state", "before.state", bundleFile, "README.txt"}

const bundleFile = "evidence.audit"

// free returns an error if the folder exists, unless it is an older diagnosis and --force is given.
func (j *auditDiagnoseJob) free() error {
	info, err := os.Lstat(j.folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return words.About(j.folder, err)
	case !info.IsDir():
		return fmt.Errorf("%s exists and is no folder; choose another one", document.FileName(j.folder))
	case !j.force:
		return fmt.Errorf("%s exists; replace it with --force", document.FileName(j.folder))
	}
	list, err := os.ReadDir(j.folder)
	if err != nil {
		return words.About(j.folder, err)
	}
	if ours, err := files.Begins(filepath.Join(j.folder, reportFile), "{\n  \"event\": \"diff\","); len(list) > 0 && (err != nil || !ours) {
		return fmt.Errorf("%s exists and is no diagnosis; choose another folder", document.FileName(j.folder))
	}
	for _, f := range list {
		if !slices.Contains(diagnosisFiles, f.Name()) {
			return fmt.Errorf("%s holds %s, which is of no diagnosis; choose another folder", document.FileName(j.folder), document.FileName(f.Name()))
		}
	}
	return nil
}

// gather writes the files into a temporary folder beside the asked one, which gets the name when it is complete.
func (j *auditDiagnoseJob) gather(ctx context.Context) error {
	parent, name := filepath.Split(j.folder)
	draft, err := os.MkdirTemp(cmp.Or(parent, "."), "."+name+"-*.part")
	if err != nil {
		return words.About(j.folder, err)
	}
	defer os.RemoveAll(draft) // if it still has that name
	if err := j.write(ctx, draft); err != nil {
		return err
	}
	if err := cmp.Or(ctx.Err(), os.Chmod(draft, 0o755)); err != nil {
		return err
	}
	if !j.force {
		return j.publish(draft)
	}
	older := draft + ".old"
	if err := os.Rename(j.folder, older); err != nil && !errors.Is(err, os.ErrNotExist) {
		return words.About(j.folder, err)
	}
	if err := j.publish(draft); err != nil {
		return errors.Join(err, os.Rename(older, j.folder))
	}
	return os.RemoveAll(older)
}

// publish gives the folder its name.
func (j *auditDiagnoseJob) publish(draft string) error {
	if _, err := os.Lstat(j.folder); err == nil { // an empty one would be replaced
		return fmt.Errorf("%s exists; replace it with --force", document.FileName(j.folder))
	}
	if err := os.Rename(draft, j.folder); err != nil {
		return words.About(j.folder, err)
	}
	return nil
}

// write writes the files.
func (j *auditDiagnoseJob) write(ctx context.Context, folder string) error {
	text, err := reportOf(&j.chains.Result)
	if err != nil {
		return err
	}
	r := &j.chains.Result
	tick := words.Number(r.Tick)
	committed, about := "committed.state", " that was committed: "
	if j.chains.Foreign {
		committed, about = "engine.state", ", which is not the committed one: "
	}
	before := ", as it is computed here"
	if r.EqualBefore != nil && *r.EqualBefore {
		before = ", in which both agree"
	}
	for _, f := range []struct {
		name, about string
		content     []byte
	}{
		{reportFile, "the report, as audit diff --json prints it", text},
		{"report.txt", "the report for people", []byte(j.text().text())},
		{committed, "the saved state of tick " + tick + about + r.A.State, j.sealed(j.chains.States[0])},
		{"calculated.state", "the saved state of tick " + tick + " as it is computed here", j.sealed(j.chains.States[1])},
		{"before.state", "the saved state of the tick before it" + before, j.sealed(j.chains.Before)},
	} {
		if f.content == nil {
			continue
		}
		if err := j.add(folder, f.name, f.about, func(w io.Writer) error { _, err := w.Write(f.content); return err }); err != nil {
			return err
		}
	}
	var left []*audit.EvidenceError
	if err := j.add(folder, bundleFile, "all the evidence of the run, a bundle", func(w io.Writer) (err error) {
		left, err = audit.WriteBundle(ctx, w, j.Evidence)
		return err
	}); err != nil {
		return err
	}
	for _, refused := range left {
		j.files[len(j.files)-1].About += fmt.Sprintf("; without the snapshot of %s, which is refused: %s", refused.Row, refused.Reason)
	}
	readme := j.readme()
	return j.add(folder, "README.txt", "what each file is, and how to go on", func(w io.Writer) error { _, err := io.WriteString(w, readme); return err })
}

// sealed is a state as a file from which run --state can continue, even that of a fork; nil: there is none.
func (j *auditDiagnoseJob) sealed(state []byte) []byte {
	own := bytes.Clone(state)
	if state == nil || audit.Under(own, sha256.Sum256(j.Scenario.Descriptor())) != nil {
		return nil
	}
	return engine.Seal(own)
}

// add writes a file.
func (j *auditDiagnoseJob) add(folder, name, what string, write func(io.Writer) error) error {
	path := filepath.Join(folder, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return words.About(path, err)
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return words.About(filepath.Join(j.folder, name), err)
	}
	j.files = append(j.files, diagnosisFile{name, what})
	return nil
}

// readme says what each file is, and how to go on.
func (j *auditDiagnoseJob) readme() string {
	var b strings.Builder
	r := &j.chains.Result
	first := "is the first that is not what was committed"
	if r.EqualBefore != nil && !*r.EqualBefore {
		first = "was the first that was not what was committed; computed again, an earlier one is not, either"
	}
	fmt.Fprintf(&b, "Run %s: tick %d %s.\n%s\n\n", r.Run, r.Tick, first, j.text().headline())
	if r.B.Stable != nil && !*r.B.Stable {
		fmt.Fprintf(&b, "It does not come to the same each time: something is remembered outside the state, or the order of a map or a clock counts.\n\n")
	}
	for _, f := range j.files {
		fmt.Fprintf(&b, "  %-18s%s\n", f.Name, f.About)
	}
	fmt.Fprintf(&b, "\nTo go on, in this folder:\n\n")
	commands := []string{
		"audit evidence.audit",
		"audit bisect evidence.audit",
		fmt.Sprintf("audit diff evidence.audit --tick %d", r.Tick),
		fmt.Sprintf("audit diff evidence.audit --tick %d --engine OTHER-BUILD", r.Tick),
		fmt.Sprintf("audit state evidence.audit --tick %d -o other.state", r.Tick),
	}
	if r.B.Stable != nil && !*r.B.Stable { // asked for that tick alone, it may come to the committed hash
		commands = append(commands[:2], "audit diff evidence.audit", "audit diff evidence.audit --engine OTHER-BUILD", "synctest SCENARIO")
	}
	for _, c := range commands {
		fmt.Fprintf(&b, "  %s %s\n", j.app.Name, c)
	}
	fmt.Fprintf(&b, "\nTo check code, in a module with propagators or systems, and in a clone of murksim:\n\n  go run %s ./...\n  go run %s %s\n", modulePath+"/tools/detcheck", "./tools/detcheck", statePath)
	return b.String()
}

// statePath are the arguments for murksim itself: all code of the packages that make states.
const statePath = "-all ./space ./fields ./internal/kernel ./internal/store ./internal/statehash ./internal/wire ./commands ./rng ./exact/... ./engine/... ./scenarios/..."
