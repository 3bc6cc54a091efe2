package outbox

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
)

// sendLog is the file beside the outbox that says which companies were sent. Nothing that happens
// to the outbox file changes it. The title holds the outbox's identity; each further line is an
// event: intent, tag, event.
//
// Events are appended inside a write transaction of the outbox, so that writers take turns, and are
// synced before it commits. A crash between the two leaves a send that the outbox has no row for: a
// doubt.
type sendLog struct {
	path     string
	file     os.FileInfo // as last read or written; nil without a log
	identity string
	size     int64           // of the complete lines, in bytes
	total    int64           // events
	sends    map[string]send // by intent; without those freed
	untagged map[string]int64
}

// send is the last event of an intent.
type send struct {
	intent string
	tag    string
	event  string
}

const (
	sendBegun   = "begun"   // the platform may have created the company
	sendCreated = "created" // the platform has created it
	sendFreed   = "freed"   // the platform has not created it
)

const sendLogTitle = "solarmirror sends of outbox "

// errSendLog: the log does not know all that this outbox sent.
var errSendLog = errors.New("the send log is missing, incomplete or of another outbox")

func sendLogPath(outbox string) string { return outbox + ".sends" }

func newIdentity() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// taxTag stands for a tax number in the log, in any spelling; "-" without one. A reader of the log
// can find the number by trying all: the tag only keeps it out of sight, and forget removes it.
func taxTag(taxID string) string {
	plain := identity.PlainTaxID(taxID)
	if plain == "" {
		return "-"
	}
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:16])
}

// readSendLog reads the log. One that is missing or has no title is empty and has no identity.
func readSendLog(path string) (*sendLog, error) {
	l := &sendLog{path: path, sends: map[string]send{}, untagged: map[string]int64{}}
	info, err := os.Stat(path) // before reading: what is added meanwhile makes another size
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the send log: %w", sqlitefile.ExplainFile(path, err))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the send log: %w", sqlitefile.ExplainFile(path, err))
	}
	// The commit after a line that was cut off never came.
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	title, events, _ := strings.Cut(string(whole), "\n")
	identity, ours := strings.CutPrefix(title, sendLogTitle)
	if !ours {
		return l, nil
	}
	l.file, l.identity, l.size = info, identity, int64(len(whole))
	for line := range strings.Lines(events) {
		l.take(strings.TrimSuffix(line, "\n"))
	}
	return l, nil
}

// take adds one event to what the log knows.
func (l *sendLog) take(line string) {
	l.total++
	words := strings.Split(line, " ")
	if len(words) != 3 {
		l.untagged[line]++ // version 1 wrote the intent alone, at each begin
		return
	}
	s := send{words[0], words[1], words[2]}
	delete(l.untagged, s.intent)
	if s.event == sendFreed {
		delete(l.sends, s.intent)
		return
	}
	l.sends[s.intent] = s
}

// add appends events. After a failure the log is as before.
func (l *sendLog) add(events []send) error {
	var text strings.Builder
	for _, s := range events {
		fmt.Fprintf(&text, "%s %s %s\n", s.intent, s.tag, s.event)
	}
	if err := l.write(text.String()); err != nil {
		return fmt.Errorf("write the send log: %w", sqlitefile.ExplainFile(l.path, err))
	}
	for line := range strings.Lines(text.String()) {
		l.take(strings.TrimSuffix(line, "\n"))
	}
	return nil
}

func (l *sendLog) write(text string) (err error) {
	f, err := os.OpenFile(l.path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Truncate(l.size)
		}
		err = errors.Join(err, f.Close())
	}()
	if err := f.Truncate(l.size); err != nil { // a power cut may have left part of a line
		return err
	}
	if _, err := f.WriteAt([]byte(text), l.size); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if l.file, err = f.Stat(); err != nil {
		return err
	}
	l.size += int64(len(text))
	return nil
}

// rewriteSendLog replaces the log, whole or not at all, by one of this identity. The events stay,
// as edited.
func rewriteSendLog(path, identity string, edit func(events string) string) error {
	old, err := readSendLog(path)
	if err != nil {
		return err
	}
	events := ""
	if old.identity != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the send log: %w", sqlitefile.ExplainFile(path, err))
		}
		_, events, _ = strings.Cut(string(text[:old.size]), "\n")
	}
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("create the send log: %w", sqlitefile.ExplainFile(path, err))
	}
	_, err = f.WriteString(sendLogTitle + identity + "\n" + edit(events))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("create the send log: %w", sqlitefile.ExplainFile(path, err))
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("create the send log: %w", sqlitefile.ExplainFile(path, err))
	}
	return sqlitefile.SyncDir(filepath.Dir(path))
}

func unedited(events string) string { return events }

// anySends returns the log as it stands, whichever outbox it was begun for.
func (o *Outbox) anySends() (*sendLog, error) {
	info, err := os.Stat(sendLogPath(o.path))
	if known := o.sends; err == nil && known != nil && known.file != nil && os.SameFile(info, known.file) &&
		info.Size() == known.file.Size() && info.ModTime().Equal(known.file.ModTime()) {
		return known, nil
	}
	o.sends, err = readSendLog(sendLogPath(o.path))
	return o.sends, err
}

// ownSends returns the log of this outbox; [errSendLog] when it does not know all that this outbox
// sent.
func (o *Outbox) ownSends(tx *sqlx.Tx) (*sendLog, error) {
	log, err := o.anySends()
	if err != nil {
		return nil, err
	}
	var meta struct {
		Identity string `db:"identity"`
		Sends    int64  `db:"sends"`
	}
	if err := tx.Get(&meta, "SELECT identity, sends FROM _outbox"); err != nil {
		return nil, err
	}
	if log.identity != meta.Identity || log.total < meta.Sends {
		return nil, fmt.Errorf("%w: %s: run `solarmirror push`, which puts in doubt what may have been sent", errSendLog, log.path)
	}
	return log, nil
}

// renewSends gives outbox and log a new identity. The log keeps the events it has. After a crash
// before the commit the identities differ still.
func (o *Outbox) renewSends(tx *sqlx.Tx) error {
	identity := newIdentity()
	if err := rewriteSendLog(sendLogPath(o.path), identity, unedited); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE _outbox SET identity = ?, sends = 0", identity)
	return err
}

// note adds events to the log. The transaction must change the rows accordingly.
func (o *Outbox) note(tx *sqlx.Tx, events ...send) error {
	if len(events) == 0 {
		return nil
	}
	log, err := o.ownSends(tx)
	if err != nil {
		return err
	}
	if err := log.add(events); err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE _outbox SET sends = ?", log.total)
	return err
}

// events returns what the log must be told of a row that is, or is about to be, in a state: one
// event, or none.
func (l *sendLog) events(row Row, state State) []send {
	last, sent := l.sends[row.IntentID]
	s := send{row.IntentID, taxTag(row.TaxID()), sendFreed}
	if sent {
		s.tag = last.tag // of the number that was sent, whatever the row says now
	}
	told := !sent
	switch state {
	case StateAmbiguous, StateSending:
		s.event, told = sendBegun, sent
	case StateDone:
		s.event, told = sendCreated, last.event == sendCreated
	}
	if told {
		return nil
	}
	return []send{s}
}

// noteOrphans tells the log of a state that holds for the company of a row: sends of it by rows
// that are no longer in the outbox, which nothing else would settle, go there too.
func (o *Outbox) noteOrphans(tx *sqlx.Tx, row Row, state State) error {
	log, err := o.ownSends(tx)
	if err != nil {
		return err
	}
	var events []send
	for _, s := range log.sorted() {
		if s.event != sendBegun || s.tag != taxTag(row.TaxID()) {
			continue
		}
		var hasRow bool
		if err := tx.Get(&hasRow, "SELECT EXISTS (SELECT 1 FROM company_outbox WHERE intent_id = ?)", s.intent); err != nil {
			return err
		}
		if !hasRow {
			events = append(events, log.events(Row{IntentID: s.intent}, state)...)
		}
	}
	return o.note(tx, events...)
}

// sorted returns all intents, created ones first.
func (l *sendLog) sorted() []send {
	return slices.SortedFunc(maps.Values(l.sends), func(a, b send) int {
		return cmp.Or(cmp.Compare(b.event, a.event), cmp.Compare(a.intent, b.intent))
	})
}

// forgetTag removes a tag from the log.
func (o *Outbox) forgetTag(tag string) error {
	log, err := o.anySends()
	if err != nil || log.identity == "" {
		return err
	}
	return rewriteSendLog(log.path, log.identity, func(events string) string {
		return strings.ReplaceAll(events, " "+tag+" ", " - ")
	})
}
