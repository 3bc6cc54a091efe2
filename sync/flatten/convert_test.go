package flatten

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	instant    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]([01]\d|2[0-3]):[0-5]\d)$`)
	localTime  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$`)
)

// The oracle is exact arithmetic: what is said to fit is the number, what is said to be rounded is its nearest float64, what
// misfits is no number or beyond float64.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "-0.0", "0e5", "1", "-1.50", "12.5", "1E+2", "9007199254740992", "9007199254740993", "999999999999999", "1234567890123456", "0.1", "0.30000000000000004",
		"123456789012345678901234567890", "1e308", "1.7976931348623157e308", "1.7976931348623159e308", "1e400", "1e-400", "5e-324", "4e-324", "2.2250738585072014e-308", "9223372036854775807",
		"9223372036854775808", "-9223372036854775808", "3e2", "3.10e1", "007", "+1", ".5", "5.", "1e", "NaN", "Infinity", "0x1p4", "1_000", " 1", "1 ", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := isNumber([]byte(s)), jsonNumber.MatchString(s); got != want {
			t.Fatalf("isNumber = %v, want %v", got, want)
		}
		if !isNumber([]byte(s)) || hugeExponent(s) {
			return
		}
		exact, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatal("math/big does not read it")
		}
		checkReal(t, s, exact)
		checkInteger(t, s, exact)
	})
}

// Numbers that strconv would take for others go to extra.
func TestNumberOfManyZeros(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 200_000)
	for _, s := range []string{"1" + zeros + "e-200000", "0." + zeros + "1e200001"} {
		if v, how := fromNumber('0', jsontext.Value(s), toReal); how != misfits {
			t.Errorf("%.5s…%s: %v (%v), want a misfit", s, s[len(s)-8:], v, how)
		}
		if v, how := fromNumber('0', jsontext.Value(s), toInteger); how != misfits {
			t.Errorf("%.5s…%s: %v (%v), want a misfit", s, s[len(s)-8:], v, how)
		}
	}
}

// hugeExponent says whether math/big would take forever.
func hugeExponent(s string) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	e, err := strconv.Atoi(exponent)
	return len(s) > longestNumber || exponent != "" && (err != nil || e > 5000 || e < -5000)
}

func checkReal(t *testing.T, s string, exact *big.Rat) {
	v, how := fromNumber('0', jsontext.Value(s), toReal)
	nearest, _ := exact.Float64()
	if math.IsInf(nearest, 0) {
		if how != misfits || v != nil {
			t.Errorf("real %v (%v), but it is beyond float64", v, how)
		}
		return
	}
	if v != nearest {
		t.Errorf("real %v, want %v", v, nearest)
	}
	// It survives when the shortest decimal that means the float64 is the number itself.
	shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(nearest, 'g', -1, 64))
	if want := shortest.Cmp(exact) == 0; (how == fits) != want || how != fits && how != rounded {
		t.Errorf("real: fit %v, survives %v", how, want)
	}
}

func checkInteger(t *testing.T, s string, exact *big.Rat) {
	v, how := fromNumber('0', jsontext.Value(s), toInteger)
	if exact.IsInt() && exact.Num().IsInt64() {
		if v != exact.Num().Int64() || how != fits {
			t.Errorf("integer %v (%v), want %v", v, how, exact.Num())
		}
	} else if how != misfits || v != nil {
		t.Errorf("integer %v (%v), but it is none", v, how)
	}
}

// The oracle is time.Parse, where its laxness (one-digit hours, commas, offsets of a day) is cut off first.
func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{
		"2026-03-02T13:45:12.318Z", "2026-03-02T13:45:12Z", "2026-03-02T13:45:12.3Z", "2026-03-02T13:45:12.3180Z", "2026-03-02T13:45:12.3189Z", "2026-03-02T13:45:12.0000000001Z",
		"2026-03-02T23:30:00-03:00", "2026-03-02T23:30:00.5+14:00", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "2024-02-29T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00.000Z", "2000-02-29T00:00:00.000Z",
		"2026-03-02T24:00:00Z", "2026-03-02T23:59:60Z", "2026-03-02T1:00:00Z", "2026-03-02T10:00:00,5Z", "2026-03-02T10:00:00.Z", "2026-03-02T10:00:00+24:00", "2026-03-02 10:00:00Z", "2026-03-02t10:00:00z",
		"2026-03-10T09:27", "2026-03-10T09:27:01", "2026-03-10T09:27:01.5", "2026-03-10T09:27:01.", "2026-03-10T09:27.5", "2026-04-31T09:27", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, how := toTimestamp(s)
		parsed, err := time.Parse(time.RFC3339, s)
		checkTime(t, got, how, err == nil && instant.MatchString(s), parsed.UTC(), finerThanMillis(s), strings.HasSuffix(s, "Z"))

		got, how = toLocalTimestamp(s)
		layout := "2006-01-02T15:04:05"
		if len(s) == len("2006-01-02T15:04") {
			layout = "2006-01-02T15:04"
		}
		parsed, err = time.Parse(layout, s)
		checkTime(t, got, how, err == nil && localTime.MatchString(s), parsed, finerThanMillis(s), true)
	})
}

func finerThanMillis(s string) bool {
	_, fraction, _ := strings.Cut(strings.TrimRight(s, "Z"), ".")
	if i := strings.IndexAny(fraction, "+-"); i >= 0 {
		fraction = fraction[:i]
	}
	return len(fraction) > 3 && strings.Trim(fraction[3:], "0") != ""
}

func checkTime(t *testing.T, got any, how fit, valid bool, parsed time.Time, finer, asDocumented bool) {
	t.Helper()
	if valid && (parsed.Year() < 0 || parsed.Year() > 9999) {
		valid = false
	}
	if !valid {
		if got != nil || how != misfits {
			t.Errorf("%v (%v), want a misfit", got, how)
		}
		return
	}
	want := fits
	switch {
	case finer:
		want = rounded
	case !asDocumented:
		want = converted
	}
	if text := parsed.Format(TimestampLayout); got != text || how != want {
		t.Errorf("%v (%v), want %v (%v)", got, how, text, want)
	}
}

// The oracle is time.Parse.
func FuzzDate(f *testing.F) {
	for _, s := range []string{"2026-03-16", "2024-02-29", "2026-02-29", "2000-02-29", "1900-02-29", "2026-04-31", "2026-00-01", "2026-01-00", "2026-13-01", "0000-01-01", "2026-3-16", "16/03/2026", "2026-03-16T", "-026-01-01", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, err := time.Parse(time.DateOnly, s)
		got, how := toDate(s)
		if err == nil && (got != s || how != fits) || err != nil && (got != nil || how != misfits) {
			t.Errorf("%v (%v); time.Parse: %v", got, how, err)
		}
	})
}
