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

// sendLog is the file beside the outbox that lists the companies that were sent. It does not change
// when the outbox file is restored, edited or deleted. The first line contains the outbox's
// identity. Every other line is an event: intent, tag, event.
//
// Events are appended inside a write transaction of the outbox, so writers take turns, and are
// synced before the commit. After a crash between the two the log has a begun send that the row
// does not show; Recover makes the row ambiguous.
type sendLog struct {
	path     string
	file     os.FileInfo // after the last read or write; nil for an empty log
	identity string
	size     int64            // of the complete lines, in bytes
	total    int64            // number of events
	sends    map[string]send  // by intent; without freed ones
	untagged map[string]int64 // by intent, the number of begins that version 1 wrote
}

// send is the last event of an intent.
type send struct {
	intent string
	tag    string // of the tax number, see taxTag
	event  string
}

const (
	sendBegun   = "begun"   // the platform may have created the company
	sendCreated = "created" // the platform has created it
	sendFreed   = "freed"   // the platform has not created it
)

const sendLogTitle = "solarmirror sends of outbox "

// errSendLogIncomplete: the log does not list every send of this outbox.
var errSendLogIncomplete = errors.New("the send log is missing, incomplete or of another outbox")

func sendLogPath(outbox string) string { return outbox + ".sends" }

func newIdentity() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// taxTag returns the tag of a tax number in the log: a hash, the same for every spelling; "-"
// without a number. Trying all numbers reverses the hash, so the tag counts as personal data and
// Delete removes it.
func taxTag(taxID string) string {
	plain := identity.PlainTaxID(taxID)
	if plain == "" {
		return "-"
	}
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:16])
}

// readSendLog reads the log. A file that is missing or has another first line gives an empty log
// without identity.
func readSendLog(path string) (*sendLog, error) {
	l := &sendLog{path: path, sends: map[string]send{}, untagged: map[string]int64{}}
	info, err := os.Stat(path) // before reading, so that an event added meanwhile changes the size
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
	// An incomplete last line was never followed by a commit.
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	title, events, _ := strings.Cut(string(whole), "\n")
	identity, ours := strings.CutPrefix(title, sendLogTitle)
	if !ours {
		return l, nil
	}
	l.file, l.identity, l.size = info, identity, int64(len(whole))
	for line := range strings.Lines(events) {
		l.parseLine(strings.TrimSuffix(line, "\n"))
	}
	return l, nil
}

// parseLine adds one event to the log in memory.
func (l *sendLog) parseLine(line string) {
	l.total++
	words := strings.Split(line, " ")
	if len(words) != 3 {
		l.untagged[line]++ // version 1 wrote only the intent, for each begin
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

// add appends events to the file. On error the log is unchanged.
func (l *sendLog) add(events []send) error {
	var text strings.Builder
	for _, s := range events {
		fmt.Fprintf(&text, "%s %s %s\n", s.intent, s.tag, s.event)
	}
	if err := l.write(text.String()); err != nil {
		return fmt.Errorf("write the send log: %w", sqlitefile.ExplainFile(l.path, err))
	}
	for line := range strings.Lines(text.String()) {
		l.parseLine(strings.TrimSuffix(line, "\n"))
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
	if err := f.Truncate(l.size); err != nil { // removes an incomplete line that a power cut left
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

// rewriteSendLog replaces the log atomically by one with this identity and the edited events.
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

func keepEvents(events string) string { return events }

// loadSendLog returns the log without comparing its identity with the outbox's. It reads the file
// only when it has changed.
func (o *Outbox) loadSendLog() (*sendLog, error) {
	info, err := os.Stat(sendLogPath(o.path))
	if known := o.sendLog; err == nil && known != nil && known.file != nil && os.SameFile(info, known.file) &&
		info.Size() == known.file.Size() && info.ModTime().Equal(known.file.ModTime()) {
		return known, nil
	}
	o.sendLog, err = readSendLog(sendLogPath(o.path))
	return o.sendLog, err
}

// verifiedSendLog returns the log of this outbox; [errSendLogIncomplete] when the log does not list
// every send of this outbox.
func (o *Outbox) verifiedSendLog(tx *sqlx.Tx) (*sendLog, error) {
	log, err := o.loadSendLog()
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
		return nil, fmt.Errorf("%w: %s: run `solarmirror push`, which puts in doubt what may have been sent", errSendLogIncomplete, log.path)
	}
	return log, nil
}

// renewIdentity gives outbox and log a new identity. The log keeps its events. After a crash before
// the commit the identities still differ, and the next Recover renews them again.
func (o *Outbox) renewIdentity(tx *sqlx.Tx) error {
	identity := newIdentity()
	if err := rewriteSendLog(sendLogPath(o.path), identity, keepEvents); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE _outbox SET identity = ?, sends = 0", identity)
	return err
}

// logEvents adds events to the log. The same transaction must change the rows accordingly.
func (o *Outbox) logEvents(tx *sqlx.Tx, events ...send) error {
	if len(events) == 0 {
		return nil
	}
	log, err := o.verifiedSendLog(tx)
	if err != nil {
		return err
	}
	if err := log.add(events); err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE _outbox SET sends = ?", log.total)
	return err
}

// eventsFor returns the event that the log lacks for a row in a state; none when they agree
// already.
func (l *sendLog) eventsFor(row Row, state State) []send {
	last, sent := l.sends[row.IntentID]
	s := send{row.IntentID, taxTag(row.TaxID()), sendFreed}
	if sent {
		s.tag = last.tag // the number that was sent, even if the row has another now
	}
	logged := !sent
	switch state {
	case StateAmbiguous, StateSending:
		s.event, logged = sendBegun, sent
	case StateDone:
		s.event, logged = sendCreated, last.event == sendCreated
	}
	if logged {
		return nil
	}
	return []send{s}
}

// logOrphans logs a state for the begun sends of a row's company by rows that are no longer in the
// outbox. Otherwise these sends would stay begun forever.
func (o *Outbox) logOrphans(tx *sqlx.Tx, row Row, state State) error {
	log, err := o.verifiedSendLog(tx)
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
			events = append(events, log.eventsFor(Row{IntentID: s.intent}, state)...)
		}
	}
	return o.logEvents(tx, events...)
}

// sorted returns the sends, created ones first.
func (l *sendLog) sorted() []send {
	return slices.SortedFunc(maps.Values(l.sends), func(a, b send) int {
		return cmp.Or(cmp.Compare(b.event, a.event), cmp.Compare(a.intent, b.intent))
	})
}

// removeTag replaces a tag by "-" in every event.
func (o *Outbox) removeTag(tag string) error {
	log, err := o.loadSendLog()
	if err != nil || log.identity == "" {
		return err
	}
	return rewriteSendLog(log.path, log.identity, func(events string) string {
		return strings.ReplaceAll(events, " "+tag+" ", " - ")
	})
}
