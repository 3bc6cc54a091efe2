// Package sqlitefile holds the code that the mirror, the outbox and their copies share as files:
// the DSN, errors with a remedy, the file lock, file modes and sizes, integrity checks, key files
// and the text form of a time.
//
// # Errors
//
// [Explain] wraps a driver error in one of [ErrCorrupt], [ErrDiskFull], [ErrBusy], [ErrIO],
// [ErrNoAccess], [ErrNotMirror], with the path and the next command to type. [ExplainFile] does the
// same for errors of the operating system. Explain returns an explained error unchanged, so every
// layer may call it.
//
// # Lock
//
// [AcquireLock] takes an exclusive file lock. The kernel releases it when the process exits, even
// after kill -9. Waiting processes form a queue, which is a second file lock.
//
// # Modes
//
// [CreateFile] and [MakeDir] give the mode that is asked for, whatever the umask. SQLite gives a
// -wal and a -shm the mode of the database.
//
// # Times
//
// Files store times as text, formatted by [FormatTime]. The driver must never be given a
// time.Time.
package sqlitefile
