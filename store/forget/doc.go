// Package forget erases a person from the mirror, the one exception to the rule that nothing is
// deleted: [Person] blanks the rows in one transaction, builds the marts anew, and has the file
// rewritten so that no old copy of a row stays in it or in its WAL.
package forget
