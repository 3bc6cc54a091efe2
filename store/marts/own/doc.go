// Package own builds the marts that analysts declare as files of SQL.
//
// # Model
//
//	a directory -> files -> their order -> one table each
//
// A file NAME.sql with one SELECT over the mirror makes the table my_NAME. [Read] reads the
// directory. A file of another name, or one that cannot be read, is a fault with a cause; the
// others are not stopped by it.
//
// SQLite itself says which tables and columns a statement uses: it is prepared in a scratch
// database in memory that has the mirror's tables without rows. That has no table of an own mart
// until the statement of that mart is known, so a statement that names one waits for it, and those
// that wait for each other are a circle. [Check] is this alone.
//
// # Build
//
// [Refresh] runs after each refresh of the other marts ([solarmirror/store/marts.Refresh]). It
// builds the own marts when those have changed, and one whose file has. Each is built alone: it is
// computed into a temporary file ([store.Mirror.ComputeRows]), written beside its table in short
// transactions, and put in its place in one more, with its row in _own_marts and those in _columns.
// So a reader has the old table or the new one, and other writers do not wait for long. When the
// rows are those of before nothing but the ledger is written. What an interrupted build left is
// removed by the next.
//
// A build that fails keeps the last good table. The error stands in _own_marts, and a refresh does
// not fail for it. The table of a file that is gone is dropped. A directory that cannot be read
// drops nothing.
//
// # Types and masks
//
// SQLite says which column of the mirror a column is taken from, through other own marts as well.
// It has that column's type, unit and mask. An expression has the type that the file declares, or
// that of its rows. It is masked, unless the file says that it is public and the statement reads no
// personal column. Two things SQLite does not tell, and this package is strict about: where SELECTs
// are combined (UNION and the like) it names the origin of one of them only, so every column of
// such a statement counts as an expression; and it does not report the columns of a USING.
package own
