// Package pull reads the platform into the mirror.
//
// # Model
//
// A [Stream] is one list of the platform and the root table its records go to, as package schema
// declares them ([schema.Streams]). Requests are scanned in two passes, because the platform lists
// removed ones apart: live, without the removed parameter, and removed, with removed=true.
// Equipment has the live pass only.
//
// A pass is a scan: an iterator of slices, each of which is written whole together with whatever must be true of it. Slices share a
// transaction of about a thousand records for as long as the next is there within 20 ms; it is committed before the scan waits longer,
// when the scan ends or fails, and when the run is to stop. When the scan has ended cleanly, and only then, one more transaction moves the pass's watermark. So a killed run has
// either written a slice whole or not at all, and never claims to be complete up to a moment it is not. Streams are read at the
// same time and share the client's limits; one that fails does not stop the others.
//
// The work on one stream in a run goes one way, and each step has its file: pass.go tells it.
//
//	watermark.go  from when on each pass is read, or whole
//	meet.go       how the platform lists the stream; dialect.go remembers it
//	read.go       a reading: the scan of a pass; batch.go and page.go write what it yields
//	finish.go     whether the totals agree, then window and watermark
//	sweep.go      what a whole reading of all passes did not find
//
// # Lists that move while they are read
//
// Package scan reads them, and says what it promises. When a pass found fewer rows than the platform
// counts, up to an end that was proved, the passes of the stream are judged together: the total is not
// the list's own where it is what all passes hold together; it is overruled by a few rows, which the
// window and the watermark then say; anything else fails and holds the watermark.
//
// # Dialects
//
// How pages are numbered, the greatest limit, and of each stream whether dates are looked at, whether
// totals are its own, how an empty list is refused, and which page sizes are honoured: the engine asks,
// remembers the answers as a [Dialect] in _meta, and asks again before each whole reading. When a
// scan fails in a way that an outdated dialect would explain, it asks again, once.
//
// # Windows, sweeps, tombstones
//
// What is read whole, the first sync, a full one and each stretch of a backfill, is a window in the ledger. It keeps the cursor and a
// bitmap of the surrogate keys that were read, so that an interrupted window goes on where it stopped, at most twenty slices back. When all passes
// of a stream were read whole in one run, that was a sweep: what is in the mirror and in no bitmap is missing. Missing from two sweeps in a row, a record gets a
// tombstone (_deleted_at); never by a sweep that saw nothing, and never more than a twentieth (or twenty) at once, unless told to. Where tombstones are not
// kept for ever, each sweep deletes those that are old enough.
//
// # Watermark
//
// The watermark is a date in the platform's zone, because the platform filters by date. A run asks for what was updated on or
// after the watermark less overlap_days, with no upper bound; the watermark then becomes the local date at the start of the scan, by the
// server's clock or by ours, whichever is earlier. It is never taken from a field of a record. A record updated during the scan is
// found by the next run, whose filter starts before this scan did.
//
// Equipment cannot be asked for updates. An incremental sync asks for items created since; a full one reads everything and alone
// catches prices, stock and disappearances. Therefore complete_through of equipments moves with full scans only, its watermark
// with both.
//
// # Writing a page
//
// Every record's key and raw hash are computed where the page is fetched, one query fetches what the mirror holds under those keys, and only
// what differs is decoded and flattened, on all processors. Content that is the same written differently (order of keys, white space) updates the stored raw hash and
// nothing else. A page older than the content it would replace does not replace it. What cannot be keyed goes to _rejects and
// the rest of the page is loaded. In the same transaction the history tables follow what changed of the columns they track.
//
// # Verify and repair
//
// [Engine.Verify] flattens every record the platform lists and compares the result with the rows
// in the mirror, page by page, with one query per table. A record is "edited" where the stored
// hash is the platform's and a row, a value or a type is not what it flattens to. The reverse,
// rebuilding the record from its rows and comparing hashes, does not work: rows do not tell null
// from absent, 1 from 1.0 or one way of writing a time from another, so the hash would differ for
// rows that nobody touched; and it would not name the table. A row whose root row is gone belongs
// to no record: an orphan, named by its surrogate key.
//
// A difference is pending while something is expected to settle it (explain.go). A record that the
// mirror lacks or holds with other content is pending if the platform lists it under the filter of
// the next sync, asked after the comparison: of any stream with the same root, because a budget
// may have become an order meanwhile. Equipment has no such filter and waits for the next full
// read. A record that the platform lacks waits until two sweeps in a row have missed it. Everything
// else is unexplained, and so is what the verification before found in the same way: the same key
// and kind, the same stored hash, as many sweeps, and no change by a sync in between. Extra
// records are found again until the sweeps come, so verifications should not be more frequent than
// full reads. A budget that became an order is the exception: it stays pending until two sweeps,
// as long as the mirror holds the order or the platform lists it under the filter. _findings keeps the last
// verification of each stream, and is written beside the mirror's lock, when all streams are done.
// A record that changes and is deleted for good while a verification runs is in no list by the time
// it is asked for, and counts as unexplained.
//
// [Options].Repair adds the same comparison to a full sync. An edited record is written anew with
// its stored _changed_at and without a look at its history: the platform changed nothing. Orphans
// are deleted before the streams are read. Marts are built from nothing, since what SQL did left
// no note of which rows are stale. An interrupted window is read from its start.
//
// Neither looks at history, ledger and marts, at the bookkeeping columns of root rows, at the
// rows of tombstones and of records the platform does not list, or at the rows of an erased record
// (_erased_at) whose content the platform has not changed: nothing says what they should be.
//
// Of 100,000 requests verify takes 0.23 ms of CPU for each and 56 MB (0.07 ms and 60 MB when it
// compared hashes alone); 91 MB where each of them was edited.
//
// # Speed
//
// While a slice is looked at and written, the next ones are fetched: InFlight at one time, and where the list's length is known four times as many
// ahead, but no more than 600 rows, so that the others go on while one request is tried again. Against 5 requests a second, answers after 200 ms
// and every 40th a 503, a first load makes use of 99 % of the allowed rate. package store says what makes writing fast.
//
//   - What has changed waits until a transaction's end, so that a statement writes the rows of many pages; bodies are read into memory that was
//     used before; a sweep reads keys from an index. Re-sync with nothing changed: 60 → 33 and 54 µs of CPU per record (two pairs of runs,
//     interleaved, on a machine shared with many), 8.5 → 1.8 KB of new memory.
//   - A wait of less than 20 ms is not worth a commit: with 1 % of 10,000 changed there were 68 commits, each of which writes to all tables.
//     32 → 30 µs (medians of five, twice, interleaved).
//   - Finding where records end takes most where nothing has changed. With strings passed over in one function: 20.3 → 18.6 µs at 20,000 (means of
//     four, interleaved). Looking at 16 bytes in place of eight at a time gave half of that back. Two tests for what ends a string's plain part in place of
//     three, and numbers in that function's manner: 265 → 208 µs for a page of 50.
//   - Fewer commits where little has changed, up to a hundred slices in each, made no difference: what costs is the pages that a change is written to.
//   - Keys and hashes are found where the page is fetched, and new records are flattened on all processors. That is no less work: the best of six
//     first loads of 10,000 took 138 → 124 µs of wall time on two cores, and 145 µs of CPU before and after.
//   - Look-ahead is bounded by rows, not pages: with pages of 500 a first load of 30,000 took 168 MiB and 190 µs, now 123 MiB and 139 µs. With that, 8 MB
//     less page cache and buffers of the size of a page, a first load of 300,000 peaks at 72 MiB with pages of 50 and at 107 with pages of 500, and a
//     re-sync with 1 % changed at 94 and 118, which is in the marts.
//
// All together, with others at work on the machine, medians of seven, interleaved, µs of CPU per record of 10,000: first load 145 before and after,
// re-sync with nothing changed 24 → 22, with 1 % 32 → 26, with all 229 → 180. At 60,000 it is 142, 17 and 21. So where 1 % has changed, a changed
// record costs some 0.4 ms, nearly three times what a new one does: the pages of all its tables are read to compare its rows, and the statements
// of a transaction are about ten records.
//
// The benchmarks, Scan, FirstLoad, Resync and Throttled, read over real HTTP, and count this process alone. The stages have their own: the scanner
// of pages in package platform, hashes, keys and flattening in package flatten, writing and looking up in package store, marts in package marts.
//
//	go test ./sync/pull -run '^$' -bench . -benchtime 2x
//	go test ./sync/platform ./sync/flatten ./store ./store/marts -run '^$' -bench .
//
// # After a run
//
// When the run stands in the ledger the marts are brought up to date ([marts.Refresh]); an interrupted run leaves that to the next. They are
// never part of a page's transaction.
//
// # Without the platform
//
// [Replay] sends rejects through the same page writer again, each as a page of one record read when it was first met. [Promote] does what
// an upgrade left to do: fields that were unknown when they were read, and have a column now, are moved there out of extra, by
// rebuilding the records from their rows, and marts that the upgrade emptied are built. Promotion is no change of a record: it touches
// neither _changed_at nor _hash nor history.
//
// # Proofs
//
// Each of these prints its figures with -v; the flags make a small test the full run. Under each: what it printed when it was last run whole.
//
//	go test ./sync/pull -v -timeout 0 -run TestScanOfMovingPlatform -seeds 1000
//	    the engine against a platform that changes between every two requests, 5 orders x 1,000 platforms, light and heavy churn, with and without
//	    totals: 19,943 clean passes, 35 given up and said so, no record lost
//	go test ./sync/pull -v -timeout 0 -run 'Untrustworthy|Shaky|IgnoredFilters' -seeds 1000
//	    random order, repeated pages, page numbers and filters that are ignored: UNSTABLE
//	go test ./sync/pull -v -timeout 0 -run 'TestDialects$' -seeds 1000
//	    36 dialects x 5 seeds, drifted records: every mirror equal to the platform, field by field
//	go test ./sync/pull -v -timeout 0 -run 'TestTransientFaults|TestFaultsAtARequest' -seeds 1000
//	    14 passing faults at a rate of 0.3, 1,135 of them: every mirror equal; 9 others ridden out or failed loudly, watermarks held
//	go test ./sync/pull -v -timeout 0 -run Sweep -seeds 1000
//	    2,000 faulty sweeps, 1,975 of which ended cleanly: no false tombstone
//	go test ./sync/pull -v -timeout 0 -run Kill -kills 500
//	    kill -9 of real processes, 491 of 500 first syncs and 491 of 500 backfills struck before their end: every mirror identical to an
//	    undisturbed one
//	go test ./sync/pull -v -timeout 0 -run TestPromotionOfLargeMirror -promoted 210000
//	    an upgrade of a mirror of 1,060 MB, stopped 11 times on the way: the same as one that was read by the newer program
//	go test ./sync/pull -v -timeout 0 -run RepairOfRandomEdits -seeds 120
//	    60 mirrors x 4 rounds of random SQL: verify names the touched records and no other, a repair
//	    puts them back, history and _changed_at stay, and verify then finds nothing
//	go test ./sync/pull -v -timeout 0 -run MartsKeepInStep -seeds 250
//	    marts kept in step are those built from nothing
//	go test ./sync/pull -v -timeout 0 -run MartsReconcile -requests 20000
//	    3 seeds: sums and counts of every mart are those of the tables of records, to the cent
package pull
