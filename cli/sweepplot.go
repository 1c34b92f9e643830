package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/sweep"
)

// A sweepPlotJob draws the results of a sweep.
type sweepPlotJob struct {
	*app
	output string
	sweep.PlotOptions
}

func (a *app) sweepPlotCommand() *cobra.Command {
	j := &sweepPlotJob{app: a}
	c := &cobra.Command{
		Use:   "plot FOLDER -o FILE.svg",
		Short: "Draw the results of a sweep",
		Long: `Plot draws a statistic of a sweep as an SVG. What varies between the jobs decides how:

  one value        a curve: the line is the mean over the seeds, the band goes from
                   the least to the greatest; values that are no numbers have bars
  two values       a map with a cell for each two, coloured by the mean
  samples          of --random or --latin: a dot each, coloured by the statistic
  the seeds alone  a dot for each seed, or how many seeds have which value

If more than two values vary, the first two are drawn, and the mean is taken over all
others. --by chooses one value or two, by their paths or the ends of those, or seed. Listed
values that vary together count as one, such as tick_rate+ticks, after the others.

Equal jobs count once. Jobs that are not ok are left out of all numbers; the picture says
how many there are. A sweep that is still running can be drawn, too.`,
		Example: `  murksim sweep plot out/ -o picture.svg
  murksim sweep plot out/ -o gap.svg --stat gap,fire --by diffusion.rate
  murksim sweep plot out/ -o map.svg --stat heat_mean --by diffusion.rate,decay.rate
  murksim sweep plot out/ -o - --by seed > seeds.svg`,
		Args: arguments(cobra.ExactArgs(1), "the folder of one sweep"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := j.check(args[0]); err != nil {
				return err
			}
			return j.run(c.Context(), args[0])
		},
	}
	f := c.Flags()
	f.StringVarP(&j.output, "output", "o", "", "the `file` to write, a .svg, or - for standard output")
	f.StringSliceVar(&j.Stats, "stat", nil, "the `statistics` to draw, as results.csv names them, or seconds (default: the first that differs, of probes, means and sums)")
	f.StringSliceVar(&j.By, "by", nil, "draw over one or two values, across and upward, by their `paths`; seed is one, too (default: those that vary)")
	f.BoolVar(&j.LogX, "log-x", false, "a logarithmic axis across (values drawn by powers of ten have one anyway)")
	f.BoolVar(&j.LogY, "log-y", false, "a logarithmic axis upward")
	return c
}

// check looks at the flags alone.
func (j *sweepPlotJob) check(folder string) error {
	trim(j.Stats)
	trim(j.By)
	j.output = files.Dashed(j.output)
	switch ending := strings.ToLower(filepath.Ext(j.output)); {
	case folder == "-":
		return report.Usage("sweep plot takes the folder of a sweep, not standard input")
	case j.output == "":
		return report.Usage("sweep plot needs -o FILE.svg, or -o - for standard output")
	case j.output == "-":
		return nil
	case ending != ".svg":
		return report.Usage("%s must end in .svg, which is what sweep plot writes", document.FileName(j.output))
	}
	return replaceable(j.output, sweep.PlotMark, "picture of a sweep")
}

// A plotResult is what sweep plot prints with --json.
type plotResult struct {
	Event   string   `json:"event"` // "plot"
	Folder  string   `json:"folder"`
	Output  string   `json:"output"`
	Kind    string   `json:"kind"`
	By      []string `json:"by"`
	Stats   []string `json:"stats"`
	Jobs    int      `json:"jobs"`
	Done    int      `json:"done"`
	LeftOut int      `json:"left_out"`
	Bytes   int      `json:"bytes"`
}

func (j *sweepPlotJob) run(ctx context.Context, folder string) error {
	journal, err := openSweep(folder)
	if err != nil {
		return err
	}
	defer journal.Close()
	var picture bytes.Buffer
	drawn, err := sweep.Plot(&picture, journal, j.PlotOptions)
	if err != nil {
		return words.About(folder, err)
	}
	if err := j.write(ctx, picture.Bytes()); err != nil {
		return err
	}
	r := plotResult{"plot", folder, j.output, string(drawn.Kind), drawn.By, drawn.Stats, drawn.Jobs, drawn.Done, drawn.LeftOut, picture.Len()}
	if err := j.Emit(r); err != nil {
		return err
	}
	return j.Say("%s", r.line())
}

// write writes the picture to where it belongs.
func (j *sweepPlotJob) write(ctx context.Context, picture []byte) error {
	if j.output == "-" {
		out, err := j.takeStdout()
		if err != nil {
			return err
		}
		_, err = out.Write(picture)
		return err
	}
	f, err := j.draft(ctx, j.output)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(picture); err != nil {
		return words.About(j.output, err)
	}
	_, err = finish(f)
	return words.About(j.output, err)
}

// line says what was drawn.
func (r *plotResult) line() string {
	over, output := "the seeds", document.FileName(r.Output)
	if r.Output == "-" {
		output = "standard output"
	}
	if len(r.By) > 0 {
		over = strings.Join(r.By, " and ")
	}
	jobs := words.Count(uint64(r.Jobs), "job")
	if r.Done < r.Jobs {
		jobs = words.Number(uint64(r.Done)) + " of " + jobs
	}
	if r.LeftOut > 0 {
		jobs += fmt.Sprintf(", %s not ok and left out", words.Number(uint64(r.LeftOut)))
	}
	return fmt.Sprintf("wrote  %s  %s by %s; %s, %s", output, strings.Join(r.Stats, ", "), over, jobs, words.Size(int64(r.Bytes)))
}
