// Package schedule runs jobs at the times their cron specs name, for as long as its context lasts.
//
// # Model
//
// A [Job] has a [Spec], which says when it is due in the worker's zone, and a line. Jobs of one
// line never run at the same time, since they share something that one may have at a time (a file);
// lines are independent of each other. A due job joins the end of its line and runs when it is its
// turn:
//
//	idle ──due──▶ waiting ──its turn──▶ running ──▶ idle
//	                 └──── due again: skipped ────┘
//
// So a job is due once at the most: a run that takes longer than its interval is followed by the
// next firing, not by all that passed meanwhile, and a short job behind a long one runs once after
// it. Jobs due at the same moment join in the order in which they are listed.
//
// # Promises
//
//   - A job that panics, or ends its goroutine, is a run that ended so; the worker and the job's
//     next runs go on.
//   - A run missed while the process was down happens at start, once, if the caller says when the
//     job last started (Job.Last).
//   - When the context ends, the running jobs see it end too, those waiting are dropped, and
//     [Worker.Run] returns when the last has returned.
//   - A clock that jumps forward (a suspended machine) makes each missed job due once; one that is
//     set back starts no job early and delays none.
//
// # Why not cron's own runner
//
// The parser and the arithmetic of times are github.com/robfig/cron/v3's. Its runner is not used:
// it takes no clock, so that a week could not be simulated; it knows nothing of runs missed or of
// jobs that share something; its chain of skip and recover wedges a job for ever when put in the
// other order. Two of its parser's traps are closed here: a zone in the spec (TZ= without a space
// panics) is refused, since the worker has one zone, and so is a spec that never fires, of which
// cron says nothing.
package schedule
