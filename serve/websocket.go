package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/coder/websocket"
)

// Path is where WebSockets connect.
const Path = "/stream"

type connKey struct{}

func (s *Server) startHTTP() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "murksim serves a game here: connect a WebSocket to %s?token=…\n", Path)
	})
	mux.HandleFunc("GET "+Path, s.serveWebSocket)
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: s.limits.Hello, WriteTimeout: s.limits.Hello, MaxHeaderBytes: 1 << 13,
		ErrorLog:    log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	s.http.SetKeepAlivesEnabled(false)
	s.start(func() { s.http.Serve(upgradeListener{s}) })
}

// serveWebSocket makes a client of an HTTP request. The library shakes hands, reads messages
// and answers pings. What is sent is written past it, because all clients get the same bytes.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.end != "" {
		s.mu.Unlock()
		return
	}
	s.work.Add(1) // before Close waits
	s.mu.Unlock()
	defer s.work.Done()
	k := r.Context().Value(connKey{}).(*conn)
	refuse := func(why End, code int) {
		s.count(k, why)
		http.Error(w, string(why), code)
	}
	if !allowed(r, s.tls != nil, s.origins) {
		refuse(EndOrigin, http.StatusForbidden)
		return
	}
	if r.ContentLength != 0 { // what follows would be taken for frames
		refuse(EndGarbage, http.StatusBadRequest)
		return
	}
	token := r.URL.Query().Get("token")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		token = bearer
	}
	v := s.keys.open(token)
	if v < 0 {
		s.pause(s.limits.Refusal)
		refuse(EndToken, http.StatusUnauthorized)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // of origins: it is done
	if err != nil {
		s.count(k, EndGarbage)
		return
	}
	ws.SetReadLimit(int64(s.limits.Message))
	c, why := s.join(k, v, webSocket)
	if why != "" {
		s.count(k, why)
		k.seal(closeFrame(why.status(), string(why)))
		k.drain()
		k.Close()
		return
	}
	c.listen(func() ([]byte, error) { return message(ws) })
	<-c.gone
	ws.CloseNow()
}

// message reads the next message, which must be text.
func message(ws *websocket.Conn) ([]byte, error) {
	kind, b, err := ws.Read(context.Background())
	switch {
	case err == nil && kind == websocket.MessageText:
		return b, nil
	case err == nil:
		return nil, errGarbage
	case errors.Is(err, websocket.ErrMessageTooBig), errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, errFlood), websocket.CloseStatus(err) != -1:
		return nil, err
	case errors.As(err, new(net.Error)): // such as a reset
		return nil, err
	}
	return nil, errors.Join(errGarbage, err)
}

// allowed reports whether the page that a request comes from, if any, may connect: one of the
// origins, or one that this server could have served under a name that is not another's.
func allowed(r *http.Request, secure bool, origins []string) bool {
	given := r.Header.Values("Origin")
	if len(given) != 1 {
		return len(given) == 0
	}
	origin := given[0]
	if slices.Contains(origins, origin) {
		return true
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	u, err := url.Parse(origin)
	if err != nil || origin != scheme+"://"+u.Host || !strings.EqualFold(u.Host, r.Host) {
		return false
	}
	return u.Hostname() == "localhost" || net.ParseIP(u.Hostname()) != nil
}
