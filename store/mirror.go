package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"
	"modernc.org/sqlite"

	"solarmirror/store/dealclass"
	"solarmirror/store/sqlitefile"
)

// writerPragmas are those of the one writing connection; the journal mode is set apart, once the file is known to be ours.
var writerPragmas = []string{
	"busy_timeout(10000)", "synchronous(NORMAL)", "wal_autocheckpoint(4000)", "cache_size(-8192)", "temp_store(MEMORY)",
}

// maxReaders bounds the reading connections of one Mirror.
const maxReaders = 4

// OwnPrefix begins the name of the table of every own mart, and of no other table.
const OwnPrefix = "my_"

// OwnMarts are where analysts declare marts of their own; see package store/marts/own.
type OwnMarts struct {
	Dir     string        // of their files; "": there are none
	Timeout time.Duration // for computing one of them
}

// Options are what a Mirror needs from around it.
type Options struct {
	Now func() time.Time // the clock; nil is time.Now
	Log zerolog.Logger   // the zero Logger says nothing

	FileMode fs.FileMode // of a new file, whatever the umask; 0 is 0600

	// What the marts depend on besides the tables.
	Zone      *time.Location  // the platform's; nil is UTC
	PowerUnit PowerUnit       // of its totalPower; "" is Auto
	Deals     dealclass.Lists // which decide the class of a deal; the zero value is the default ones

	OwnMarts OwnMarts // which analysts declare; the zero value is none
}

// Mirror is an open database. Its methods may be called by several goroutines at once.
type Mirror struct {
	path  string
	now   func() time.Time
	log   zerolog.Logger
	zone  *time.Location
	power PowerUnit
	deals dealclass.Lists
	own   OwnMarts
	model *model
	read  *sqlx.DB

	// Of a Mirror that writes; nil otherwise.
	write *sqlx.DB
	conn  *sqlx.Conn    // the only connection of write
	rows  *source       // what its statements read pages from
	turn  chan struct{} // holds one token; whoever took it out may write until it is put back

	mu         sync.Mutex
	statements map[string]*sqlx.Stmt // prepared on conn
}

// Open opens the mirror at path for reading and writing. It creates the directories and the file when they are
// missing, and brings an older file up to date. The caller should hold the lock of [sqlitefile.AcquireLock].
//
// Errors: [*sqlitefile.NewerError], [sqlitefile.ErrNotMirror], [sqlitefile.ErrCorrupt], [sqlitefile.ErrDiskFull], [*sqlitefile.NoRoomError], [sqlitefile.ErrIO], [sqlitefile.ErrNoAccess], [sqlitefile.ErrBusy].
func Open(ctx context.Context, path string, o Options) (*Mirror, error) {
	return open(ctx, path, o, currentModel())
}

func open(ctx context.Context, path string, o Options, mod *model) (*Mirror, error) {
	if err := sqlitefile.MakeDir(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("create the directory of the mirror: %w", sqlitefile.ExplainFile(filepath.Dir(path), err))
	}
	// SQLite gives the -wal and the -shm the mode of the file.
	if err := sqlitefile.CreateFile(path, o.FileMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create the mirror: %w", sqlitefile.ExplainFile(path, err))
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Deals.IsZero() {
		o.Deals = dealclass.Default()
	}
	write := sql.OpenDB(sqlitefile.WALConnector{Connector: writerConnector{sqlitefile.DSN(path, writerPragmas)}})
	write.SetMaxOpenConns(1)
	m := &Mirror{
		path: path, now: o.Now, log: o.Log, zone: o.Zone, power: cmp.Or(o.PowerUnit, Auto), deals: o.Deals, own: o.OwnMarts, model: mod, write: sqlx.NewDb(write, sqlitefile.BindLabel),
		turn: make(chan struct{}, 1), statements: map[string]*sqlx.Stmt{},
	}
	m.turn <- struct{}{}
	if err := m.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open mirror: %w", sqlitefile.Explain(path, err)), m.Close())
	}
	return m, nil
}

// start connects, refuses what is not ours before anything is written, and migrates.
func (m *Mirror) start(ctx context.Context) error {
	conn, err := m.write.Connx(ctx)
	if err != nil {
		return err
	}
	m.conn = conn
	found, err := inspect(ctx, conn)
	if err != nil {
		return err
	}
	if err := found.refuse(m.path, m.model); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if m.rows, err = newSource(ctx, conn, m.model.width()); err != nil {
		return err
	}
	if err := m.migrate(ctx, found); err != nil {
		return err
	}
	if m.read, err = openReaders(readerDSN(m.path)); err != nil {
		return err
	}
	if err := m.catchUpIndices(ctx); err != nil {
		return err
	}
	return m.catchUpErasure(ctx)
}

// OpenReadOnly opens the mirror at path for reading, also while another process writes to it. It creates nothing.
//
// Errors: [sqlitefile.ErrNoDatabase], [sqlitefile.ErrNotMirror], [*sqlitefile.NewerError], [*sqlitefile.OlderError], [sqlitefile.ErrCorrupt], [sqlitefile.ErrIO], [sqlitefile.ErrNoAccess], [sqlitefile.ErrBusy].
func OpenReadOnly(ctx context.Context, path string) (*Mirror, error) {
	return openReadOnly(ctx, path, readerDSN(path))
}

func openReadOnly(ctx context.Context, path, dsn string) (*Mirror, error) {
	if err := sqlitefile.MustExist(path); err != nil {
		return nil, err
	}
	read, err := openReaders(dsn)
	if err != nil {
		return nil, fmt.Errorf("open mirror %s: %w", path, err)
	}
	m := &Mirror{path: path, now: time.Now, model: currentModel(), read: read}
	if err := CheckCurrent(ctx, read, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open mirror: %w", sqlitefile.Explain(path, err)), m.Close())
	}
	return m, nil
}

// CheckCurrent returns an error unless the file at path, which q reads, is a mirror of the current
// schema.
//
// Errors: [sqlitefile.ErrNoDatabase], [sqlitefile.ErrNotMirror], [*sqlitefile.NewerError], [*sqlitefile.OlderError].
func CheckCurrent(ctx context.Context, q sqlitefile.Querier, path string) error {
	mod := currentModel()
	found, err := inspect(ctx, q)
	if err != nil {
		return err
	}
	if err := found.refuse(path, mod); err != nil {
		return err
	}
	switch {
	case found.Empty(): // a file that was just created, or whose creation was interrupted
		return sqlitefile.NoDatabase(path)
	case found.version < mod.version:
		return &sqlitefile.OlderError{Path: path, Have: found.version, Want: mod.version}
	}
	return nil
}

// Close ends every connection; a transaction still open is rolled back. A writer first empties the WAL into the file
// as far as readers allow within a second, so that a plain copy of the closed file is whole. Beside Litestream,
// which reads for as long as it runs, it does not wait, unless the WAL is larger than [sqlitefile.LitestreamWAL].
func (m *Mirror) Close() error {
	var errs []error
	if m.read != nil {
		errs = append(errs, m.read.Close())
	}
	if m.conn != nil {
		errs = append(errs, m.closeStatements())
		// A program that keeps looking at an old state of the mirror shall not keep the next run from beginning, or this process from ending.
		patience := m.patienceAtEnd()
		if err := m.emptyWAL(context.Background(), patience); err != nil {
			level := zerolog.DebugLevel
			if !errors.Is(err, sqlitefile.ErrBusy) {
				level = zerolog.WarnLevel
			}
			m.log.WithLevel(level).Err(err).Str("path", m.path).Dur("waited_ms", patience).Msg("the WAL was not emptied; a later run does it, or Litestream")
		}
		errs = append(errs, m.conn.Close())
	}
	if m.write != nil {
		errs = append(errs, m.write.Close())
	}
	if m.rows != nil {
		m.rows.close()
	}
	return errors.Join(errs...)
}

// patienceAtEnd is how long Close waits for readers. Whether Litestream runs is told by its read
// transaction alone: its tables and its directory outlive it.
func (m *Mirror) patienceAtEnd() time.Duration {
	litestream, err := sqlitefile.HasLitestream(context.Background(), m.conn)
	files, filesErr := sqlitefile.ReadFileState(m.path)
	if err == nil && filesErr == nil && litestream && files.WAL < sqlitefile.LitestreamWAL {
		return 0
	}
	return time.Second
}

// checkpointAttempt is how long one attempt of emptyWAL waits for readers and writers.
const checkpointAttempt = 250 * time.Millisecond

// emptyWAL checkpoints the WAL and truncates it to zero bytes. It returns [sqlitefile.ErrBusy] when a read
// transaction on an old state stays open for longer than patience. The context is checked between
// attempts.
func (m *Mirror) emptyWAL(ctx context.Context, patience time.Duration) error {
	attempt := min(patience, checkpointAttempt)
	if _, err := m.conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA busy_timeout = %d", attempt.Milliseconds())); err != nil {
		return sqlitefile.Explain(m.path, err)
	}
	for end := time.Now().Add(patience); ; {
		var busy bool // SQLite reports it in the result row, not as an error
		var inWAL, moved int
		err := m.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &inWAL, &moved)
		switch {
		case err != nil:
			return sqlitefile.Explain(m.path, err)
		case !busy:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(end):
			return fmt.Errorf("%w: %s: a program reads an old state of it", sqlitefile.ErrBusy, m.path)
		}
	}
}

// closeStatements: database/sql does not close those of a single connection, and SQLite would keep the file open for them.
func (m *Mirror) closeStatements() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for _, s := range m.statements {
		errs = append(errs, s.Close())
	}
	clear(m.statements)
	return errors.Join(errs...)
}

// prepared returns the statement, prepared on the writing connection the first time.
func (m *Mirror) prepared(query string) (*sqlx.Stmt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.statements[query]; ok {
		return s, nil
	}
	s, err := m.conn.PreparexContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	m.statements[query] = s
	return s, nil
}

// Path returns the path the mirror was opened with.
func (m *Mirror) Path() string { return m.path }

// Now is the time by the clock of the Options.
func (m *Mirror) Now() time.Time { return m.now() }

// Zone is the platform's time zone.
func (m *Mirror) Zone() *time.Location { return m.zone }

// PowerUnit is the configured unit of the platform's totalPower.
func (m *Mirror) PowerUnit() PowerUnit { return m.power }

// Deals are the lists that decide the class of a deal.
func (m *Mirror) Deals() dealclass.Lists { return m.deals }

// OwnMarts are those of the Options.
func (m *Mirror) OwnMarts() OwnMarts { return m.own }

// Log is the logger of the Options.
func (m *Mirror) Log() *zerolog.Logger { return &m.log }

// Reader is the pool of read-only connections.
func (m *Mirror) Reader() *sqlx.DB { return m.read }

func readerDSN(path string) string {
	return sqlitefile.DSN(path, sqlitefile.ReaderPragmas) + "&mode=ro"
}

// openReaders returns a pool of connections that can do nothing but read: not to the file, and, by the authorizer, not
// to any other either.
func openReaders(dsn string) (*sqlx.DB, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sqlx.NewDb(sql.OpenDB(guarded{connector}), sqlitefile.BindLabel)
	db.SetMaxOpenConns(maxReaders)
	return db, nil
}

// guarded opens connections that refuse every statement that does more than read.
type guarded struct{ driver.Connector }

func (g guarded) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := g.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	registerer, ok := conn.(sqlite.AuthorizerRegisterer)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the SQLite driver's %T takes no authorizer", conn), conn.Close())
	}
	if err := registerer.RegisterAuthorizer(ReadsOnly); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// inquiries are the pragmas that tell and change nothing, whatever their argument.
var inquiries = []string{
	"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
	"database_list", "integrity_check", "quick_check", "foreign_key_check", "compile_options", "data_version",
}

// ReadsOnly is an authorizer that lets nothing through but reading.
func ReadsOnly(action sqlite.AuthorizerActionCode, arg1, _, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthFunction, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthPragma:
		if slices.Contains(inquiries, strings.ToLower(arg1)) {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}

// PowerUnit is what the platform's totalPower is in.
type PowerUnit string

// The power units.
const (
	Auto PowerUnit = "auto" // the deals decide; see package marts
	KWp  PowerUnit = "kWp"
	Wp   PowerUnit = "Wp"
)
