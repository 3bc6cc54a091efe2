package mcpserver

import (
	"context"
	"math"
	"os"
	"time"

	"solarmirror/store"
)

const freshnessDoc = `Say how recent the data is: until when each stream (orders, budgets, equipment) is complete, and when this copy
was made. Call it before you call a figure current.`

type freshnessAnswer struct {
	Now         string   `json:"now" jsonschema:"UTC"`
	PublishedAt string   `json:"published_at" jsonschema:"when this copy was made, UTC"`
	Masked      bool     `json:"personal_data_masked"`
	Streams     []stream `json:"streams"`
}

type stream struct {
	Name            string   `json:"stream"`
	CompleteThrough string   `json:"complete_through,omitempty" jsonschema:"everything up to here is in the copy, UTC; absent before the first complete load"`
	AgeHours        *float64 `json:"age_hours,omitempty" jsonschema:"from complete_through until now"`
	LoadedPercent   *float64 `json:"initial_load_percent,omitempty" jsonschema:"of a first load under way"`
	LastRunAt       string   `json:"last_run_at,omitempty" jsonschema:"UTC"`
	LastOutcome     string   `json:"last_outcome,omitempty"`
	Rejects         int64    `json:"rejects" jsonschema:"records that could not be read and are missing"`
	Promise         string   `json:"weakened_by,omitempty" jsonschema:"why the last reading may lack something"`
}

func (s *server) freshness(ctx context.Context, c copyFile, _ noInput) (freshnessAnswer, error) {
	file, err := os.Stat(s.Path)
	if err != nil {
		return freshnessAnswer{}, err
	}
	list, err := c.Freshness(ctx)
	if err != nil {
		return freshnessAnswer{}, err
	}
	now := s.Now()
	answer := freshnessAnswer{Now: utc(now), PublishedAt: utc(file.ModTime()), Masked: c.masked, Streams: []stream{}}
	for _, f := range list {
		answer.Streams = append(answer.Streams, streamOf(&f, now))
	}
	return answer, nil
}

func streamOf(f *store.Freshness, now time.Time) stream {
	s := stream{
		Name: f.Stream.Name, CompleteThrough: utc(f.CompleteThrough), LastRunAt: utc(f.LastRunAt),
		LastOutcome: string(f.LastOutcome), Rejects: f.Rejects, Promise: f.Promise,
	}
	if !f.CompleteThrough.IsZero() {
		age := math.Round(f.Age(now).Hours()*10) / 10
		s.AgeHours = &age
	}
	if !math.IsNaN(f.Loaded) {
		s.LoadedPercent = &f.Loaded
	}
	return s
}

// utc is "" for no time.
func utc(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
