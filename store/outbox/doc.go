// Package outbox is the queue of companies to create on the platform: a SQLite file apart from the
// mirror, because it holds passwords and SQLite has no row permissions. Its directory is 0700, the
// file and what lies beside it 0600, and opening refuses anything wider. The journal is a rollback
// journal and freed pages are overwritten, so that an erased password is gone from the disk's files
// and not only from the rows.
//
// # States
//
// A row is pending, sending, ambiguous, or finished: done, rejected, cancelled. The tables CHECK
// the states, and triggers the moves between them, whichever program makes them
// (schema.OutboxTriggers lists them; package push draws them). The transaction that finishes a row
// erases its password. Every move counts one up in revision, which is how the mirror's
// company_creations and the outbox compare what they know.
//
// # At most one POST
//
// The send log, a file beside the outbox that no backup contains, decides. A claim writes there
// that the send of an intent, for a tax number, has begun, then commits sending, then the mirror is
// told; only then may the caller dial. What ends the send is written there too: created, or freed
// when the platform has not created the company. An intent that has begun or was created is not
// sent again, and neither is another of the same tax number, unless its row allows duplicates or a
// person's word frees it.
//
// Whatever a backup or another program makes of the rows, Recover puts in doubt each one that says
// otherwise than the log, and all pending ones when the log is missing, incomplete or of another
// outbox. The triggers keep honest programs from mistakes; nothing depends on them.
//
// # The mirror's part
//
// [Creations] is the one corner of the mirror that the outbox writes, without the mirror's lock.
package outbox
