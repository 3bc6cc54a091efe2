// Package push creates on the platform the companies that wait in the outbox, each at most once.
//
// # Model
//
// A row of the outbox is the intent to create one company; outbox.Outbox keeps it. A [Pusher] takes
// what is due, one row and one POST at a time, since a batch would put all its companies in doubt
// together:
//
//	validate ─▶ claim: duplicate? ─▶ send log ─▶ commit ─▶ tell the mirror ─▶ POST ─▶ settle ─▶ tell the mirror
//	    └── rejected ──┘             └────── on disk before dialling ──────┘
//
// What the answer means is platform.CreateCompany's to say; its outcomes are the states rows go to:
// done, rejected, ambiguous, and pending for what was provably not sent (unsent, throttled,
// unauthorized). A row goes back to pending with its next time in the row, one minute at first and
// doubling to six hours, or as late as the platform asks. A refused token ends the run, and so do
// three companies in a row that came to nothing clear: an outage shall not put the whole queue in
// doubt.
//
// # States
//
//	INSERT ────▶ pending ──claim──▶ sending ──▶ done        the platform created it
//	                                        ├─▶ rejected    the platform refused it
//	                                        ├─▶ ambiguous   no clear answer, or cut off
//	                                        └─▶ pending     unsent, throttled, token refused
//	pending ───▶ rejected (invalid, duplicate), cancelled (by a person)
//	ambiguous ─▶ done (by evidence or a person), pending (by a person)
//	rejected ──▶ pending (corrected by a person)
//	any ───────▶ ambiguous (the send log or the mirror says otherwise than the row)
//
// # Duplicates
//
// A company with the CPF, CNPJ or e-mail of one that waits, is in doubt or was created is rejected,
// unless its row has allow_duplicate. The rejection names the other row. A tax number counts in any
// spelling, and for as long as the send log knows it: also when the other row was purged, or
// deleted or changed by another program. Where that row was in doubt and is gone, the new one is
// put in doubt in its place. Rejected and cancelled companies were not created and do not count.
//
// # Doubt
//
// An ambiguous row is never sent again by the program. It leaves by a person's word or by evidence:
// its tax number in a mirrored request created since it was claimed, and in none the mirror first
// saw before. Before anything is sent, every run puts in doubt what it finds half done: rows a
// cut-off run was sending, and rows of an outbox that was put back from a backup or changed by
// another program, found out by the send log and by the mirror's company_creations, either of which
// may know more than the file.
//
// # The mirror
//
// company_creations follows every move, after the outbox; a claim is told before the POST, so that
// it can speak up for an outbox put back later. The mirror's lock is not taken (see
// outbox.Creations): a push waits for a page's commit at most, never for a sync. A mirror that does
// not exist yet is done without, and told everything by the first run that finds it. One that
// exists and cannot be read or written stops the push before anything is sent.
//
// # Secrets
//
// Passwords are read for one POST each and held in types that print as a mask. Faults and errors
// name fields and never values; the platform's words are quoted without anything that was sent to
// it.
//
// # Proof
//
// The promise "at most one POST per intent" at full size, 500 kills of a push of 50 companies under
// every fault of the platform:
//
//	go test ./sync/push -run TestKilledPush -kills 500 -companies 50 -timeout 2h
//
// And while another program changes the outbox file, between pushes and during POSTs:
//
//	go test ./sync/push -run TestOtherPrograms -programs 300 -timeout 2h
package push
