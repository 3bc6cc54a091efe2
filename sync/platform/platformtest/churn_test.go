package platformtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// local returns a client that reaches the platform without sockets.
func local(p *Platform) *http.Client { return &http.Client{Transport: p.Transport()} }

const localURL = "http://platform/api/v2/"

// applyEvents brings keys, which are of the truth, up to date by what the account says.
func applyEvents(t *testing.T, keys map[string]Record, events []Event) {
	t.Helper()
	for _, e := range events {
		r, known := keys[e.Key]
		switch e.Kind {
		case EventInserted:
			if known {
				t.Errorf("%+v was there already", e)
			}
			keys[e.Key] = Record{Resource: e.Resource, Key: e.Key}
			continue
		case EventDeleted:
			delete(keys, e.Key)
			continue
		case EventRestored:
			if e.Resource == ResourceEquipments {
				r = Record{Resource: e.Resource, Key: e.Key}
			} else if !known || !r.Removed {
				t.Errorf("%+v was not removed", e)
			}
			r.Removed = false
		case EventRemoved:
			r.Removed = true
		case EventConverted:
			if r.Resource == e.Resource {
				t.Errorf("%+v did not move", e)
			}
			r.Resource = e.Resource
		case EventUpdated:
			if !known {
				t.Errorf("%+v is unknown", e)
			}
		}
		keys[e.Key] = r
	}
}

func everything(t *testing.T, p *Platform) map[string]Record {
	t.Helper()
	all := map[string]Record{}
	for _, resource := range []string{ResourceOrders, ResourceBudgets, ResourceEquipments} {
		for key, r := range truth(t, p, resource) {
			all[key] = r
		}
	}
	return all
}

// TestEventsExplainTheWorld lets a world churn, its clock standing in one case and going on in the other, and derives
// the truth of the end from that of the beginning and the account.
func TestEventsExplainTheWorld(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{0, 2 * time.Hour} {
		clock := newHandClock()
		p := New(Options{
			Seed: 12, Requests: 150, Token: testToken, Clock: clock.Now,
			Churn: Churn{Inserts: 0.5, Updates: 1, Removals: 0.5, Conversions: 0.3, Restores: 0.3},
		})
		keys := everything(t, p)
		before := map[string]string{}
		for key, r := range keys {
			before[key] = string(r.JSON)
		}
		paths := []string{"requests/order/1/50", "requests/budget/1/50", "requests/budget/1/50?removed=true", "equipments/1/50"}
		const rounds = 200
		for n := range rounds {
			clock.Add(step)
			if g := getBy(t, local(p), localURL+paths[n%len(paths)]); g.status != 200 {
				t.Fatal(g)
			}
		}
		counts, touched := map[EventKind]int{}, map[string]bool{}
		last := int64(0)
		for _, e := range p.Events() {
			if e.Request < last || e.Request < 1 || e.Request > rounds {
				t.Fatalf("%+v after request %d", e, last)
			}
			last = e.Request
			counts[e.Kind]++
			touched[e.Key] = true
		}
		applyEvents(t, keys, p.Events())
		after := everything(t, p)
		if len(after) != len(keys) {
			t.Errorf("%d records, by the account %d", len(after), len(keys))
		}
		for key, r := range after {
			if k := keys[key]; k.Removed != r.Removed || k.Resource != r.Resource {
				t.Errorf("%s: %s %v, by the account %s %v", key, r.Resource, r.Removed, k.Resource, k.Removed)
			}
			if !touched[key] && before[key] != string(r.JSON) {
				t.Errorf("%s changed, and the account does not say so", key)
			}
		}
		for _, kind := range []EventKind{EventInserted, EventUpdated, EventRemoved, EventRestored, EventConverted, EventDeleted} {
			if counts[kind] == 0 {
				t.Errorf("nothing was %s", kind)
			}
		}
		if step == 0 && (counts[EventInserted] < 70 || counts[EventInserted] > 135) {
			t.Errorf("%d inserts where 100 are expected", counts[EventInserted])
		}
	}
}

func TestChurnStampsTheClock(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	p := New(Options{Seed: 2, Requests: 60, Token: testToken, Clock: clock.Now, Churn: Churn{Updates: 3}})
	getBy(t, local(p), localURL+"requests/budget/1/1")
	events := p.Events()
	if len(events) == 0 {
		t.Fatal("no events")
	}
	today := clock.Now().In(platformZone()).Format(time.DateOnly)
	body := getBy(t, local(p), localURL+"requests/budget/1/50?lastUpdateAfter="+today).body
	removed := getBy(t, local(p), localURL+"requests/budget/1/50?removed=true&lastUpdateAfter="+today).body
	for _, e := range events {
		if e.Resource != ResourceBudgets || e.Kind != EventUpdated || !strings.Contains(body+removed, e.Key) {
			t.Errorf("%+v is not among today's updates", e)
		}
	}
}

func TestNoChurnNoAccount(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	p := New(Options{Requests: 60, Token: testToken, Clock: clock.Now})
	first := getBy(t, local(p), localURL+"requests/budget/1/50").body
	if second := getBy(t, local(p), localURL+"requests/budget/1/50").body; second != first {
		t.Error("the world moves by itself")
	}
	clock.Add(30 * oneDay)
	p.Settle()
	if p.Events() != nil {
		t.Error("an account without churn")
	}
}

// TestTransportSpeaksLikeASocket compares every fault within the process with what a socket brings.
func TestTransportSpeaksLikeASocket(t *testing.T) {
	t.Parallel()
	looks := faultLooks(t, newHandClock().Now())
	for _, kind := range AllFaults() {
		p := New(Options{Requests: 40, Equipments: catalogueOf(3), Token: testToken, Clock: newHandClock().Now, Faults: Faults{
			At: map[int64]Fault{2: kind}, Drip: time.Nanosecond, RedirectTo: "http://other.invalid",
		}})
		client := local(p)
		client.CheckRedirect = stay
		url := localURL + "requests/budget/1/5?removed=false"
		sound, spoiled := getBy(t, client, url), getBy(t, client, url)
		if sound.status != 200 || sound.header.Get("Content-Length") != fmt.Sprint(len(sound.body)) || !looks[kind](spoiled, sound.body) {
			t.Errorf("%s: %d %v %v %.100s", kind, spoiled.status, spoiled.header, spoiled.err, spoiled.body)
		}
	}

	p := New(Options{Equipments: catalogueOf(3), Clock: newHandClock().Now})
	post, err := local(p).Post(localURL+"company", "application/json", strings.NewReader("{}"))
	if err != nil || post.StatusCode != http.StatusUnauthorized {
		t.Errorf("%v %v", post, err)
	}
}

// BenchmarkScan is one reading of a list of some 170 budgets in 50s while the world churns, without sockets.
func BenchmarkScan(b *testing.B) {
	p := New(Options{Seed: 1, Requests: 300, Token: testToken, Clock: newHandClock().Now, Churn: Churn{Inserts: 0.2, Updates: 0.5, Removals: 0.2}})
	for b.Loop() {
		for page := range 4 {
			r, _ := http.NewRequest("GET", fmt.Sprintf("%srequests/budget/%d/50", localURL, page+1), nil)
			r.Header.Set("Authorization", "Bearer "+testToken)
			resp, err := p.Transport().RoundTrip(r)
			if err != nil || resp.StatusCode != 200 {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
		}
	}
}

// BenchmarkSmallWorld is what each seed of a simulation costs before it begins. Most of a world is its catalogue, so one
// that does not read it is better off with a small one.
func BenchmarkSmallWorld(b *testing.B) {
	for b.Loop() {
		New(Options{Seed: 1, Requests: 300, Equipments: catalogueOf(3), Clock: newHandClock().Now})
	}
}
