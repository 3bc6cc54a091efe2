package config

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	candidates := []string{"completion", "config", "sync", "status", "SOLARMIRROR_LOG_LEVEL"}
	for word, want := range map[string]string{
		"comp": "completion", "statsu": "status", "snyc": "sync", "CONFIG": "config", "log_level": "SOLARMIRROR_LOG_LEVEL", "syncs": "sync",
	} {
		if got := Nearest(word, candidates); got != want {
			t.Errorf("Nearest(%q) is %q, want %q", word, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("Nearest without candidates is %q", got)
	}
	tables := []string{"bi_lead_time", "request_arrangements", "requests"}
	for word, want := range map[string]string{"request": "requests", "reqests": "requests", "arrangements": "request_arrangements", "zzzqqq": ""} {
		if got := Near(word, tables); got != want {
			t.Errorf("Near(%q) is %q, want %q", word, got, want)
		}
	}
	for word, candidate := range map[string]string{"restore": "report", "start": "status", "pull": "push"} {
		if got := Near(word, []string{candidate}); got != "" {
			t.Errorf("Near(%q) is %q: these mean different things", word, got)
		}
	}
	if got := Near("x", nil); got != "" {
		t.Errorf("Near without candidates is %q", got)
	}
}
