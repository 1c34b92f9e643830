package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
)

// A Remote is a client's side of a connection to a server, by TCP with receipts.
type Remote struct {
	conn net.Conn
	in   *bufio.Reader
	head [recordHeader]byte
}

// Dial connects to a server at one of the URLs that it prints. Config is for TLS; nil is the default.
func Dial(ctx context.Context, address string, config *tls.Config) (*Remote, error) {
	u, err := url.Parse(address)
	if err != nil || u.Port() == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return nil, fmt.Errorf("serve: the URL must be like ws://127.0.0.1:4600%s?token=…", Path)
	}
	var d interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	if u.Scheme == "wss" {
		d = &tls.Dialer{Config: config}
	}
	c, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	b, err := json.Marshal(hello{u.Query().Get("token"), true})
	if err == nil {
		_, err = c.Write(append(b, '\n'))
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("serve: %w", err)
	}
	return &Remote{conn: c, in: bufio.NewReader(c)}, nil
}

// Next returns the next record: bytes of the stream, or an object for [ParseObject], which are all that is in
// memory. At the end, which the server says in an object, the error is io.EOF.
func (r *Remote) Next() (stream, object []byte, err error) {
	if _, err := io.ReadFull(r.in, r.head[:1]); err != nil {
		return nil, nil, err
	}
	if r.head[0] == '{' { // a refusal
		r.in.UnreadByte()
		line, err := r.in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			return nil, nil, errors.New("serve: what the server says is too long; this is another protocol")
		}
		return nil, slices.Clone(line), early(err)
	}
	if _, err := io.ReadFull(r.in, r.head[1:]); err != nil {
		return nil, nil, early(err)
	}
	const most = 1 << 24 // far above what a server sends
	n := binary.BigEndian.Uint32(r.head[1:])
	if kind := r.head[0]; kind != recordStream && kind != recordJSON || n > most {
		return nil, nil, fmt.Errorf("serve: a record of kind %q and %d bytes; this is another protocol", kind, n)
	}
	var b bytes.Buffer // which grows as bytes come, whatever the header promises
	b.Grow(min(int(n), 1<<16) + bytes.MinRead)
	if _, err := io.CopyN(&b, r.in, int64(n)); err != nil {
		return nil, nil, early(err)
	}
	if r.head[0] == recordStream {
		return b.Bytes(), nil, nil
	}
	return nil, b.Bytes(), nil
}

// early makes the end of the input within a record an error.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Order sends an order, a JSON object on one line, under a number for its receipt.
func (r *Remote) Order(id uint64, order []byte) error {
	b, err := json.Marshal(request{&id, order})
	if err != nil {
		return fmt.Errorf("serve: the order must be a JSON object: %w", err)
	}
	_, err = r.conn.Write(append(b, '\n'))
	return err
}

// Close closes the connection.
func (r *Remote) Close() error { return r.conn.Close() }
