// Package outboxcmd implements the commands "solarmirror outbox …" except for their flags. It reads
// companies from a file or asks for one on a terminal, queues the valid ones, checks the correction
// of a rejected row, and prints rows.
//
// Package outbox stores the rows and enforces their states and the rule against duplicates. Package
// push validates companies and sends them.
package outboxcmd
