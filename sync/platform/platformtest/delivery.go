package platformtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

// delivery is an answer on its way, over a socket (send) or within the process (response).
type delivery struct {
	status int
	header http.Header
	body   io.Reader
	length int64 // as declared; -1: the body ends with the connection
	slowly bool  // every read of the body is to be sent at once

	transmit func(http.ResponseWriter, *http.Request) // ends the call in place of all this
}

// deliver puts headers and coding to an answer, and on its way what is to go wrong there.
func (p *Platform) deliver(c arrival, a answer) *delivery {
	if a.transmit != nil {
		return &delivery{transmit: a.transmit}
	}
	header := http.Header{}
	header.Set("Date", c.now.UTC().Format(http.TimeFormat))
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Vary", "Accept-Encoding")
	maps.Copy(header, a.header)
	zipped := a.fault != FaultCutClose && acceptsGzip(c.Header.Get("Accept-Encoding"))
	if zipped {
		header.Set("Content-Encoding", "gzip")
	}
	if a.fault == FaultBomb {
		return &delivery{status: a.status, header: header, body: p.bomb(a.body, zipped), length: -1}
	}
	body := a.body
	if zipped {
		body = p.zip(body)
	}
	v := &delivery{status: a.status, header: header, body: bytes.NewReader(body), length: int64(len(body))}
	half := bytes.NewReader(body[:len(body)/2])
	switch a.fault {
	case FaultReset:
		v.transmit = resetConnection
	case FaultCut:
		v.body = half
	case FaultCutClose:
		v.body, v.length = half, -1
	case FaultDrip:
		v.body, v.slowly = &drip{c.Context(), v.body, p.faults.Drip}, true
	}
	return v
}

func (p *Platform) zip(body []byte) []byte {
	var zipped bytes.Buffer
	z := p.zippers.Get().(*gzip.Writer)
	defer p.zippers.Put(z)
	z.Reset(&zipped)
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	return zipped.Bytes()
}

// bombMiB is the white space in a bomb.
const bombMiB = 320

// bomb is a page with white space behind its first bracket. Compressed files may be strung together, so one MiB is
// compressed once.
func (p *Platform) bomb(body []byte, zipped bool) io.Reader {
	head, space, tail := body[:1], bytes.Repeat([]byte(" "), 1<<20), body[1:]
	if zipped {
		head, space, tail = p.zip(head), p.zip(space), p.zip(tail)
	}
	parts := []io.Reader{bytes.NewReader(head)}
	for range bombMiB {
		parts = append(parts, bytes.NewReader(space))
	}
	return io.MultiReader(append(parts, bytes.NewReader(tail))...)
}

// drip gives a byte at a time.
type drip struct {
	ctx  context.Context
	body io.Reader
	wait time.Duration
}

func (d *drip) Read(b []byte) (int, error) {
	timer := time.NewTimer(d.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return d.body.Read(b[:min(1, len(b))])
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

// send delivers over the connection of w. A client that has gone away is no concern of the platform's.
func (v *delivery) send(w http.ResponseWriter, r *http.Request) {
	if v.transmit != nil {
		v.transmit(w, r)
		return
	}
	maps.Copy(w.Header(), v.header)
	if v.length >= 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(v.length, 10))
	} else {
		w.Header().Set("Transfer-Encoding", "identity") // net/http then marks the end by closing
	}
	w.WriteHeader(v.status)
	if v.slowly {
		w = flushing{w}
	}
	// Having got less than was declared, net/http closes the connection.
	_, _ = io.Copy(struct{ io.Writer }{w}, v.body)
}

// flushing sends every write at once.
type flushing struct{ http.ResponseWriter }

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	if err == nil {
		err = http.NewResponseController(f.ResponseWriter).Flush()
	}
	return n, err
}

// Transport returns a round tripper whose every call the platform answers in the caller's goroutine, whatever its host:
// for simulations that have no time for sockets. It speaks as HTTP/1.1 would: a reset comes back as ECONNRESET, a cut
// body ends with io.ErrUnexpectedEOF, a drip takes its time. It is for lists: an outcome of POST /company that ends a
// connection comes back as a reset, whichever it is. Two things differ from net/http's transport: it repeats
// nothing by itself, and it neither asks for compression nor undoes it, so a bomb comes at its full size.
func (p *Platform) Transport() http.RoundTripper { return transport{p} }

type transport struct{ platform *Platform }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	seen := r.Clone(r.Context())
	if seen.Body == nil {
		seen.Body = http.NoBody
	}
	return t.platform.respond(seen).response(r)
}

func (v *delivery) response(r *http.Request) (*http.Response, error) {
	if v.transmit != nil {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	if v.length >= 0 {
		v.header.Set("Content-Length", strconv.FormatInt(v.length, 10))
	}
	return &http.Response{
		Status: strconv.Itoa(v.status) + " " + http.StatusText(v.status), StatusCode: v.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: v.header, ContentLength: v.length, Body: &localBody{ctx: r.Context(), body: v.body, missing: v.length}, Request: r,
	}, nil
}

// localBody is a body within the process, with the failures of one that came over a connection.
type localBody struct {
	ctx     context.Context
	body    io.Reader
	missing int64 // of the declared length; less than 0 when none was declared
}

func (b *localBody) Read(into []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.body.Read(into)
	b.missing -= int64(n)
	if err == io.EOF && b.missing > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *localBody) Close() error {
	b.body, b.missing = bytes.NewReader(nil), 0
	return nil
}
