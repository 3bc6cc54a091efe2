package push

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"solarmirror/store"
	"solarmirror/store/identity"
	"solarmirror/store/outbox"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
)

func TestMain(m *testing.M) {
	if given := os.Getenv(childEnv); given != "" {
		os.Exit(pushAsChild(given))
	}
	goleak.VerifyTestMain(m)
}

const token = "canary-token-5f3a"

// clock is the time of a whole test.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ms.Store(time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// rig is a platform over real HTTP, a real outbox and mirror, and what the platform is told to do
// with each call.
type rig struct {
	t        *testing.T
	clock    *clock
	platform *platformtest.Platform
	server   *httptest.Server
	dir      string
	log      zerolog.Logger
	key      *outbox.SealingKey
	timeout  time.Duration
	token    string
}

func newRig(t *testing.T, outcome func(*platformtest.CompanyCall) platformtest.CompanyOutcome) *rig {
	t.Helper()
	r := &rig{t: t, clock: newClock(), dir: t.TempDir(), log: zerolog.Nop(), timeout: 10 * time.Second, token: token}
	r.platform = platformtest.New(platformtest.Options{Seed: 1, Token: token, Clock: r.clock.now, CompanyOutcome: outcome})
	r.server = httptest.NewServer(r.platform)
	t.Cleanup(r.server.Close)
	fresh, err := freshMirror()
	must(t, errors.Join(err, os.Mkdir(filepath.Dir(r.mirrorPath()), 0o700)))
	must(t, os.WriteFile(r.mirrorPath(), fresh, 0o600))
	return r
}

// freshMirror is the file of a mirror that holds nothing yet; making one takes longer than most
// tests.
var freshMirror = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "fresh-mirror-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mirror.db")
	mirror, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		return nil, err
	}
	if err := mirror.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func (r *rig) outboxPath() string { return filepath.Join(r.dir, "private", "outbox.db") }
func (r *rig) mirrorPath() string { return filepath.Join(r.dir, "mirror", "mirror.db") }

// outbox opens the outbox until the test ends or close is called.
func (r *rig) outbox() *outbox.Outbox {
	r.t.Helper()
	o, err := outbox.Open(r.t.Context(), r.outboxPath(), outbox.Options{Now: r.clock.now, Log: r.log, Key: r.key})
	must(r.t, err)
	return o
}

func (r *rig) add(companies ...outbox.Company) []outbox.Row {
	r.t.Helper()
	o := r.outbox()
	defer o.Close()
	rows, err := o.Add(r.t.Context(), companies, false)
	must(r.t, err)
	return rows
}

// push runs one push with files and client of its own, as the command does.
func (r *rig) push() (*Report, error) { return r.pushUnder(r.t.Context()) }

func (r *rig) pushUnder(ctx context.Context) (*Report, error) {
	r.t.Helper()
	client, err := platform.New(platform.Config{
		BaseURL: r.server.URL, Token: func(context.Context) (string, error) { return r.token, nil },
		RequestsPerSecond: 10_000, Timeout: r.timeout, MaxRetryWait: time.Millisecond, Now: r.clock.now, Log: r.log,
	})
	must(r.t, err)
	defer client.Close()
	o := r.outbox()
	defer o.Close()
	p := &Pusher{
		Client: client, Outbox: o, Keep: 90 * 24 * time.Hour, KeepAmbiguous: 7 * 24 * time.Hour, Now: r.clock.now, Log: r.log,
	}
	mirror, err := outbox.OpenCreations(r.t.Context(), r.mirrorPath())
	if err == nil {
		defer mirror.Close()
		p.Mirror = mirror
	}
	return p.Push(ctx)
}

func (r *rig) rows() []outbox.Row {
	r.t.Helper()
	o := r.outbox()
	defer o.Close()
	rows, err := o.Rows(r.t.Context())
	must(r.t, err)
	return rows
}

// states is where every row stands, by its number.
func (r *rig) states() map[int64]outbox.State {
	states := map[int64]outbox.State{}
	for _, row := range r.rows() {
		states[row.ID] = row.State
	}
	return states
}

// execSQL writes to a file as another program would.
func execSQL(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw&_pragma=busy_timeout(5000)")
	must(t, err)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
}

// text reads one value as another program would.
func text(t *testing.T, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw&_pragma=busy_timeout(5000)")
	must(t, err)
	defer db.Close()
	var value sql.NullString
	must(t, db.QueryRow(query).Scan(&value))
	return value.String
}

// company is the n-th of many valid companies.
func company(n int) outbox.Company {
	digits := fmt.Sprintf("%08d0001", n+1)
	for check := range 100 {
		if id := fmt.Sprintf("%s%02d", digits, check); identity.ValidTaxID(id) {
			digits = id
			break
		}
	}
	return Normalise(outbox.Company{
		Name: "Ana", Surname: "Souza", Email: fmt.Sprintf("ana%d@integradora.example.com", n), Password: outbox.Password(fmt.Sprintf("canary-password-%d", n)),
		CNPJ: digits, CEP: "01310100", State: "sp", City: "São Paulo", Patio: "Avenida Paulista", Number: "1", Cellphone: "11912345678",
	})
}

func companies(n int) []outbox.Company {
	list := make([]outbox.Company, n)
	for i := range list {
		list[i] = company(i)
	}
	return list
}

func always(o platformtest.CompanyOutcome) func(*platformtest.CompanyCall) platformtest.CompanyOutcome {
	return func(*platformtest.CompanyCall) platformtest.CompanyOutcome { return o }
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tryExec is execSQL for what should fail.
func tryExec(path, statement string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(statement)
	return err
}
