package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/site"
	"github.com/murksim/murksim/view/sweeps"
)

// isSweep reports whether a path is a folder, which can only be that of a sweep.
func isSweep(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir() && !worlds.IsEmbedded(name)
}

// viewSweep serves the page of a sweep.
func (j *viewJob) viewSweep(c *cobra.Command, names []string) error {
	if len(names) > 1 {
		return report.Usage("%s view takes one folder of a sweep, and nothing beside it", j.Name)
	}
	for _, flag := range []string{"index", "no-index", "state", "set", "seed"} {
		if c.Flags().Changed(flag) {
			return report.Usage("--%s is for recordings and scenarios; %s is the folder of a sweep", flag, document.FileName(names[0]))
		}
	}
	if err := j.yrep.only(c.Flags().Changed); err != nil {
		return err
	}
	if err := listenAddress("listen", defaultListen, &j.server.listen); err != nil {
		return err
	}
	ctx, stop := j.untilSignal(c.Context())
	defer stop()
	return j.serveSweep(ctx, names[0])
}

func (j *viewJob) serveSweep(ctx context.Context, folder string) error {
	defer j.closeAll()
	s, err := sweeps.Open(sweeps.Config{
		Folder: folder, Journal: filepath.Join(folder, journalName), Name: document.FileName(filepath.Clean(folder)), Memory: j.MaxMemory.Bytes,
		Open: func(path string) (*view.Recording, error) {
			return j.whole(ctx, path, j.MaxMemory.Share(2*view.WorldsOfSource))
		},
	})
	if err != nil {
		return sweepProblem(folder, err)
	}
	defer s.Close()
	if err := j.server.listens(); err != nil {
		return err
	}
	session := view.NewSession()
	session.Memory, session.Sweep = j.MaxMemory.Bytes, s
	return j.server.serve(ctx, site.Config{Session: session}, folder)
}
