// Package marts computes the bi_* tables: what the tables of records say, in the form in which
// questions are asked.
//
// [Refresh] brings them up to date after a run. A deal is an id: of the rows of a budget and an
// order with the same id, both live, the order speaks. Marts hold live deals only, but for
// bi_funnel and bi_status_duration. A seller's address and a company's tax number are written in
// one way. A deal counts as converted once it has been seen as an order, whatever became of it
// since.
//
// # Refreshing
//
// The marts are derived from the tables of records and history, and could be built from nothing at
// any time. Because that takes about as long as the first load did, they are kept in step instead:
//
//   - Whatever changes a record notes its key in _stale, in the same transaction. So a run that is
//     cut off between its last page and the refresh leaves nothing behind that the next refresh
//     would not see. Nothing is noted before the marts were first built.
//   - A refresh is one transaction. Of the marts with one row per deal, line or stay it builds the
//     rows of the deals in _stale, and of the deals of the same id, and writes those that differ;
//     of those that add up, the groups these rows left or joined; then it empties _stale.
//   - A change of the catalogue reaches the lines of its product code, and only if it changed
//     something that lines show.
//   - Open stays and recent sales are counted up to today; the first refresh of a day brings them
//     forward.
//   - Another recipe (program, time zone, power unit) builds everything anew, and so does a change
//     of a quarter of the requests. That is done on a connection of its own that sorts in a file
//     ([store.Mirror.WithSideConnection]): rows first, then their indices, then what adds them up, each from an
//     index that holds all it needs. Looking rows up one by one in another order than they lie in
//     is what costs most where the table is larger than the cache.
//
// A refresh ends with the same rows as building from nothing would, which the tests compare after
// random histories. Sums are rounded to a millionth so that the order of adding does not show.
//
// # Cost
//
// Of 1,000,000 requests, as cmd/benchmark printed it: 71 seconds of CPU from nothing, 9 after 1 %
// of them changed, 91 after all did, and nothing when nothing did. To measure marts alone:
//
//	go test ./store/marts -run '^$' -bench Marts -benchtime 3x -marts-of /path/of/a/mirror.db
package marts
