// Package scan reads one list of the platform page by page while the list changes.
//
// # Model
//
// A pass reads the list whole. It is an iterator of slices: each is one answer, less the records
// that the pass had met before in the same form. A pass ends cleanly only when it can be shown that
// no row was missed that stood still while it was read. Else it ends with an error, and whoever
// reads keeps the watermark.
//
// What a platform says about its pages is not believed. A row's place is known from the rows around
// it, which were read before; the end of the list, from pages behind it that hold nothing new; the
// honoured page sizes, from parts of the first page asked for again; the total is only ever a
// reason to read once more.
//
// # Anchored slices
//
// Where any page size is honoured, a page number and a limit stand for a span of the list. After a
// cursor, nextSpan chooses the limit whose span starts three rows before it and ends furthest. A
// slice is accepted if its first row was read before and is unchanged, and if more than half of the
// rows that followed it then follow it now: no row that did not itself move can stand between.
// Otherwise the scan steps back, twice as far each time in a row. Two short slices that end with
// the same row, exactly where their page and limit put them, are the end; or three full ones that
// stand before where they were asked, since some platforms fill their last page with earlier rows.
// Short slices that each end elsewhere, as in a list that grows, are the end only if half the limit
// shows no further row that stands still. Then the head is read again until a slice is all known.
//
// # Pages of one size
//
// Where only one size can be relied on, pages are read forward until two in a row bring nothing
// new, and then backward. Between two pages, in the seam, a row may be missed: it may have passed
// from one to the other between their answers. A seam is closed by an answer that holds rows of
// both sides, in order. Lists that move close their seams so, since pages are cut elsewhere each
// time. Where nothing moved, seams are closed by that: everything up to the seam was the same in
// the second reading, which asks by other addresses where it can, as answers may come from a cache.
// Seams that stay open are read again, then the whole list, eight times at most. Findings.Promise
// says when a pass rests on sameness.
//
// # Answers that cannot be so
//
// A round in which one of these was seen proves nothing, and the list is read again: nothing where
// rows had been listed; pages behind the last row of which some are empty and some repeat it; the
// first page for a later one that holds more; in a whole reading, rows that stand still on the page
// right behind the end. A page with fewer rows than others, with rows behind it, fails the pass.
//
// # Totals
//
// A total that is higher than what was found has the list read again, until two rounds found the
// same rows or four were in order, and then the end is proved once more. Findings hands both
// numbers on; only all passes of a stream together show whether such a total is the list's own.
//
// # Which servers, and what is promised
//
//	sizes   any up to a cap                    anchored; no row lost
//	        some, the others rounded           pages of one size; no row lost, or a promise
//	        some, the others refused           the same; limits nobody uses are not found
//	        one, whatever is asked             the same
//	        the limit capped, offsets not      the size received is asked for
//	numbers from 0, from 1, 0 answered as 1    found by Meet
//	ends    empty, 404, 400, 422, an error,    read exactly
//	        the last page again, filled up
//	totals  right, absent, low                 exact
//	        high by a few, by far              read exactly; judged by the reader
//	        of the page, cached, lagging       exact
//	order   any that is stable                 exact
//	        random, ties at random             noticed where rows change places or the total disagrees
//	caches  pages by address                   no row lost, unless there is one address only
//	lags    replicas that differ               no row lost that is older than the lag
//	faults  a page answered with another       no row lost in what was drawn
//	        nothing, for some requests         no row lost, unless the list looks like one short page
//
// A list of one page that is answered again for the next page cannot be told from a platform that
// ignores the page number, unless a smaller size is honoured or the total agrees: it fails.
//
// # Proofs
//
// Servers are drawn at random from all of the above; a failure prints the server.
//
//	go test ./sync/scan -v -timeout 0 -run 'Servers' -servers 20000
//	go test ./sync/scan -v -timeout 0 -run 'TestScanOfMovingList|TestScanNotices' -seeds 1000
//	go test ./sync/scan -v -timeout 0 -run 'EmptyForAWhile|GoesOn|PagesThatRepeat' -seeds 1000
package scan
