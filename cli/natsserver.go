package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/sweep/cluster"
)

// A serverJob is a server of NATS by itself, as the flags ask for it.
type serverJob struct {
	*app
	flags  serverFlags
	listen string
	store  string
	routes string
	peers  []string
}

// natsCommand is there in programs that have a server.
func (a *app) natsCommand() *cobra.Command {
	j := &serverJob{app: a}
	c := &cobra.Command{
		Use:   "nats --listen ADDRESS --store FOLDER",
		Short: "Serve sweeps and workers: a server of NATS, alone or in a cluster",
		Long: `Nats runs a server of NATS with JetStream until Ctrl-C. Sweeps (sweep --nats) and workers
(worker --nats) connect to it; what it has stored it has again when it is started again.

Three of them on three machines, each with --cluster and the other two in --peers, make a
cluster that survives the loss of any one.

Without an address, as in :4222, this computer alone can connect. On an address that others
reach give --token-file, and TLS where the network is not your own.`,
		Example: `  murksim nats --listen 10.0.0.1:4222 --store nats/ --token-file token
  murksim nats --listen 10.0.0.1:4222 --store nats/ --cluster 10.0.0.1:6222 --peers 10.0.0.2:6222,10.0.0.3:6222`,
		Args: arguments(cobra.NoArgs, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			switch given := c.Flags().Changed; {
			case !given("listen") || !given("store"):
				return report.Usage("nats needs --listen and --store")
			case given("peers") != given("cluster"):
				return report.Usage("--cluster and --peers belong together")
			}
			if err := listenAddress("listen", "10.0.0.1:4222", &j.listen); err != nil {
				return err
			}
			return j.run(c.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&j.listen, "listen", "", "`address` and port for sweeps and workers")
	f.StringVar(&j.store, "store", "", "`folder` for what the server keeps")
	f.StringVar(&j.routes, "cluster", "", "`address` and port for the other servers of a cluster")
	f.StringSliceVar(&j.peers, "peers", nil, "the `addresses` and ports of the other servers")
	j.flags.flags(f)
	j.flags.tokenFlag(f)
	return c
}

// A natsObject says with --json where a server serves.
type natsObject struct {
	Event string `json:"event"` // "serving"
	URL   string `json:"url"`   // without the token
}

func (j *serverJob) run(ctx context.Context) error {
	ctx, stop := j.untilSignal(ctx)
	defer stop()
	trim(j.peers)
	c, err := j.flags.config(j.listen, j.store, j.notice)
	if err != nil {
		return err
	}
	c.Routes, c.Peers = j.routes, j.peers
	s, err := j.begin(c)
	if err != nil {
		return err
	}
	defer s.Stop()
	url := cluster.Redacted(s.URL())
	if c.Token == "" && !strings.HasPrefix(j.listen, "127.") {
		j.notice("anyone who reaches " + j.listen + " can connect; --token-file asks for a token")
	}
	if err := j.Emit(natsObject{"serving", url}); err != nil {
		return err
	}
	if err := j.Say("serving   %s", url); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
