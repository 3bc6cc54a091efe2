package platformtest

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is one way in which the answer to a list request goes wrong.
type Fault string

// The faults. Unless said otherwise the world is as sound as before, and asking again brings the page.
const (
	Fault429Seconds  Fault = "429-seconds" // Retry-After in seconds
	Fault429Date     Fault = "429-date"    // Retry-After as a date
	Fault429Garbage  Fault = "429-garbage" // Retry-After that is neither
	Fault429Billion  Fault = "429-billion" // Retry-After of a billion seconds
	Fault500         Fault = "500"
	Fault502         Fault = "502"
	Fault503         Fault = "503"
	FaultReset       Fault = "reset"          // the connection is reset before the answer; net/http may repeat such a GET by itself
	FaultCut         Fault = "cut"            // half of the body that Content-Length promises
	FaultCutClose    Fault = "cut-close"      // half of a body that ends with the connection, so that only its JSON shows it
	FaultDrip        Fault = "drip"           // the body a byte at a time, see Faults.Drip
	FaultHTML        Fault = "html"           // a web page with status 200
	FaultNull        Fault = "null"           // the JSON null with status 200
	FaultEmptyError  Fault = "empty-error"    // "error" set beside an empty list with status 200
	FaultBomb        Fault = "bomb"           // the page with 320 MiB of white space in it, which gzip makes small
	FaultTrailing    Fault = "trailing"       // bytes behind the JSON
	FaultDuplicate   Fault = "duplicate-keys" // the envelope's list twice, first empty
	FaultRedirect302 Fault = "redirect302"    // to the same path below Faults.RedirectTo
	FaultRedirect307 Fault = "redirect307"
	FaultRedirect308 Fault = "redirect308"
	Fault401         Fault = "401"

	// FaultBadUTF8 and FaultNullIDs answer with pages that look sound but for their records: in one record a text is not
	// UTF-8, or all ids (product codes) are null. A reader must reject such records one by one, keep what it has of them,
	// and may not take them for deleted; the next reading brings them sound. An empty page has nothing to spoil and comes
	// without the fault.
	FaultBadUTF8 Fault = "bad-utf8"
	FaultNullIDs Fault = "null-ids"

	// FaultTokenRotation, which is of Faults.At only, lasts: from that request on nothing but Options.NextToken is accepted.
	FaultTokenRotation Fault = "token-rotation"
)

// retryable429 is what the name 429 stands for in ParseFaults.
var retryable429 = []Fault{Fault429Seconds, Fault429Date, Fault429Garbage}

// TransientFaults are those that a good client rides out by asking again, but for the drip and the bomb, which cost a
// time-out and a body's full size each time.
func TransientFaults() []Fault {
	return append(slices.Clone(retryable429), Fault500, Fault502, Fault503, FaultReset, FaultCut, FaultCutClose,
		FaultHTML, FaultNull, FaultEmptyError, FaultTrailing, FaultDuplicate)
}

// AllFaults are all that can be drawn: all but the token's rotation.
func AllFaults() []Fault {
	return append(TransientFaults(), FaultDrip, FaultBomb, Fault429Billion, FaultBadUTF8, FaultNullIDs,
		FaultRedirect302, FaultRedirect307, FaultRedirect308, Fault401)
}

// Faults is a schedule of faults. Only authorized list requests are faulted; all HTTP requests are numbered, from 1, as
// Served counts.
type Faults struct {
	// Rate is the share of the requests that draw one of Kinds (nil: TransientFaults). After two faults in a row on a
	// page, by its path and query, the third request for it is spared.
	Rate  float64
	Kinds []Fault
	Seed  uint64

	// At are faults at numbered requests. A request that is none for a list lets its fault pass.
	At map[int64]Fault

	RetryAfter int           // seconds, the most that a sound Retry-After asks for; drawn from 0 up to it
	Drip       time.Duration // between two bytes; 0 is 50 ms
	RedirectTo string        // another host's base URL; "" is one that does not exist
}

const (
	defaultDrip       = 50 * time.Millisecond
	defaultRedirectTo = "http://elsewhere.invalid"
	maxInARow         = 2
)

// FaultsHelp lists what ParseFaults understands, one a line.
func FaultsHelp() string {
	return "  rate=0.1          the share of requests that go wrong\n" +
		"  kinds=429+reset   which way, joined by +; transient unless given\n" +
		"  seed=3            of the draw\n" +
		"  reset@5           at the fifth request, alone or beside the others\n" +
		"  retry-after=1     seconds, the most a Retry-After asks for\n" +
		"  drip=50ms         between two bytes of a drip\n" +
		"  to=http://host    where redirects lead\n" +
		"Kinds that a client rides out, together called transient (the first three: 429):\n" + kindsHelp(TransientFaults()) +
		"Other kinds, with the former called all:\n" + kindsHelp(AllFaults()[len(TransientFaults()):]) +
		"And, at a numbered request only, token-rotation.\n"
}

// kindsHelp writes names in lines of six.
func kindsHelp(kinds []Fault) string {
	var b strings.Builder
	for line := range slices.Chunk(kinds, 6) {
		b.WriteString("  " + joinFaults(line, ", ") + "\n")
	}
	return b.String()
}

func joinFaults(list []Fault, separator string) string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = string(f)
	}
	return strings.Join(names, separator)
}

// ParseFaults reads a schedule from text such as "rate=0.1,seed=3,kinds=429+reset+cut" or "redirect307@5". A Retry-After
// asks for a second at the most unless retry-after says otherwise. An error names what there is.
func ParseFaults(text string) (Faults, error) {
	f := Faults{RetryAfter: 1}
	if text == "" {
		return f, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if err := f.set(strings.TrimSpace(part)); err != nil {
			return Faults{}, err
		}
	}
	if f.Kinds != nil && f.Rate == 0 {
		return Faults{}, fmt.Errorf("faults: kinds without a rate; add rate=0.1")
	}
	return f, nil
}

func (f *Faults) set(part string) (err error) {
	if kind, number, numbered := strings.Cut(part, "@"); numbered {
		return f.setAt(kind, number)
	}
	name, value, _ := strings.Cut(part, "=")
	want := ""
	switch name {
	case "rate":
		want = "a share from 0 to 1"
		if f.Rate, err = strconv.ParseFloat(value, 64); !(f.Rate >= 0 && f.Rate <= 1) {
			err = strconv.ErrRange
		}
	case "seed":
		want = "a whole number"
		f.Seed, err = strconv.ParseUint(value, 10, 64)
	case "retry-after":
		want = "whole seconds from 0"
		if f.RetryAfter, err = strconv.Atoi(value); f.RetryAfter < 0 || f.RetryAfter > math.MaxInt32 {
			err = strconv.ErrRange
		}
	case "drip":
		want = "a length of time such as 50ms"
		if f.Drip, err = time.ParseDuration(value); f.Drip <= 0 {
			err = strconv.ErrRange
		}
	case "to":
		want = "the base URL of another host, such as http://127.0.0.1:8901"
		var to *url.URL
		if to, err = url.Parse(value); err == nil && (to.Scheme == "" || to.Host == "") {
			err = strconv.ErrSyntax
		}
		f.RedirectTo = strings.TrimRight(value, "/")
	case "kinds":
		f.Kinds, err = parseKinds(value)
		return err
	default:
		return fmt.Errorf("faults: %q is unknown; write kind@number, or name=value with the names rate, kinds, seed, retry-after, drip, to", part)
	}
	if err != nil {
		return fmt.Errorf("faults: %s=%s is not understood; %s must be %s", name, value, name, want)
	}
	return nil
}

func (f *Faults) setAt(kind, number string) error {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("faults: %s@%s: behind the @ stands the number of a request, from 1", kind, number)
	}
	known := append(AllFaults(), FaultTokenRotation)
	if !slices.Contains(known, Fault(kind)) {
		return fmt.Errorf("faults: %s@%d: no such kind; there are %s", kind, n, joinFaults(known, ", "))
	}
	if other, taken := f.At[n]; taken {
		return fmt.Errorf("faults: %s@%d: the request has %s already", kind, n, other)
	}
	if f.At == nil {
		f.At = map[int64]Fault{}
	}
	f.At[n] = Fault(kind)
	return nil
}

func parseKinds(text string) (kinds []Fault, err error) {
	for name := range strings.SplitSeq(text, "+") {
		switch {
		case name == "429":
			kinds = append(kinds, retryable429...)
		case name == "transient":
			kinds = append(kinds, TransientFaults()...)
		case name == "all":
			kinds = append(kinds, AllFaults()...)
		case Fault(name) == FaultTokenRotation:
			return nil, fmt.Errorf("faults: a token rotates once; write token-rotation@20 beside the kinds")
		case slices.Contains(AllFaults(), Fault(name)):
			kinds = append(kinds, Fault(name))
		default:
			return nil, fmt.Errorf("faults: no kind %q; there are 429, transient, all, %s", name, joinFaults(AllFaults(), ", "))
		}
	}
	return kinds, nil
}

// schedule is Faults at work. It needs the platform's mu.
type schedule struct {
	Faults
	rotation int64 // the request from which on the next token counts; 0 is never
	inARow   map[string]int
	served   map[Fault]int
}

func newSchedule(f Faults) *schedule {
	if f.Rate > 0 && f.Kinds == nil {
		f.Kinds = TransientFaults()
	}
	if f.Drip == 0 {
		f.Drip = defaultDrip
	}
	if f.RedirectTo == "" {
		f.RedirectTo = defaultRedirectTo
	}
	s := &schedule{Faults: f, inARow: map[string]int{}, served: map[Fault]int{}}
	for n, kind := range f.At {
		if kind == FaultTokenRotation && (s.rotation == 0 || n < s.rotation) {
			s.rotation = n
		}
	}
	return s
}

// next returns what befalls a request for a page, "" for nothing.
func (s *schedule) next(number int64, page string) Fault {
	if fault, ok := s.At[number]; ok && fault != FaultTokenRotation {
		return fault
	}
	d := throw(s.Seed, streamFault, uint64(number))
	if s.Rate == 0 || s.inARow[page] == maxInARow || !d.chance(s.Rate) {
		delete(s.inARow, page)
		return ""
	}
	s.inARow[page]++
	return pick(&d, s.Kinds)
}

// Faulted counts the faults served so far by their kinds.
func (p *Platform) Faulted() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := map[string]int{}
	for kind, n := range p.faults.served {
		counts[string(kind)] = n
	}
	return counts
}
