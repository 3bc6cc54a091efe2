package setup

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/alerts"
	"solarmirror/cmd/internal/config"
)

// A stream is late by the job that moves it: equipment by its full reading, the others by the sync.
func TestStreamLimits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		settings []string
		want     map[string]time.Duration
	}{
		{nil, map[string]time.Duration{"orders": 2 * time.Hour, "budgets": 2 * time.Hour, "equipments": 2 * time.Hour}},
		{[]string{"SOLARMIRROR_ALERTS_STALE_AFTER=45m"}, map[string]time.Duration{"orders": 45 * time.Minute, "budgets": 45 * time.Minute, "equipments": 2 * time.Hour}},
		{[]string{"SOLARMIRROR_SCHEDULE_SYNC=0 */6 * * *", "SOLARMIRROR_SCHEDULE_FULL_EQUIPMENTS=off"}, map[string]time.Duration{"orders": 12 * time.Hour, "budgets": 12 * time.Hour, "equipments": 0}},
	} {
		c, err := config.Load(config.Source{Environ: tc.settings})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]time.Duration{}
		for name, at := range streamLimits(c, now) {
			got[name] = at.Limit
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tc.settings, diff)
		}
	}
}

// Without a mirror nothing is known of it; where nobody is to be told, a command is not watched.
func TestNothingToLookAt(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Source{Environ: []string{"SOLARMIRROR_MIRROR_PATH=" + filepath.Join(t.TempDir(), "m.db"), "SOLARMIRROR_OUTBOX_PATH=" + filepath.Join(t.TempDir(), "o.db")}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(alerts.Look{Rejects: -1}, look(t.Context(), c, nil)); diff != "" {
		t.Error(diff)
	}
	if w := Command(c, zerolog.Nop()); w != nil {
		t.Error("a command is watched for nobody")
	}
}
