// Package marts computes the bi_* tables from the record and history tables.
//
// # Contents
//
// A deal is the budget and the order with one id. One of the two rows represents the deal: the only
// live one, or else the order. Marts contain live deals only, except bi_funnel and
// bi_status_duration. A deal counts as converted once the mirror has seen its order, even if
// the order was removed since. Seller addresses and company tax numbers are normalized by package
// identity.
//
// # Refresh
//
// [Refresh] updates the marts after a run. The marts could be built from nothing at any time, but
// that takes about as long as the first load. Therefore:
//
//   - Every change of a record writes its key to _stale in the same transaction. So the next
//     refresh finds it even if the run was interrupted before its own. No key is written before the
//     marts are first built.
//   - A refresh is one transaction. In marts with one row per deal, line or stay it builds the rows
//     of the requests in _stale and of the other row of each deal, and writes those that differ. In
//     marts of sums it recomputes the groups that these rows left or joined. Then it empties
//     _stale.
//   - A change of the catalogue updates the lines of its product code, and only if it changes a
//     column that lines show.
//   - Open stays and recent sales count up to today; the first refresh of a day updates them.
//   - Another recipe (schema, marts edition, time zone, power unit) builds everything from nothing,
//     and so does a change of a quarter of the requests. This runs on a side connection that sorts
//     in a file ([store.Mirror.WithSideConnection]): first rows, then their indices, then sums,
//     each from a covering index. Random lookups dominate once the table outgrows the page cache.
//
// A refresh leaves the same rows as a build from nothing; the tests compare the two after random
// histories. Sums are rounded to a millionth, so that the order of addition does not matter.
//
// # Cost
//
// Of 1,000,000 requests, as cmd/benchmark printed it: 71 seconds of CPU from nothing, 9 after 1 %
// of them changed, 91 after all did, and none after no change. To measure marts alone:
//
//	go test ./store/marts -run '^$' -bench Marts -benchtime 3x -marts-of /path/of/a/mirror.db
package marts
