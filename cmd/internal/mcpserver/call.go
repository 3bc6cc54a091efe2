package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"solarmirror/store"
)

// Seconds that a call may take.
const (
	defaultSeconds = 10
	mostSeconds    = 50 // clients give up after 60
)

// bounded is the input of a tool that narrows its schema and says how long a call may take.
type bounded interface {
	bound(*jsonschema.Schema)
	seconds() int
}

// addTool adds a tool that reads the copy.
func addTool[In, Out any](s *server, m *mcp.Server, name, doc string, answer func(context.Context, copyFile, In) (Out, error)) {
	input, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // of a type of this package
	}
	if b, ok := any(*new(In)).(bounded); ok {
		b.bound(input)
	}
	openWorld := false
	tool := &mcp.Tool{Name: name, Description: doc, InputSchema: input,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &openWorld}}
	mcp.AddTool(m, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		seconds := defaultSeconds
		if b, ok := any(in).(bounded); ok {
			seconds = b.seconds()
		}
		var out, none Out
		err := s.within(ctx, seconds, func(ctx context.Context, c copyFile) (err error) {
			out, err = answer(ctx, c, in)
			return err
		})
		if err != nil {
			return nil, none, err // out may still be written to
		}
		return nil, out, nil
	})
}

// patience is how long a call waits for a statement that was told to stop.
const patience = time.Second

// within opens the copy and runs f on it, alone. It returns soon after so many seconds, or after ctx
// or the server end, even when f does not.
func (s *server) within(ctx context.Context, seconds int, f func(context.Context, copyFile) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	defer context.AfterFunc(s.end, cancel)()
	select {
	case <-s.turn:
	case <-ctx.Done():
		return errors.New("an earlier call is still under way; call again when it is answered")
	}
	done := make(chan error, 1)
	go func() {
		err := s.call(ctx, f)
		s.turn <- struct{}{}
		done <- err
	}()
	select {
	case err := <-done:
		return explain(err, seconds)
	case <-ctx.Done():
	}
	// SQLite was told to stop, and does so unless it is inside a function.
	select {
	case err := <-done:
		return explain(err, seconds)
	case <-time.After(patience):
		return explain(context.DeadlineExceeded, seconds)
	}
}

func (s *server) call(ctx context.Context, f func(context.Context, copyFile) error) error {
	c, err := s.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, c), c.Close())
}

// explain adds to an error of a statement what to ask instead.
func explain(err error, seconds int) error {
	var driver *sqlite.Error
	code := 0
	if errors.As(err, &driver) {
		code = driver.Code() & 0xff
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("stopped after %d seconds: ask for less (a bi_ table, WHERE, fewer joins), or set max_seconds, up to %d", seconds, mostSeconds)
	case code == sqlite3.SQLITE_NOMEM:
		return fmt.Errorf("stopped: sorting and grouping took more than %d MB of memory; filter with WHERE first, group by fewer values, or use a bi_ table", memoryLimit>>20)
	case code == sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("stopped: a text, a blob or a row has more than %d KB; leave that column out, or make less of it", store.MaxValue>>10)
	}
	return err
}
