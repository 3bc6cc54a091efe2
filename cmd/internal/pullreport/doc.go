// Package pullreport prints the results of package pull, as tables or JSON: what a sync did with
// each stream, and how the mirror compares with the platform.
package pullreport
