package report

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"solarmirror/store/identity"
)

// Restriction limits a report. Empty fields restrict nothing.
type Restriction struct {
	Since, Until string // days as YYYY-MM-DD, both included
	Seller       string // e-mail address, or pseudonym in a masked copy
	State        string // two letters
}

// RestrictionError says why a [Restriction] makes no sense for the data, and what to do.
type RestrictionError struct{ text string }

func (e *RestrictionError) Error() string { return e.text }

func refuse(format string, args ...any) error {
	return &RestrictionError{fmt.Sprintf(format, args...)}
}

// normalized returns r in the spelling of the marts.
func (r Restriction) normalized() (Restriction, error) {
	r.Seller, r.State = identity.Plain(r.Seller), strings.TrimSpace(r.State)
	if len(r.State) == 2 {
		r.State = strings.ToUpper(r.State)
	}
	for _, day := range []struct{ flag, value string }{{"--since", r.Since}, {"--until", r.Until}} {
		if _, err := time.Parse(time.DateOnly, day.value); day.value != "" && err != nil {
			return r, refuse("%s is %q; write a day as YYYY-MM-DD", day.flag, day.value)
		}
	}
	if r.Since != "" && r.Until != "" && r.Since > r.Until {
		return r, refuse("--since %s is after --until %s; swap them", r.Since, r.Until)
	}
	return r, nil
}

// span is a range of days, YYYY-MM-DD, both included. An empty end is open.
type span struct{ first, last string }

func (s span) holds(day string) bool {
	if s == (span{}) {
		return true // days that are not known, too
	}
	return day != "" && s.first <= day && (s.last == "" || day <= s.last)
}

// yearEarlier returns the same days of the year before. 29 February becomes 28 February.
func (s span) yearEarlier() span {
	return span{dayYearEarlier(s.first), dayYearEarlier(s.last)}
}

func dayYearEarlier(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	earlier := t.AddDate(-1, 0, 0)
	if earlier.Month() != t.Month() {
		earlier = earlier.AddDate(0, 0, -1)
	}
	return earlier.Format(time.DateOnly)
}

// scope is what the report shows: a restriction in the spelling of the marts, and the last day.
type scope struct {
	Restriction
	today time.Time // at 0:00 UTC; _marts.as_of
	zone  *time.Location
}

// bounds returns the days asked for; both ends are open without a restriction.
func (s scope) bounds() span { return span{s.Since, s.Until} }

// lastDay returns the last day of the report.
func (s scope) lastDay() string { return cmp.Or(s.Until, s.today.Format(time.DateOnly)) }

// shown returns the days of cards and rankings: those asked for, else the last 12 months.
func (s scope) shown() span {
	last := s.lastDay()
	if s.Since != "" {
		return span{s.Since, last}
	}
	return span{monthsUpTo(last[:7], monthsOfTop).first + "-01", last}
}

// recent returns the days of the price changes: those asked for, else the last 90.
func (s scope) recent() span {
	last := s.lastDay()
	if s.Since != "" {
		return span{s.Since, last}
	}
	t, _ := time.Parse(time.DateOnly, last) // as lastDay wrote it
	return span{t.AddDate(0, 0, 1-daysOfChanges).Format(time.DateOnly), last}
}

// clause is a condition in SQL and its arguments.
type clause struct {
	sql  string
	args []any
}

// People write one state as SP, sp and "Sp ".
const (
	isSeller = "seller_email = ?"
	isState  = "trim(state) = ? COLLATE NOCASE"
	stateSQL = "CASE WHEN length(trim(state)) = 2 THEN upper(trim(state)) ELSE nullif(trim(state), '') END COLLATE NOCASE"
)

// where returns the condition on the rows of a mart with seller_email and state: the restriction to
// a seller and a state, the days of the named column, and more conditions. Every query with a
// restriction has its condition from here.
func (s scope) where(column string, days span, more ...string) clause {
	c := clause{sql: strings.Join(append([]string{"true"}, more...), " AND ")}
	c.and(isSeller, s.Seller)
	c.and(isState, s.State)
	c.and(column+" >= ?", days.first)
	c.and(column+" <= ?", days.last)
	return c
}

func (c *clause) and(condition, value string) {
	if value != "" {
		c.sql += " AND " + condition
		c.args = append(c.args, value)
	}
}

// instants returns days as timestamps of the marts, in UTC: from the first up to, but not
// including, the last.
func (s scope) instants(days span) span {
	at := func(day string, add int) string {
		t, err := time.ParseInLocation(time.DateOnly, day, s.zone)
		if err != nil {
			return "" // open
		}
		return t.AddDate(0, 0, add).UTC().Format("2006-01-02 15:04:05.000")
	}
	return span{at(days.first, 0), at(days.last, 1)}
}

// checkRestriction looks whether the data knows what the report is restricted to, and ends it with
// the day of the data.
func (s *source) checkRestriction(ctx context.Context, f *figures) {
	today := f.today.Format(time.DateOnly)
	if f.Since != "" || f.Until > today {
		f.Until = min(cmp.Or(f.Until, today), today)
	}
	r := f.scope
	if s.err == nil && r.Since > today {
		s.err = refuse("--since %s is after %s, the last day of the data; name an earlier day", r.Since, today)
	}
	for _, c := range []struct{ is, value, flag, list string }{
		{isSeller, r.Seller, "--seller", "SELECT seller_email, seller_name FROM bi_sellers"},
		{isState, r.State, "--state", "SELECT DISTINCT state FROM bi_requests"},
	} {
		if c.value == "" {
			continue
		}
		known := false
		s.each(ctx, fmt.Sprintf("SELECT EXISTS (SELECT 1 FROM bi_requests WHERE %[1]s) OR EXISTS (SELECT 1 FROM bi_funnel WHERE %[1]s)", c.is),
			func(r row) { known = r.count(0) == 1 }, c.value, c.value)
		if s.err != nil || known {
			continue
		}
		if f.Masked && strings.Contains(c.value, "@") {
			s.err = refuse("%s: the sellers of a masked copy are pseudonyms (p_…); for addresses use --source mirror", c.flag)
			return
		}
		s.err = refuse("no deal has %s %q; to list them: solarmirror query %q", c.flag, c.value, c.list)
	}
}
