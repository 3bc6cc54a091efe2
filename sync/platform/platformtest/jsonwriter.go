package platformtest

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonWriter appends one JSON value member by member. It inserts the commas; the caller balances the brackets.
type jsonWriter struct{ b []byte }

// comma separates what follows from the element before it, if there is one.
func (w *jsonWriter) comma() {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' && w.b[n-1] != ':' {
		w.b = append(w.b, ',')
	}
}

func (w *jsonWriter) key(name string) {
	w.comma()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

func (w *jsonWriter) open(bracket byte) {
	w.comma()
	w.b = append(w.b, bracket)
}

func (w *jsonWriter) close(bracket byte) { w.b = append(w.b, bracket) }

func (w *jsonWriter) object(name string) {
	w.key(name)
	w.b = append(w.b, '{')
}

func (w *jsonWriter) array(name string) {
	w.key(name)
	w.b = append(w.b, '[')
}

func (w *jsonWriter) null(name string) {
	w.key(name)
	w.b = append(w.b, "null"...)
}

func (w *jsonWriter) quote(value string) {
	w.comma()
	var err error
	if w.b, err = jsontext.AppendQuote(w.b, value); err != nil {
		panic("platformtest: text is not UTF-8: " + strconv.Quote(value))
	}
}

func (w *jsonWriter) str(name, value string) {
	w.key(name)
	w.quote(value)
}

// strOrNull writes null for the empty string.
func (w *jsonWriter) strOrNull(name, value string) {
	if value == "" {
		w.null(name)
		return
	}
	w.str(name, value)
}

func (w *jsonWriter) boolean(name string, value bool) {
	w.key(name)
	w.b = strconv.AppendBool(w.b, value)
}

func (w *jsonWriter) integer(name string, value int) {
	w.key(name)
	w.b = strconv.AppendInt(w.b, int64(value), 10)
}

func (w *jsonWriter) float(name string, value float64) {
	w.key(name)
	w.b = strconv.AppendFloat(w.b, value, 'f', -1, 64)
}

// money writes an amount held in cents.
func (w *jsonWriter) money(name string, cents int64) { w.float(name, float64(cents)/100) }

func (w *jsonWriter) floats(name string, values ...float64) {
	w.array(name)
	for _, v := range values {
		w.comma()
		w.b = strconv.AppendFloat(w.b, v, 'f', -1, 64)
	}
	w.close(']')
}

// timestamp writes milliseconds since 1970 as ISO 8601 in UTC, null for zero.
func (w *jsonWriter) timestamp(name string, ms int64) {
	if ms == 0 {
		w.null(name)
		return
	}
	w.key(name)
	w.b = append(w.b, '"')
	w.b = time.UnixMilli(ms).UTC().AppendFormat(w.b, "2006-01-02T15:04:05.000Z")
	w.b = append(w.b, '"')
}
