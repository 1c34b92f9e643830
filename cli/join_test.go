package cli

import (
	"net"
	"strings"
	"testing"
)

// TestJoinWithoutTLS: who joins without TLS where the server has it is told what to try.
func TestJoinWithoutTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	j := &joinJob{app: &app{}}
	remote, err := j.dial(t.Context(), "ws://"+l.Addr().String()+"/stream?token=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	if err := j.receive(remote); err == nil || !strings.HasSuffix(err.Error(), "; if the server has TLS, the URL must begin with wss:") {
		t.Errorf("join ends with %v", err)
	}
}
