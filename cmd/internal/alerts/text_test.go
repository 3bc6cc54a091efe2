package alerts

import (
	"testing"
	"time"
)

// Titles name the machine: a receiver may serve many.
func TestTitlesNameTheMachine(t *testing.T) {
	t.Parallel()
	for tongue, want := range map[Tongue]string{
		{Lang: "pt", Zone: time.UTC, Host: "srv1"}: "solarmirror em srv1: ", {Lang: "en", Zone: time.UTC, Host: "srv1"}: "solarmirror on srv1: ", {Lang: "pt", Zone: time.UTC}: "solarmirror: ",
	} {
		for kind, says := range map[Kind]string{Test: tongue.dictionary().test, Events: "", Begins: tongue.dictionary().what[Platform]} {
			title, _ := Message{Kind: kind, Incident: Incident{Cause: Platform}}.Text(tongue)
			if title != want+says {
				t.Errorf("%+v, %s: %q, want %q", tongue, kind, title, want+says)
			}
		}
	}
}
