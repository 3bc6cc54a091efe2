package words

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Hour:                     "under 1 s",
		time.Second - 1:                "under 1 s",
		time.Second:                    "1 s",
		2*time.Minute - 1:              "119 s",
		2 * time.Minute:                "2 min",
		2*time.Hour - time.Second:      "119 min",
		2 * time.Hour:                  "2 h",
		48*time.Hour - 1:               "47 h",
		48 * time.Hour:                 "2 days",
		10*24*time.Hour + 23*time.Hour: "10 days",
	} {
		if got := Age(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestWithoutQuotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`plain`: `plain`, `a "b" c "d"`: `a "…" c "…"`, `saying "it \"is\" Ana"; more`: `saying "…"; more`, `cut "off Ana`: `cut "…"`, `cut "off\`: `cut "…"`,
	} {
		if got := WithoutQuotes(text); got != want {
			t.Errorf("WithoutQuotes(%s) = %s, want %s", text, got, want)
		}
	}
}
