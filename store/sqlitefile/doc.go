// Package sqlitefile is what every SQLite file of ours shares, whatever is in it: how it is named
// to the driver, how the driver's errors become errors with a remedy, the lock beside it, its
// private mode, its size and the free disk around it, key files, and how a time is written.
//
// # Errors
//
// [Explain] wraps an error of the driver in one of [ErrCorrupt], [ErrDiskFull], [ErrBusy], [ErrIO],
// [ErrNoAccess], [ErrNotMirror], with the path and the next command to type. [ExplainFile] does the
// same for errors of the operating system. Both leave an explained error as it is, so that every
// layer may call them.
//
// # Lock
//
// [AcquireLock] takes an exclusive file lock. The kernel releases it when the process exits, even
// after kill -9. Those who wait form a queue, which is a second lock.
//
// # Times
//
// A file stores text, formatted by [FormatTime]. The driver must never be given a time.Time.
package sqlitefile
