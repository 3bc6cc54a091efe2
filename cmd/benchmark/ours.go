package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

// newClient returns a client that is not held back.
func newClient(url string) (*platform.Client, error) {
	return platform.New(platform.Config{
		BaseURL: url, RequestsPerSecond: 10_000, Log: zerolog.Nop(),
		Token: func(context.Context) (string, error) { return "a-token", nil },
	})
}

// inFlight is how many pages are asked for at one time, as max_in_flight has it.
const inFlight = 4

// loadMirror is what `solarmirror sync orders budgets --full` does.
func loadMirror(t task) (got outcome, err error) {
	ctx := context.Background()
	client, err := newClient(t.URL)
	if err != nil {
		return got, err
	}
	defer client.Close()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		return got, err
	}
	phases := &phases{}
	log := zerolog.New(io.Discard).Level(zerolog.DebugLevel).Hook(phases)
	mirror, err := store.Open(ctx, t.DB, store.Options{Zone: zone, Log: log})
	if err != nil {
		return got, err
	}
	engine := &pull.Engine{
		Client: client, Mirror: mirror, Zone: zone, OverlapDays: 2, Now: time.Now, Log: log,
		Paging: pull.Paging{FirstPage: scan.FindFirstPage, Limit: pageSize}, InFlight: inFlight,
	}
	if t.Progress {
		engine.Progress = tellProgress()
	}
	result, err := engine.Sync(ctx, pull.Options{Streams: streams(), Full: true, Trigger: store.TriggerManual})
	if err != nil {
		return got, err
	}
	if err := mirror.Close(); err != nil {
		return got, err
	}
	total := result.Total()
	got.Records = total.Inserted + total.Changed + total.Unchanged
	if phases.built != (usage{}) {
		got.Marts = phases.built.minus(phases.read)
	}
	got.Load = used().minus(got.Marts)
	return got, nil
}

// phases notes, by what the program logs, what has been used at the end of a phase of a sync.
type phases struct{ read, built usage }

// Run implements zerolog.Hook.
func (p *phases) Run(_ *zerolog.Event, _ zerolog.Level, message string) {
	switch message {
	case "stream read":
		p.read = used()
	case "marts brought up to date":
		p.built = used()
	}
}

// tellProgress returns a function that writes to stdout how many records are committed.
func tellProgress() func(pull.Progress) {
	type list struct{ stream, pass string }
	committed := map[list]int64{}
	out := json.NewEncoder(os.Stdout)
	return func(p pull.Progress) {
		committed[list{p.Stream, p.Pass}] = p.Records
		sum := int64(0)
		for _, n := range committed {
			sum += n
		}
		_ = out.Encode(report{Committed: sum})
	}
}
