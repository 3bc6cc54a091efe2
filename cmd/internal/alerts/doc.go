// Package alerts tells operators when something is wrong, and when it is well again.
//
// # Model
//
//	how a job ended, how old the streams are -> causes -> incidents -> messages
//
// A [Run] is how a job ended. Its error has one or more causes ([CausesOf]): the platform cannot be
// reached, the token, the disk, damage, the deletion breaker, verify's differences; whatever is
// none of them is a fault of the job itself. A [Look] is how old each stream is, and how many
// records and companies wait for somebody. Whatever fails for one cause is one incident, however
// many jobs fail. An incident is pending until it is worth a message: at the first failure for a
// cause that no time mends, and of a job rarer than daily; else after two failures and 15 minutes.
// It is over when each of its jobs has succeeded since; a job rarer than daily does not hold it
// open once another job has had the platform's answers. A stream that is late is an incident of its
// own, unless the job that moves it fails: then that failure is told.
//
// [State] is this machine. It is pure: it takes runs, looks and the time and gives messages, one
// when an incident begins, one a day while it lasts, one when it is over. New rejects and companies
// in doubt are events: they are told once, at most one message an hour.
//
// [Watcher] is the shell around it. It keeps the state in a small file beside the mirror, which all
// commands share, and sends. Nothing a job does waits for it: runs are noted down, and goroutines
// of its own do the rest. A message stays in the file until each address has it, for three days at
// the most; one process sends at a time. What is left at the end of a process is sent by the next.
// A message may come twice when the answer to its sending was lost.
//
// # What it must not do
//
// No message, log line, error and no state file holds personal data, a token or an address that is
// alerted: addresses hold tokens. A cause is told in our own words; what stands in quotation marks
// is left out, as on the status page.
package alerts
