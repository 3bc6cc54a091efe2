package store

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// privateFile makes sure that path and its directory exist and are private. SQLite gives its journal the mode of the file.
func privateFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the directory of the outbox: %w", explainFile(dir, err))
	}
	for _, name := range []string{dir, path, path + "-journal", sendLogPath(path)} {
		if err := CheckPrivate(name); err != nil {
			return err
		}
	}
	// EXCL: an existing file must never be opened here, since closing it would drop SQLite's locks on it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create the outbox: %w", explainFile(path, err))
	}
	return f.Close()
}

// sendLog is the record, beside the outbox, of every intent that was about to be sent: a line with the outbox's identity,
// then one line per send. Lines are synced before anything is sent, and never removed.
type sendLog struct {
	file   *os.File
	size   int64            // of the whole lines
	torn   bool             // something may stand after them
	counts map[string]int64 // sends by intent
	total  int64
}

func sendLogPath(outbox string) string { return outbox + ".sends" }

const sendLogTitle = "solarmirror sends of outbox "

func newIdentity() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// createSendLog puts an empty log in the place of any that was there, whole or not at all.
func createSendLog(path, identity string) error {
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("create the send log: %w", explainFile(path, err))
	}
	_, err = f.WriteString(sendLogTitle + identity + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("create the send log: %w", explainFile(path, err))
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("create the send log: %w", explainFile(path, err))
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// openSendLog reads the log of the outbox with this identity. found is false when there is none, or one of another outbox.
func openSendLog(path, identity string) (log *sendLog, found bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the send log: %w", explainFile(path, err))
	}
	// A line without its end was cut off while it was written, so nothing was sent after it.
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	lines := bufio.NewScanner(bytes.NewReader(whole))
	if !lines.Scan() || strings.TrimSpace(lines.Text()) != sendLogTitle+identity {
		return nil, false, nil
	}
	log = &sendLog{size: int64(len(whole)), torn: len(whole) < len(text), counts: map[string]int64{}}
	for lines.Scan() {
		log.counts[lines.Text()]++
		log.total++
	}
	log.file, err = os.OpenFile(path, os.O_WRONLY, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("open the send log: %w", explainFile(path, err))
	}
	return log, true, nil
}

// add writes an intent down for good. After a failure the log is as before.
func (l *sendLog) add(intent string) error {
	if err := l.write(intent + "\n"); err != nil {
		l.torn = true
		return fmt.Errorf("write the send log: %w", explainFile(l.file.Name(), err))
	}
	l.counts[intent]++
	l.total++
	return nil
}

func (l *sendLog) write(line string) error {
	if l.torn {
		if err := l.file.Truncate(l.size); err != nil {
			return err
		}
		l.torn = false
	}
	if _, err := l.file.WriteAt([]byte(line), l.size); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.size += int64(len(line))
	return nil
}

func (l *sendLog) close() error { return l.file.Close() }
