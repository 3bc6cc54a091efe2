// Package outboxcmd does the work of the commands "solarmirror outbox …" that is not flags: it
// reads companies from a file or asks for one at a terminal, queues the valid ones, checks
// corrections, and prints rows.
//
// Package store holds the outbox and its rules; package push validates companies and sends them.
package outboxcmd
