// Package outbox is the queue of companies to create on the platform. It is a SQLite file apart
// from the mirror, because it holds passwords and SQLite has no row permissions. Its directory has
// mode 0700, the file and its side files 0600, and opening refuses wider modes. It has a rollback
// journal and overwrites freed pages, so that no file keeps a copy of an erased password.
//
// # States
//
// A row is pending, sending, ambiguous, or final: done, rejected or cancelled. Ambiguous ("in
// doubt" in messages) means that the platform may or may not have created the company. CHECKs
// restrict the states and triggers the moves between them, for every program that writes to the
// file (schema.OutboxTriggers lists the moves; package push draws them). The transaction that moves
// a row to a final state erases its password. Every move increments revision, by which the outbox
// and the mirror's company_creations are compared.
//
// # At most one POST
//
// The send log, a file beside the outbox, decides whether a company may be sent. [Outbox.Claim]
// writes to it that the send of an intent, for a tax number, has begun, and then commits the state
// sending. The caller then records the row in the mirror, and only then connects to the platform.
// The end of the send is logged too: created, or freed when the platform has not created the
// company. An intent that has begun or was created is not sent again. Neither is another intent
// with the same tax number, unless its row allows duplicates or a user resolves the earlier send.
//
// No backup contains the send log: a log restored with its outbox would not know the sends since,
// and those companies could be sent twice. Rows may be restored from a backup or changed by another
// program. [Outbox.Recover] makes each row ambiguous that contradicts the log, and all pending rows
// when the log is missing, incomplete or of another outbox. The triggers only protect other
// programs from mistakes; no guarantee depends on them.
//
// # The mirror
//
// [Creations] writes company_creations and the runs of pushes into the mirror, without the mirror's
// lock.
package outbox
