package store

import (
	"testing"
)

// Midnight in São Paulo is 03:00 UTC, and was 02:00 in the summers up to February 2019; Manaus is an hour behind.
func TestLocalDate(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	for _, c := range []struct{ at, zone, want string }{
		{"2026-03-10 02:59:59.999", "America/Sao_Paulo", "2026-03-09"},
		{"2026-03-10 03:00:00.000", "America/Sao_Paulo", "2026-03-10"},
		{"2019-02-16 01:59:59.999", "America/Sao_Paulo", "2019-02-15"}, // the last day of summer
		{"2019-02-16 02:00:00.000", "America/Sao_Paulo", "2019-02-16"},
		{"2019-02-17 02:30:00.000", "America/Sao_Paulo", "2019-02-16"}, // 23:30 for the second time
		{"2019-02-17 03:00:00.000", "America/Sao_Paulo", "2019-02-17"},
		{"2018-11-04 02:59:59.999", "America/Sao_Paulo", "2018-11-03"},
		{"2018-11-04 03:00:00.000", "America/Sao_Paulo", "2018-11-04"}, // 01:00: there was no midnight
		{"2018-12-31 02:30:00.000", "America/Sao_Paulo", "2018-12-31"},
		{"2019-12-31 02:30:00.000", "America/Sao_Paulo", "2019-12-30"}, // no summer time any more
		{"2026-03-10 03:30:00.000", "America/Manaus", "2026-03-09"},
		{"2026-03-10 23:59:59.999", "UTC", "2026-03-10"},
		{"10/03/2026", "UTC", "-"},
		{"", "UTC", "-"},
	} {
		var got string
		must(t, m.conn.GetContext(t.Context(), &got, "SELECT coalesce(local_date(nullif(?, ''), ?), '-')", c.at, c.zone))
		if got != c.want {
			t.Errorf("local_date(%s, %s) = %s, want %s", c.at, c.zone, got, c.want)
		}
	}
	if err := m.conn.GetContext(t.Context(), new(string), "SELECT local_date('2026-03-10 00:00:00.000', 'Mars/Base')"); err == nil {
		t.Error("a zone that does not exist is taken")
	}
}

func TestFoldInSQL(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	for value, want := range map[string]string{"'  CONCLUÍDA '": "concluida", "''": "", "NULL": "-", "7": "7"} {
		var got string
		must(t, m.conn.GetContext(t.Context(), &got, "SELECT coalesce(fold("+value+"), '-')"))
		if got != want {
			t.Errorf("fold(%s) = %q, want %q", value, got, want)
		}
	}
}
