package pull

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
	"solarmirror/sync/scan"
)

// What waits until a transaction's end ends up as if each slice had been written at once, in a transaction of its own: also when a record comes
// again before it was written, as something else, older than it was, or unfit to be read.
func TestSlicesOfOneTransaction(t *testing.T) {
	t.Parallel()
	orders := named("orders")[0]
	for seed := range uint64(testsize.Fewer(12)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			together, apart := newRigFor(t, &fixedList{}), newRigFor(t, &fixedList{})
			one, many := together.newBatch(orders, nil), apart.newBatch(orders, nil)
			for i := range 60 {
				sl := randomSlice(rng, orders, together.clock.now())
				if i == 0 {
					sl.Records = known(orders)
				}
				if err := one.add(t.Context(), sl); err != nil {
					t.Fatal(err)
				}
				if rng.IntN(12) == 0 {
					if err := one.commit(); err != nil {
						t.Fatal(err)
					}
				}
				if err := many.add(t.Context(), sl); err != nil {
					t.Fatal(err)
				}
				if err := many.commit(); err != nil {
					t.Fatal(err)
				}
			}
			if err := one.commit(); err != nil {
				t.Fatal(err)
			}
			if got, want := one.job.report.Counts, many.job.report.Counts; got != want {
				t.Errorf("counted %+v, want %+v", got, want)
			}
			tables := append(slices.Clone(schema.Requests.Tables()), schema.RequestStatusHistory, schema.Drift, schema.Rejects)
			for _, table := range tables {
				if d := diff(apart.rows(table), together.rows(table)); d != "" {
					t.Errorf("%s: %s", table.Name, d)
				}
			}
		})
	}
}

// known is the half of the records that come as something unfit to be read at times. A new one would take a key with it.
func known(s *Stream) (list []scan.Record) {
	for id := range 6 {
		list = append(list, s.identify(fmt.Appendf(nil, `{"id":"%02d","dealStatus":"s0"}`, id)))
	}
	return list
}

// randomSlice has some of twelve records in some of six versions, fetched about now.
func randomSlice(rng *rand.Rand, s *Stream, now time.Time) scan.Slice {
	at := now.Add(time.Duration(rng.IntN(10)) * time.Minute)
	sl := scan.Slice{Page: &platform.Page{Source: "/test", FetchedAt: at, Attempts: 1}}
	for range 1 + rng.IntN(6) {
		id, version := rng.IntN(12), rng.IntN(6)
		raw := fmt.Sprintf(`{"id":"%02d","dealStatus":"s%d","products":[{"productCode":"p%d"}],"odd":%[3]d}`, id, version/2, version)
		switch version {
		case 4: // the content of version 3, written differently
			raw = fmt.Sprintf(`{ "dealStatus":"s1","id":"%02d","products":[{"productCode":"p3"}],"odd":3}`, id)
		case 5:
			raw = fmt.Sprintf(`{"id":"%02d","new":%d,"name":"a","name":"b"}`, id%6, rng.IntN(3))
		}
		sl.Records = append(sl.Records, s.identify([]byte(raw)))
	}
	return sl
}
