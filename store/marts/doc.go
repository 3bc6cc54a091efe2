// Package marts computes the bi_* tables from the record and history tables.
//
// # Contents
//
// A deal is the budget and the order with one id. One of the two rows represents the deal: the only
// live one, or else the order. A row is live when it is neither removed nor deleted. Package
// dealclass says what became of a deal: open or lost, won or cancelled. Marts contain live deals
// only, except bi_funnel and bi_status_duration, where a deal that is not live is lost or
// cancelled. Seller addresses and company tax numbers are normalized by package identity.
//
//   - Facts have one row per deal, line, stay or price change. Their SQL is in facts.go and uses
//     functions of package store, such as local_date.
//   - Summaries add up facts. Each is one SELECT in summaries/NAME.sql, over facts, the catalogue
//     and _marts.as_of. It uses nothing that a plain sqlite3 shell lacks, so that anybody can run
//     it and see where a number comes from.
//
// To add a summary, declare its table in schema.Summaries and write its file.
//
// The platform does not state the unit of a deal's power. [ReadPower] says how the marts read it.
//
// # Refresh
//
// [Refresh] updates the marts after a run. They could be built from nothing at any time, but that
// takes about as long as the first load. Therefore:
//
//   - Every change of a record writes its key to _stale in the same transaction. So the next
//     refresh finds it even if the run was interrupted before its own. No key is written before the
//     marts are first built.
//   - A refresh first brings the facts of the stale records in step, in batches of some hundred
//     records. It builds the rows of a batch beside the fact and writes those that differ. A
//     change of the catalogue adds the requests whose lines show it. The days of open stays are
//     counted once a day. Between batches it pauses now and then, so that a process that waits for
//     the write lock gets it within a second.
//   - With the rows of a fact it writes a note to _stale that the fact has changed. Then it computes
//     the summaries that read a fact with such a note, each beside its table, without a lock. In one
//     last transaction it writes the rows that differ and removes the notes. So an interrupted
//     refresh goes on with the next, and summaries always agree with one another.
//   - Another recipe (schema, marts edition, time zone, power unit, lists of statuses) builds the
//     facts from nothing in one transaction, and so does a change of a quarter of the requests:
//     first rows, then their indices.
//
// All this runs on a side connection that sorts in a file ([store.Mirror.WithSideConnection]).
//
// A refresh leaves the same rows as a build from nothing; the tests compare the two after random
// histories. Money is rounded to cents and other sums to a millionth, so that the order of addition
// does not matter.
//
// # Cost
//
// To measure it, also at other sizes:
//
//	go test ./store/marts -run '^$' -bench Marts -benchtime 1x -requests 100000
package marts
