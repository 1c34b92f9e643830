package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/view/site"
)

// A viewServer serves the viewer's page.
type viewServer struct {
	*app
	listen string
	open   bool

	socket net.Listener
}

// flags adds the flags of the server.
func (v *viewServer) flags(f *pflag.FlagSet) {
	f.StringVar(&v.listen, "listen", "127.0.0.1:0", "`address` and port to listen on; port 0 is any that is free")
	f.BoolVar(&v.open, "open", false, "open the page in the browser")
}

// A viewingObject is what view prints with --json.
type viewingObject struct {
	Event string   `json:"event"` // "viewing"
	Files []string `json:"files"`
	URL   string   `json:"url"`
}

// listens takes the address.
func (v *viewServer) listens() (err error) {
	if v.socket, err = net.Listen("tcp", v.listen); err != nil {
		return fmt.Errorf("cannot listen on %s: %w", v.listen, listenProblem(err))
	}
	return nil
}

// serve says where the page is, and serves it until the context ends.
func (v *viewServer) serve(ctx context.Context, c site.Config, names ...string) error {
	defer v.socket.Close()
	c.Token, c.Hosts = rand.Text(), site.Hosts(v.socket.Addr())
	url := fmt.Sprintf("http://%s/%s/", networkAddress(v.socket.Addr()), c.Token)
	if names == nil {
		names = []string{}
	}
	if err := cmp.Or(v.Emit(viewingObject{"viewing", names, url}), v.Say("view      %s\n          Ctrl-C ends it", url)); err != nil {
		return err
	}
	if v.open {
		if err := browse(url); err != nil {
			fmt.Fprintf(v.Errs, "the browser cannot be opened: %v\n", err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	work.Go(func() { c.Session.Run(ctx) })
	server := &http.Server{
		Handler: site.Handler(c), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		MaxHeaderBytes: 1 << 14, ErrorLog: log.New(io.Discard, "", 0),
	}
	work.Go(func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(end) != nil { // a client is slow
			server.Close()
		}
	})
	err := server.Serve(v.socket)
	cancel()
	work.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// browse opens a page in the user's browser.
func browse(url string) error {
	switch runtime.GOOS {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", url).Start()
	case "darwin":
		return exec.Command("open", url).Start()
	}
	return exec.Command("xdg-open", url).Start()
}

// networkAddress is an address under which others reach a listener, in numbers: of one on all addresses, one that this computer has in a network.
func networkAddress(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	ip := net.IPv4(127, 0, 0, 1)
	all, _ := net.InterfaceAddrs() // else this computer alone has the address
	for _, x := range all {
		if n, ok := x.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && (ip.IsLoopback() || n.IP.To4() != nil) {
			ip = n.IP
		}
	}
	return net.JoinHostPort(ip.String(), fmt.Sprint(tcp.Port))
}
