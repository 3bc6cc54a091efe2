package flatten_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
)

// scalar is a drawn value and what its column must make of it.
type scalar struct {
	json  any
	want  any  // in the column
	keep  bool // in extra
	drift bool // noted as type
}

func fitting(json, want any) scalar   { return scalar{json: json, want: want} }
func converted(json, want any) scalar { return scalar{json: json, want: want, drift: true} }
func rounded(json, want any) scalar   { return scalar{json: json, want: want, drift: true, keep: true} }
func misfitting(json any) scalar      { return scalar{json: json, drift: true, keep: true} }

func misfittings(values ...any) []scalar {
	list := make([]scalar, len(values))
	for i, v := range values {
		list[i] = misfitting(v)
	}
	return list
}

// column draws a value for a column, not null.
func (d *drawing) column(c *schema.Column) scalar {
	odd := d.deviates()
	if odd && d.oneIn(4) {
		return misfitting(rapid.SampledFrom([]any{object{}, list{}, object{{"a", null}}, list{null, object{}}}).Draw(d.T, "misfit"))
	}
	switch c.Type {
	case schema.Text:
		return d.text(odd)
	case schema.Real:
		return d.real(odd)
	case schema.BigInt:
		return d.bigint(odd)
	case schema.Boolean:
		return d.boolean(odd)
	case schema.Date:
		return d.date(odd)
	case schema.Timestamp:
		return d.timestamp(odd, c.Local)
	}
	panic("no values for a column of type " + c.Type)
}

func (d *drawing) pick(list ...scalar) scalar {
	return rapid.SampledFrom(list).Draw(d.T, "value")
}

func (d *drawing) text(odd bool) scalar {
	if !odd {
		s := d.string()
		return fitting(text(s), s)
	}
	lit := rapid.SampledFrom([]string{"0", "-0", "123", "1.50", "1E+2", "1e400", "9007199254740993", "true", "false"}).Draw(d.T, "literal")
	return converted(literal(lit), lit)
}

func (d *drawing) real(odd bool) scalar {
	if odd && d.oneIn(2) {
		return d.pick(append(
			misfittings(literal("1e400"), literal("-1e400"), text("1e400"), literal("true"), text(""), text("abc"), text(" 1"), text("1 "), text("1,5"), text("0x10"), text("1_0"),
				text("NaN"), text("Infinity"), text("+5"), text(".5"), text("5."), text("007"), text("-"), text("1e"), text("١"), literal("1"+strings.Repeat("0", 2000)+"e-2000")),
			rounded(literal("9007199254740993"), 9007199254740992.0),
			rounded(text("9007199254740993"), 9007199254740992.0),
			rounded(literal("123456789012345678901234567890"), 123456789012345678901234567890.0),
			rounded(literal("0.1000000000000000055511151231257827"), 0.1),
			rounded(literal("1e-400"), 0.0),
			rounded(literal("4e-324"), 5e-324),
		)...)
	}
	f := rapid.OneOf(
		rapid.Float64(),
		rapid.SampledFrom([]float64{0, 1, -1, 12.5, 100, 1e21, 5e-324, 1.7976931348623157e308, 9007199254740992}),
		rapid.Map(rapid.Int64Range(-1e12, 1e12), func(cents int64) float64 { return float64(cents) / 100 }),
	).Draw(d.T, "float")
	written := strconv.FormatFloat(f, rapid.SampledFrom([]byte("gef")).Draw(d.T, "format"), -1, 64)
	if rapid.Bool().Draw(d.T, "capital") {
		written = strings.ToUpper(written)
	}
	if odd {
		return converted(text(written), f)
	}
	return fitting(literal(written), f)
}

func (d *drawing) bigint(odd bool) scalar {
	if odd && d.oneIn(2) {
		return d.pick(misfittings(literal("2.5"), literal("1e-1"), literal("9223372036854775808"), literal("123456789012345678901234567890"), literal("1e400"), literal("true"), text("dois"), text("2.5"), text(""), text("+2"))...)
	}
	n := rapid.Int64().Draw(d.T, "integer")
	written := strconv.FormatInt(n, 10) + rapid.SampledFrom([]string{"", "", ".0", "e0", ".00e+0"}).Draw(d.T, "tail")
	if odd {
		return converted(text(written), n)
	}
	return fitting(literal(written), n)
}

func (d *drawing) boolean(odd bool) scalar {
	if odd {
		return d.pick(append(
			misfittings(text("sim"), text("True"), text("1"), text(""), literal("2"), literal("1.0"), literal("-0")),
			converted(text("true"), int64(1)), converted(literal("1"), int64(1)), converted(text("false"), int64(0)), converted(literal("0"), int64(0)),
		)...)
	}
	return d.pick(fitting(literal("true"), int64(1)), fitting(literal("false"), int64(0)))
}

func (d *drawing) date(odd bool) scalar {
	if odd {
		return d.pick(misfittings(text(""), text("2026-02-29"), text("2026-13-01"), text("2026-00-10"), text("2026-01-00"), text("2026-1-5"), text("05/01/2026"), text("2026-01-05T00:00:00.000Z"), text("2026-01-05 "),
			text("+026-01-05"), literal("20260105"), literal("true"))...)
	}
	day := d.moment().Format(time.DateOnly)
	return fitting(text(day), day)
}

func (d *drawing) timestamp(odd, local bool) scalar {
	if odd && d.oneIn(3) {
		return d.pick(misfittings(text(""), text("ontem"), text("2026-01-05"), text("2026-02-30T10:00:00.000"+zone(local)), text("2026-01-05T24:00:00"+zone(local)), text("2026-01-05T10:60:00"+zone(local)),
			text("2026-01-05T23:59:60"+zone(local)), text("2026-01-05 10:00:00"+zone(local)), text("2026-01-05T1:00:00"+zone(local)), text("2026-01-05T10:00:00."+zone(local)), text("2026-01-05T10:00:00,5"+zone(local)),
			text("2026-01-05T10:00:00.000"+zone(!local)), text("2026-01-05T10:00"+zone(!local)), text("2026-01-05T10:00:00+24:00"), text("2026-01-05T10:00:00+0300"), literal("1767607200000"), literal("true"))...)
	}
	t := d.moment()
	written, want := t.Format("2006-01-02T15:04:05.000"), t.Format(flatten.TimestampLayout)
	switch {
	case !odd && local:
		return fitting(text(t.Format("2006-01-02T15:04")), t.Truncate(time.Minute).Format(flatten.TimestampLayout))
	case !odd:
		tail := rapid.SampledFrom([]string{"", "0", "000000000000"}).Draw(d.T, "tail")
		return fitting(text(written+tail+"Z"), want)
	case rapid.Bool().Draw(d.T, "finer"):
		tail := rapid.SampledFrom([]string{"5", "001", "0000000000001"}).Draw(d.T, "tail")
		return rounded(text(written+tail+zone(local)), want)
	case local:
		return fitting(text(written), want)
	}
	minutes := rapid.IntRange(-23*60-59, 23*60+59).Draw(d.T, "offset")
	sign := '+'
	if minutes < 0 {
		sign = '-'
	}
	offset := fmt.Sprintf("%c%02d:%02d", sign, max(minutes, -minutes)/60, max(minutes, -minutes)%60)
	return converted(text(written+offset), t.Add(-time.Duration(minutes)*time.Minute).Format(flatten.TimestampLayout))
}

func zone(local bool) string {
	if local {
		return ""
	}
	return "Z"
}

// moment draws a time, whole in milliseconds, of a year of four digits whatever its offset.
func (d *drawing) moment() time.Time {
	first := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli()
	last := time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC).UnixMilli()
	return time.UnixMilli(rapid.Int64Range(first, last).Draw(d.T, "moment")).UTC()
}
