// Package publish copies the databases. [Copy] makes the copy for readers, masked unless told
// otherwise. [Backup] copies mirror and outbox whole, and [Restore] puts those copies back.
//
// # Concurrency
//
// Copy and Backup do not take the mirror's lock or delay a writer. Each reads one snapshot of the WAL. SQLite
// cannot empty the WAL past that snapshot until the copy is done, so the WAL grows by the writes
// in between.
//
// # Replacing a copy
//
// A copy is built in a file beside its final path, checked for integrity, synced and renamed. It
// has a rollback journal, so it can be opened from a read-only mount. A reader that has the
// previous copy open keeps reading it: the kernel keeps that file until it is closed.
//
// # Restoring
//
// A restore takes all locks and works in steps. It copies the backup beside each database and
// checks the copies. It takes each database for itself alone, out of WAL mode, so that no old -wal
// is left for the new file, and gives it a second name, under which it stays. A journal beside the
// mirror says from then on that the copies are to be placed, by a rename each. Before that moment
// an interrupted restore is undone, after it finished, by [FinishRestore].
//
// # Masking
//
// A masked copy is a new file, because a copy with values removed might keep traces in free pages.
// Its rows are computed from those of the mirror by [Masking]. Of 100,000 requests, a mirror of 390
// MB, the masked copy takes 7 seconds on two cores with 65 MB of memory, and has 274 MB; a full
// copy takes 3 seconds. To measure:
//
//	go test ./store/publish -run '^$' -bench Publish -benchtime 1x -published /path/of/a/mirror.db
package publish
