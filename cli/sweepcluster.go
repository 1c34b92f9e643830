package cli

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/sweep/cluster"
)

// natsTokenVariable is the variable of the environment that may hold the token that servers of NATS ask for.
const natsTokenVariable = "MURKSIM_NATS_TOKEN"

// A natsFlags says how servers of NATS are reached.
type natsFlags struct {
	cluster.Options
	tokenFile string
}

func (n *natsFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&n.URL, "nats", "", "use the workers connected to NATS servers at a `URL`, or several, separated by commas")
	f.StringVar(&n.tokenFile, "token-file", "", "read the token for the servers from a `file`, which only you can read (default: "+natsTokenVariable+")")
	f.StringVar(&n.Credentials, "nats-creds", "", "with --nats: a `file` of credentials")
	f.StringVar(&n.CA, "nats-ca", "", "with --nats: a `file` with the certificates of authorities")
	f.StringVar(&n.Cert, "nats-cert", "", "with --nats: a `file` with the certificate of this client")
	f.StringVar(&n.Key, "nats-key", "", "with --nats: a `file` with the key of that certificate")
}

// check looks at the flags.
func (n *natsFlags) check(given func(string) bool) error {
	switch {
	case !knownScheme(n.URL):
		return report.Usage("--nats must be a URL such as nats://host:4222 or tls://host:4222, not %s", cluster.Redacted(n.URL))
	case (n.Cert == "") != (n.Key == ""):
		return report.Usage("--nats-cert and --nats-key belong together")
	}
	for _, file := range []string{n.Credentials, n.CA, n.Cert, n.Key} {
		if file == "" {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			return words.About(file, err)
		}
		f.Close()
	}
	return n.findToken(given)
}

// findToken reads the token for the servers. A token in a URL takes precedence.
func (n *natsFlags) findToken(given func(string) bool) (err error) {
	switch {
	case !given("nats"):
		if given("token-file") {
			err = report.Usage("--token-file needs --nats")
		}
	case n.tokenFile != "":
		n.Token, err = readToken(n.tokenFile)
	case os.Getenv(natsTokenVariable) != "":
		if n.Token = os.Getenv(natsTokenVariable); !isToken(n.Token) {
			err = fmt.Errorf("%s must be a token: up to 256 letters, digits and signs without a blank", natsTokenVariable)
		}
	}
	return err
}

// knownScheme reports whether each of the URLs has a scheme of NATS, or none.
func knownScheme(urls string) bool {
	for u := range strings.SplitSeq(urls, ",") {
		scheme, _, ok := strings.Cut(u, "://")
		if ok && !slices.Contains([]string{"nats", "tls", "ws", "wss"}, scheme) {
			return false
		}
	}
	return true
}

// serverFlags says where a server within this process listens.
type serverFlags struct {
	tokenFile string
	cert, key string
	ca        string
}

func (s *serverFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&s.cert, "tls-cert", "", "a `file` with the server's certificate")
	f.StringVar(&s.key, "tls-key", "", "a `file` with its key")
	f.StringVar(&s.ca, "tls-ca", "", "a `file` with authorities; workers must have a certificate of one of them")
}

// config returns the configuration of a server.
func (s *serverFlags) config(listen, store string, say func(string)) (c cluster.ServerConfig, err error) {
	if (s.cert == "") != (s.key == "") {
		return c, report.Usage("--tls-cert and --tls-key belong together")
	}
	c = cluster.ServerConfig{Listen: listen, Store: store, Cert: s.cert, Key: s.key, CA: s.ca, Say: say}
	if s.tokenFile != "" {
		c.Token, err = readToken(s.tokenFile)
	}
	return c, err
}

// readToken reads the one line of a file, and refuses a file that other users can read.
func readToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", words.About(path, err)
	}
	token := strings.TrimSpace(string(b))
	if !isToken(token) {
		return "", fmt.Errorf("%s: it must hold one line, the token", document.FileName(path))
	}
	return token, secret(path)
}

func isToken(text string) bool {
	return text != "" && len(text) <= 256 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// tokenFlag adds the file of the token that a server asks for.
func (s *serverFlags) tokenFlag(f *pflag.FlagSet) {
	f.StringVar(&s.tokenFile, "token-file", "", "workers must know the token in this `file`, which only you can read")
}

// serve starts the server of --serve, and returns a function that ends it. Without --serve neither does anything.
func (j *sweepJob) serve() (stop func(), err error) {
	if j.listen == "" {
		return func() {}, nil
	}
	c, err := j.server.config(j.listen, filepath.Join(j.folder(), "nats"), j.notice)
	if err != nil {
		return nil, err
	}
	s, err := j.app.begin(c)
	if err != nil {
		return nil, err
	}
	j.nats.URL = s.URL()
	if j.nats.CA == "" && c.Cert != "" {
		j.nats.CA = c.Cert // its own, if no authority is known here
	}
	there, token := s.URL(), ""
	if u, err := url.Parse(there); err == nil {
		u.Host, u.User = reachable(u.Host), nil
		there = u.String()
	}
	if c.Token != "" {
		token = " --token-file " + words.Argument(j.server.tokenFile)
	}
	return s.Stop, j.Say("serving   %s   workers: %s worker --nats %s%s", there, j.Name, there, token)
}

// begin starts a server, if the program has one.
func (a *app) begin(c cluster.ServerConfig) (cluster.Server, error) {
	if a.startServer == nil {
		return nil, fmt.Errorf("this program has no server; murksim-cluster has one: go install github.com/murksim/murksim/cmd/murksim-cluster@latest")
	}
	s, err := a.startServer(c)
	if err != nil {
		return nil, fmt.Errorf("cannot serve at %s: %w", c.Listen, err)
	}
	return s, nil
}

// notice tells people what happens, without ending the line of progress for good.
func (a *app) notice(text string) {
	if a.Quiet {
		return
	}
	a.Meter(0).Clear()
	a.Warn("%s", text)
}

// remote runs the jobs by workers elsewhere.
func (j *sweepJob) remote(ctx context.Context, c sweep.Config) error {
	err := cluster.Run(ctx, cluster.Config{
		Config: c, Options: j.nats.Options, Base: j.scenario, Say: j.notice, Keep: cluster.Keep{Failed: j.keep.failed, Share: j.keep.share.share, States: j.keepAs == "state"},
		Workers: func(n int) { j.progress.workers.Store(int64(n)) },
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// limits of a job: on other machines workers know how much memory there is.
func (j *sweepJob) limits() sweep.Limits {
	l := sweep.Limits{Memory: j.maxMemory.Bytes, Time: j.timeLimit}
	if j.nats.URL == "" {
		l.Memory = j.maxMemory.Share(uint64(j.workers)).Bytes
	}
	return l
}

// buildName names this program: a program of other code has another name.
func buildName() string {
	id := session.ProgramID()
	return fmt.Sprintf("%s program=%x", session.DescribeBuild(replay.ThisBuild()), id[:8])
}

// whom says which workers did the jobs.
func (j *sweepJob) whom() string {
	if j.nats.URL == "" {
		return words.Count(uint64(j.workers), "core")
	}
	return words.Count(uint64(j.progress.workers.Load()), "worker")
}
