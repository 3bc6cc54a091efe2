// Package forget erases a person from the mirror. This is the one exception to the rule that
// nothing is deleted.
//
// [Person] works in three steps:
//
//  1. One transaction blanks or deletes the person's values, empties the marts and notes in _meta
//     that an erasure is due.
//  2. The marts are rebuilt from the blanked rows.
//  3. The file is rewritten and its WAL emptied, so that no old copy of a row stays on the disk. If
//     this fails, the next [store.Open] tries again.
package forget
