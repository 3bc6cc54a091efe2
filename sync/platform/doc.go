// Package platform is the client of the sales platform's interface: it brings one page of one collection at a time,
// and says exactly why when it cannot.
//
// # Model
//
// A [Resource] is a listable collection. [Client.List] asks for one page of it, filtered by a [Filter], and returns a
// [Page]: the raw JSON text of every record in the order the platform sent them, with the little that is known about
// the answer. Records are neither decoded nor judged here. The text is known to be JSON, and nothing more: duplicate
// keys, invalid UTF-8 and lone surrogates are one record's own fault, which the caller rejects one by one, while a
// syntax error is the fault of the whole answer and makes the client ask again.
//
// # Life of a request
//
// Every attempt passes the same gates, shared by all calls on a client: a place among MaxInFlight, the rate limiter,
// and the hold that a Retry-After puts on the whole client, whichever stream received it. One deadline then covers
// the attempt from connecting to the last byte of the body. Transient failures (429, 408, 5xx, connections lost or
// refused, time-outs, bodies that are cut, too long, HTML, null or not JSON, and 200 with "error" set) are repeated
// with growing, jittered waits. Everything else is final at once. Redirects are never followed: the token must not
// travel to wherever an answer points.
//
// # Failures
//
// Each way to fail is a type, found with errors.As: [AuthError], [StatusError], [RefusedError], [BodyError],
// [EnvelopeError], [RetryAfterError] and [TransportError]. Each carries the [Request] it belongs to. When the caller's
// context ends, its error comes back wrapped, and none of these types. No error and no log line holds the token or a
// body; where the platform's own words are quoted they are shortened, and the token is cut out of them.
//
// # Creating a company
//
// [Client.CreateCompany] is the one call that writes, and none of the above holds for it: it is sent once, over a connection of its own, and
// never repeated. What comes of it is a value and not an error, an [Outcome]: only what was provably not sent, or clearly refused,
// may be sent again, and everything unclear is in doubt.
//
// # Invariants
//
//   - A Page is returned only for a complete, syntactically valid answer in a known envelope.
//   - An element is never lost or split: boundaries come from a scanner that reads every byte of the body.
//   - The token is read before dialling, kept between calls, and read again once per call after a 401.
//
// A Client is safe for use by several goroutines. Close it when done.
package platform
