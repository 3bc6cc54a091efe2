// Package pullreport prints the results of package pull as tables or JSON: the counts of a run per
// stream, the repairs of "sync --full --repair", and the differences that a verification found.
// [Discrepancy] turns a verification into the error that decides the exit code.
package pullreport
