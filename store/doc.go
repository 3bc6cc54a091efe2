// Package store is the mirror's SQLite file: opening and migrating it, writing pages into it, and
// reading back what the commands show. The rooms below it have one subject each:
//
//   - sqlitefile: what every SQLite file of ours shares
//   - identity: CPF, CNPJ and e-mail address, in one way
//   - dealclass: the lists of words that decide the class of a deal
//   - marts: the bi_* tables, computed from the mirror
//   - forget: erasing a person from the mirror
//   - publish: masked and full copies of the mirror, backups
//   - outbox: the queue of companies to create, a file of its own
//
// All of them but sqlitefile, identity and dealclass stand above this package. It tells marts what
// is stale ([Tx.NoteStale]) and gives rooms above it transactions ([Mirror.Update]) and readers.
//
// # One writer, many readers
//
// A [Mirror] opened with [Open] owns the one connection that writes. Writers of one process take
// turns: [Mirror.Begin] waits until the transaction before it has ended. Two processes are kept
// apart by [sqlitefile.AcquireLock], a file lock beside the database which a command takes before it opens the
// mirror; every rule below that says "single writer" rests on it. All reading goes through separate
// read-only connections, so that nothing read can wait for, or be part of, a transaction that is
// still open. The journal is a WAL: readers of any process go on while a page is written, and see
// whole transactions only. Its files stay beside a closed mirror, so that readers need no right to
// write. Litestream may replicate the file: see [Mirror.Close].
//
// # A page
//
// The caller reads a page, hashes its records and asks [Tx.Stored] what the mirror holds under
// their natural keys. Records whose hash is the stored one are done. New ones get a surrogate key
// from [Tx.NewKey]; those and the changed ones go through [Tx.Upsert], which replaces a record
// whole: its root row is upserted (keeping _first_seen_at), of its child rows those are written
// that differ from what is there, and those deleted that are no more. Rows, rejects, drift and
// watermark of a page are one transaction, so a kill at any moment leaves whole pages and a
// watermark that fits them.
//
// A [Tx] that met an error does nothing more: SQLite may already have rolled back by itself, and
// whatever came next would be committed alone. Every later call returns the first error, and Commit
// rolls back.
//
// Contexts are looked at where a transaction begins, never inside it: a page once begun is
// finished, and a context with a Done channel on every statement would cost half the speed.
//
// # Keys and invariants
//
// A record is found by its natural key (root.Unique), and everything that hangs under it refers to
// its surrogate key. A surrogate key never changes while the record exists. Child rows never
// outlive, or come before, their root row's transaction. Foreign keys are declared but not
// enforced.
//
// # Migrations
//
// The tables are those of package schema. [Open] compares them with the file and adds what is
// missing; it removes and rewrites nothing but the data dictionary. A file of a newer model is
// refused, and so is any file that solarmirror did not make. When nothing is missing, opening
// writes nothing. The secondary indices of the record tables come with the end of the first load;
// see [Mirror.MakeIndices].
//
// Where the model documents fields that the file's own data dictionary did not know, their values
// stand in extra. Open cannot tell what they mean, so it notes in _meta what is due, a [Promotion]
// per root, and whoever can brings it to its end, batch by batch. A migration or promotion that
// goes through the records wants half as much free disk as the file has, and is not begun without
// it.
//
// # History
//
// [Tx.Follow] keeps the history tables of package schema in step with the records, two statements
// or three per table and page. Every record has its open intervals at any commit, so following only
// compares; a file from before there was history gets its first intervals in the migration, from
// the _changed_at of each record and inferred, because the next change would otherwise take the
// present values away.
//
// # Speed
//
// Rows reach SQLite through a virtual table that reads Go's memory ([Tx.Upsert], source.go): one
// statement for each table and page, and nothing is bound. Indices that only readers need come
// after a first load. The caller shares transactions between pages. Measured in first loads over
// HTTP, the platform in the same process, two busy cores, CPU per request record of 5 KB and 21
// rows:
//
//   - single-row prepared statements, a transaction per page of 50: 175 µs and 586 allocations
//   - the virtual table in their place: 132 µs and 371 allocations
//   - transactions of a thousand records instead: 195 → 144 µs, side by side on a busier machine
//   - no secondary indices while loading, 60,000 requests: 171 → 131 µs; at 20,000 the gain is
//     smaller, at 500,000 greater
//   - of records that have changed, only rows that differ are written, and only indices that do:
//     re-sync of 10,000 with all changed 252 → 196 µs, with 1 % changed 34 → 31 (medians of five,
//     interleaved); what was there is compared in SQLite, by the statement that writes
//   - of the marts' rows, too, only those that differ are written, which takes a temporary table:
//     after 1 % of 80,000 requests changed, 6.1 and 6.3 → 5.3 and 4.5 µs of CPU per request of the
//     mirror, and a peak of 79 and 76 → 63 and 57 MiB (one pair of runs); at 10,000 there is no
//     gain
//   - opening looks at the tables once and compares the data dictionary in SQLite: a sync of 20
//     records 27 → 20 ms
//   - status of 60,000 requests, which counts them: 83 → 42 ms of CPU with an index of the
//     tombstones; 40 of them are any command's start
//
// To measure writing and looking up alone, without HTTP and JSON:
//
//	go test ./store -run '^$' -bench 'Write|Stored' -benchtime 10x
//
// What does not pay, or has a price:
//
//   - Keeping the short texts of records to use them again (package flatten): 388 → 250 allocations
//     per record, and no less CPU (207 and 212 µs, means of three, interleaved).
//   - Making a copy on a thread with a nice value of 10: publish took 9 and 12 % of a sync at full
//     speed without it, 12, 12 and 13 % with it.
//   - json_each on whole pages instead of rows: 17 times slower than binding (prototype).
//   - A context with a Done channel on each statement: half the speed (prototype).
//   - temp_store(MEMORY) for the connection that makes indices: SQLite then sorts all entries of an
//     index in memory.
//   - A page cache of 16 MB for the writer in place of 8: the driver's allocator gives 8 KB for
//     each page of 4, and a run of 10,000 or 60,000 requests took no less CPU for it but up to 15
//     MB more. Marts of which all rows change take an eighth less with it.
//   - A smaller heap: GOGC=50 and GOMEMLIMIT=64MiB left the peak of a load of 60,000 requests where
//     it was, 130 MB, since that was made by the marts and indices at its end and not by Go; during
//     the load it was 71 to 74 MB, flat.
package store
